// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// patchFacts is what stands against a patch file, independent of where it lies.
type patchFacts struct {
	construct, message, cure string
	line                     int
	solvable                 bool
}

// patch resolves one patches entry. Only a file with sparse manifests is supported (git-writer 6.1).
func (r *resolver) patch(k *Kustomization, ref *Ref) error {
	e, err := r.locate(k, ref)
	if err != nil || ref.Kind > RefDir {
		return err
	}
	switch {
	case ref.Kind == RefDir:
		ref.Kind = RefMissing
		r.problem(Problem{Path: k.Path, Line: ref.Line, Construct: "missing file", Solvable: true,
			Message: fmt.Sprintf("the patch %s is a directory", ref.Value), Cure: "name a file"})
		return nil
	case r.src.Ignored(ref.Target):
		r.problem(Problem{Path: k.Path, Line: ref.Line, Construct: "ignored patch", Ignored: true, Solvable: true,
			Message: fmt.Sprintf("%s is part of the build, but .gittargetignore hides it", ref.Value),
			Cure:    "remove the entry, or the ignore rule that matches it"})
		return nil
	}
	r.out.patches[ref.Target] = true
	facts, ok := r.out.patchOf[e.ID]
	if !ok {
		facts, ok = r.prev.patchOf[e.ID]
	}
	if !ok {
		b, err := r.src.Blob(e.ID)
		if err != nil {
			return fmt.Errorf("%s: %w", ref.Target, err)
		}
		facts = inspectPatch(b)
	}
	r.out.patchOf[e.ID] = facts
	if facts.construct != "" {
		r.problem(Problem{Path: ref.Target, Line: facts.line, Construct: facts.construct, Message: facts.message,
			Cure: facts.cure, Solvable: facts.solvable})
	}
	return nil
}

func inspectPatch(src []byte) patchFacts {
	if err := yamldoc.CheckAliases(src); err != nil {
		return aliasFacts(err.Error())
	}
	cut := yamldoc.Split(src)
	for i := range cut.Docs {
		if cut.Docs[i].Empty {
			continue
		}
		line := lineOf(src, cut.Docs[i].Start)
		n, err := yamldoc.Parse(cut.Body(src, i))
		if err != nil {
			return patchFacts{construct: "invalid YAML", message: "the patch cannot be parsed: " + err.Error(),
				cure: "correct the syntax", line: line, solvable: true}
		}
		h := yamldoc.ReadHead(n)
		switch {
		case n.Resolve().Kind == yamldoc.Seq:
			return patchFacts{construct: "JSON 6902 patch", message: "a JSON 6902 patch cannot be edited", line: line,
				cure: "write it as a strategic-merge patch"}
		case h.APIVersion == "" || h.Kind == "" || h.Name == "":
			return patchFacts{construct: "patch without identity",
				message: "the patch names no apiVersion, kind or metadata.name",
				cure:    "write the patch as a sparse manifest", line: line, solvable: true}
		}
	}
	return patchFacts{}
}

func aliasFacts(why string) patchFacts {
	return patchFacts{construct: "aliases", message: "its aliases cannot be expanded safely: " + why,
		cure:     "write the values out",
		solvable: true}
}

// checkAliases refuses a resource file whose aliases must not reach kustomize (decision 94).
func (r *resolver) checkAliases(file string, id manifest.ID) error {
	why, known := r.src.Aliases(file, id)
	if !known {
		if why, known = r.prev.aliases[id]; !known {
			b, err := r.src.Blob(id)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if err := yamldoc.CheckAliases(b); err != nil {
				why = err.Error()
			}
		}
		r.out.aliases[id] = why
	}
	if why != "" {
		f := aliasFacts(why)
		r.problem(Problem{Path: file, Construct: f.construct, Message: f.message, Cure: f.cure, Solvable: true})
	}
	return nil
}

func lineOf(src []byte, offset int) int {
	n := 1
	for _, c := range src[:offset] {
		if c == '\n' {
			n++
		}
	}
	return n
}
