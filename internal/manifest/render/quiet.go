// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// longestError bounds what is said about a build that failed, in bytes.
const longestError = 600

// shortestSecret is the length from which a value of a Secret is looked for.
const shortestSecret = 4

// dumps are the places where the library prints parts of files into its errors.
var dumps = regexp.MustCompile(`(?s)(: node contents:|in object \{|patch(es)? from \[|\n).*`)

// quiet is an error of the library without content of files: its errors become conditions and log lines, and a file may
// hold a Secret in clear. The first line is kept up to where content begins, and no value of a Secret is left in it.
func quiet(err error, files map[string][]byte) error {
	if err == nil {
		return nil
	}
	text := strings.TrimSpace(dumps.ReplaceAllString(strings.TrimSpace(err.Error()), ""))
	for _, v := range secretValues(files) {
		text = strings.ReplaceAll(text, v, "(not shown)")
	}
	if len(text) > longestError {
		text = strings.ToValidUTF8(text[:longestError], "") + " ..."
	}
	return errors.New(text)
}

// secretValues are the texts that Secrets in clear hold, the longest first.
func secretValues(files map[string][]byte) []string {
	var out []string
	add := func(text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= shortestSecret {
				out = append(out, line)
			}
		}
	}
	var walk func(n *yamldoc.Node)
	walk = func(n *yamldoc.Node) {
		if n.Kind == yamldoc.Scalar {
			add(n.Value)
		}
		for _, p := range n.Pairs {
			walk(p.Value)
		}
		for _, e := range n.Items {
			walk(e)
		}
	}
	for _, b := range files {
		f := yamldoc.Split(b)
		for i := range f.Docs {
			n, err := yamldoc.Parse(f.Body(b, i))
			if err != nil || n == nil || yamldoc.ReadHead(n).Kind != "Secret" {
				continue
			}
			for _, p := range n.Pairs {
				switch p.Key.Value {
				case "apiVersion", "kind":
				case "metadata":
					for _, m := range p.Value.Pairs {
						if m.Key.Value != "name" && m.Key.Value != "namespace" {
							walk(m.Value)
						}
					}
				default:
					walk(p.Value)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}
