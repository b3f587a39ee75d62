// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ModuleRoot returns the folder that holds the module's go.mod, seen from the working directory.
func ModuleRoot() (string, error) {
	d, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, nil
		}
		up := filepath.Dir(d)
		if up == d {
			return "", errors.New("no go.mod above the working directory")
		}
		d = up
	}
}

// Tool returns the path of a built part such as "kube-apiserver". TOOLS_DIR names the folder; unset, the Makefile is
// asked.
func Tool(name string) (string, error) {
	dir := os.Getenv("TOOLS_DIR")
	if dir == "" {
		root, err := ModuleRoot()
		if err != nil {
			return "", err
		}
		var out, errOut bytes.Buffer
		cmd := exec.Command("make", "-s", "--no-print-directory", "-C", root, "tools-dir")
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("make tools-dir: %w: %s", err, errOut.String())
		}
		dir = strings.TrimSpace(out.String())
	}
	p := filepath.Join(dir, name)
	if _, err := os.Stat(p); err != nil {
		return "", fmt.Errorf("%s is not built, run `make tools` (or `make tools-appliers`): %w", name, err)
	}
	return p, nil
}

// Manager returns the operator's binary: GITOPS_REVERSER names it, else bin/gitops-reverser of the module.
func Manager() (string, error) {
	if p := os.Getenv("GITOPS_REVERSER"); p != "" {
		return p, nil
	}
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	p := filepath.Join(root, "bin", "gitops-reverser")
	if _, err := os.Stat(p); err != nil {
		return "", fmt.Errorf("the operator is not built, run `make manager`: %w", err)
	}
	return p, nil
}
