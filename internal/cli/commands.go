// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

// commands are the sub-commands; each has a file of its name.
func commands(s streams) []*cobra.Command {
	return []*cobra.Command{scanCommand(s), planCommand(s), neatCommand(s)}
}
