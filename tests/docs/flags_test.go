// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/tests/harness"
)

var (
	// usageLine is one flag of pflag's usage text: "      --name type   text (default value)".
	usageLine    = regexp.MustCompile(`^\s+(?:-\w, )?--([a-z0-9-]+)(?: (\S+))?\s{2,}(.*)$`)
	usageDefault = regexp.MustCompile(`\(default (.*)\)$`)
)

// flagsOf reads names and defaults from a usage text. A Boolean without a default is false, anything else is empty.
func flagsOf(usage string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(usage, "\n") {
		f := usageLine.FindStringSubmatch(line)
		if f == nil {
			continue
		}
		value := ""
		if f[2] == "" {
			value = "false"
		}
		if d := usageDefault.FindStringSubmatch(f[3]); d != nil {
			value = strings.Trim(d[1], `"`)
		}
		out[f[1]] = value
	}
	return out
}

// TestFlagsMatchTheBinary compares the flag tables of docs/README.md with what the operator prints, both ways.
func TestFlagsMatchTheBinary(t *testing.T) {
	g := NewWithT(t)
	binary, err := harness.Manager()
	g.Expect(err).NotTo(HaveOccurred())
	var usage bytes.Buffer
	cmd := exec.Command(binary, "--help")
	cmd.Stdout, cmd.Stderr = &usage, &usage
	// pflag ends with code 0 or 2 after the usage, depending on its version; the text is what counts.
	_ = cmd.Run()
	want := flagsOf(usage.String())
	g.Expect(len(want)).To(BeNumerically(">", 30), usage.String())

	got := map[string]string{}
	for _, row := range tables(t, "docs/README.md") {
		name, ok := strings.CutPrefix(plain(row.cells[0]), "--")
		if !ok {
			continue
		}
		g.Expect(got).NotTo(HaveKey(name), "documented twice")
		g.Expect(row.cells).To(HaveLen(3), "%s: a flag has a name, a default and a meaning", name)
		g.Expect(row.cells[2]).NotTo(BeEmpty(), "%s has no meaning", name)
		got[name] = plain(row.cells[1])
	}
	g.Expect(got).To(Equal(want))
}

func TestFlagsOf(t *testing.T) {
	NewWithT(t).Expect(flagsOf(`Usage of x:
      --on                     Turn it on.
      --addr string            Where. (default ":8080")
  -n, --names strings          Which (of several).
      --every duration         How often; 0 is never. (default 10m0s)
`)).To(Equal(map[string]string{"on": "false", "addr": ":8080", "names": "", "every": "10m0s"}))
}
