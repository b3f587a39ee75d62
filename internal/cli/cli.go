// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	ExitDone    = 0
	ExitRefused = 1
	ExitMisuse  = 2
)

// pluginName is the name of the binary as a Flux CLI plugin.
const pluginName = "flux-reverser"

// exitError ends a command with a code; its text was printed already when it is empty.
type exitError struct {
	code int
	text string
}

// Error implements error.
func (e *exitError) Error() string { return e.text }

// streams are where a command reads and prints.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// IsCommand reports whether the arguments (the program's name first) call a sub-command and not the controller.
func IsCommand(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if strings.TrimSuffix(filepath.Base(args[0]), ".exe") == pluginName {
		return true
	}
	if len(args) < 2 || strings.HasPrefix(args[1], "-") {
		return false
	}
	if args[1] == "help" || args[1] == "completion" || strings.HasPrefix(args[1], "__complete") {
		return true
	}
	for _, c := range root(streams{}).Commands() {
		if c.Name() == args[1] {
			return true
		}
	}
	return false
}

// Main runs a sub-command and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := root(streams{in: stdin, out: stdout, err: stderr})
	cmd.SetArgs(args[1:])
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	var exit *exitError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		if exit.text != "" {
			fmt.Fprintln(stderr, exit.text)
		}
		return exit.code
	}
	fmt.Fprintln(stderr, err)
	return ExitMisuse
}

// oneDir asks for the folder a command reads.
func oneDir(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one DIR, a checked-out repository (. for the current folder), and got %d; see %s --help",
			cmd.Name(), len(args), cmd.CommandPath())
	}
	return nil
}

func root(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:           "gitops-reverser",
		Short:         "Write live Kubernetes objects into the Git folders people own",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(commands(s)...)
	return cmd
}
