// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// maxConstructs bounds the constructs one message lists.
const maxConstructs = 6

// kustomizations makes one issue per file that has refused constructs: such a file is solvable only when all of them
// are (git-writer 3.2).
func kustomizations(in Input) []Issue {
	var out []Issue
	problems := in.Folder.Layout().Problems()
	for len(problems) > 0 {
		n := 1
		for n < len(problems) && problems[n].Path == problems[0].Path {
			n++
		}
		out = append(out, kustomization(in, problems[:n])...)
		problems = problems[n:]
	}
	return out
}

func kustomization(in Input, problems []layout.Problem) []Issue {
	path := problems[0].Path
	if f := in.Folder.File(path); f != nil && f.Pointer != "" {
		return nil // named as what it is already
	}
	rel := in.Folder.Rel(path)
	var out []Issue
	var rest []layout.Problem
	for _, p := range problems {
		if p.Ignored {
			out = append(out, New(IgnoreShadowsManaged, rel, p.Message).At(NoDocument, p.Line).WithCure(p.Cure))
		} else {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 {
		return out
	}
	issue := New(UnsupportedKustomize, rel, constructs(rest)).At(NoDocument, rest[0].Line)
	issue.Token = rest[0].Construct
	var cures []string
	curable := true
	for _, p := range rest {
		issue.Solvable = issue.Solvable && p.Solvable
		curable = curable && p.Cure != ""
		if p.Cure != "" && !slices.Contains(cures, p.Cure) && len(cures) < 3 {
			cures = append(cures, p.Cure)
		}
	}
	if !issue.Solvable {
		issue.Actor = Nobody
		if !curable { // curing the others would not help
			cures = []string{"give the GitTarget a path that this kustomization does not reach"}
		}
	}
	return append(out, issue.WithCure(strings.Join(cures, "; ")))
}

// constructs lists the names and lines, and says the first in words.
func constructs(problems []layout.Problem) string {
	var names []string
	for i, p := range problems {
		if i == maxConstructs {
			names = append(names, fmt.Sprintf("%d more", len(problems)-i))
			break
		}
		name := p.Construct
		if p.Line > 0 {
			name = fmt.Sprintf("%s (line %d)", name, p.Line)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ") + ": " + clip(problems[0].Message, 240)
}
