// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"fmt"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// Input is what the checks of a folder look at.
type Input struct {
	Folder *inventory.Folder
	// View reads identities. Its Kinds must be nil on a worker path: no refusal may depend on discovery.
	View inventory.View
	// Sensitive reports further sensitive types by group and kind; core Secrets always are. May be nil.
	Sensitive func(group, kind string) bool
	// SerializeNamespace and SourceNamespaces are the target's; "*" stands for all namespaces.
	SerializeNamespace *bool
	SourceNamespaces   []string
}

func (in Input) sensitive(group, kind string) bool {
	return group == "" && kind == "Secret" || in.Sensitive != nil && in.Sensitive(group, kind)
}

// check is one named question to a folder.
type check struct {
	name string
	run  func(in Input) []Issue
}

// checks is the whole gate for a folder (git-writer 3.2), in the order a person would look.
var checks = []check{
	{"the ignore rules leave something to see", ignoreRules},
	{"nothing foreign lies in the folder", foreignEntries},
	{"no pointer stands in place of a manifest", pointers},
	{"artefacts hold no objects", artefacts},
	{"every manifest is one through and through", manifests},
	{"no object has two documents", duplicates},
	{"every kustomization is supported", kustomizations},
	{"one namespace when none is written", sourceNamespaces},
}

// Check returns everything that stands against writing into the folder, sorted by path, document and kind.
func Check(in Input) []Issue {
	var out []Issue
	for _, c := range checks {
		out = append(out, c.run(in)...)
	}
	Sort(out)
	return out
}

func ignoreRules(in Input) []Issue {
	var out []Issue
	for _, c := range in.Folder.Ignore().Catastrophic() {
		out = append(out, New(IgnoreShadowsManaged, inventory.IgnoreFileName,
			fmt.Sprintf("the pattern %s hides every manifest", show(c.Pattern))).
			At(NoDocument, c.Line).WithCure("narrow the pattern"))
	}
	return out
}

func foreignEntries(in Input) []Issue {
	var out []Issue
	values := map[string]bool(nil)
	for f := range in.Folder.Irregular() {
		rel := in.Folder.Rel(f.Path)
		var issue Issue
		switch f.Role {
		case inventory.Foreign:
			if values == nil {
				values = in.Folder.ValueFiles()
			}
			if values[f.Path] || in.Folder.Layout().NamesPatch(f.Path) {
				continue
			}
			issue = New(ForeignFile, rel, "it is neither a manifest nor a file that belongs beside manifests")
			if rel == "." {
				issue.Message = "the path names a file"
			}
		case inventory.ForeignSymlink:
			issue = New(ForeignSymlink, rel, "symlinks are never followed")
		case inventory.ForeignSubmodule:
			issue = New(ForeignSubmodule, rel, "submodules are never entered")
		default:
			continue
		}
		issue.Ignore = ignoreLine(in.Folder, f.Path)
		issue.Cure = foreignCure(f, issue)
		out = append(out, issue)
	}
	return out
}

func foreignCure(f *inventory.File, i Issue) string {
	switch {
	case i.Path == ".":
		return "give the GitTarget the path of a folder"
	case i.Ignore == "":
		return "give the GitTarget a path without it"
	case base(f.Path) == "Kustomization":
		return "rename it to kustomization.yaml"
	case base(f.Path) == inventory.IgnoreFileName:
		return "move its rules to the " + inventory.IgnoreFileName + " of the folder"
	}
	return fmt.Sprintf("move it away, or add this line to %s: %s", inventory.IgnoreFileName, i.Ignore)
}

func pointers(in Input) []Issue {
	var out []Issue
	for f := range in.Folder.Irregular() {
		if f.Pointer == "" {
			continue
		}
		i := New(InvalidYAML, in.Folder.Rel(f.Path),
			fmt.Sprintf("it is a %s pointer; the manifest itself is not in the commit", f.Pointer))
		i.Ignore = ignoreLine(in.Folder, f.Path)
		out = append(out, i.WithCure(fmt.Sprintf("store the manifest without %s", f.Pointer)))
	}
	return out
}

func artefacts(in Input) []Issue {
	var out []Issue
	for f := range in.Folder.Irregular() {
		if f.Role != inventory.Kustomization && f.Role != inventory.SOPSConfig {
			continue
		}
		for i := range f.Documents {
			d := &f.Documents[i]
			if d.Content != inventory.Managed || f.Role == inventory.Kustomization && d.Raw.Group == "kustomize.config.k8s.io" {
				continue
			}
			out = append(out, New(MixedManagedAllowlisted, in.Folder.Rel(f.Path),
				fmt.Sprintf("it holds the object %s, but its name says that it holds settings", d.Raw)).
				At(int(d.Index), int(d.Line)).WithCure("move the object into a file of its own"))
		}
	}
	return out
}

// manifests checks the documents of irregular files.
func manifests(in Input) []Issue {
	var out []Issue
	var values map[string]bool
	for f := range in.Folder.Irregular() {
		if f.Role != inventory.Manifest || f.Pointer != "" || in.Folder.Layout().NamesPatch(f.Path) {
			continue
		}
		if values == nil {
			values = in.Folder.ValueFiles()
		}
		if !values[f.Path] {
			out = append(out, documents(in, f)...)
		}
	}
	return out
}

func documents(in Input, f *inventory.File) []Issue {
	managed := slices.ContainsFunc(f.Documents, func(d inventory.Document) bool { return d.Content == inventory.Managed })
	rel := in.Folder.Rel(f.Path)
	var out []Issue
	for i := range f.Documents {
		d := &f.Documents[i]
		var kind Kind
		var message, cure string
		switch {
		case managed && d.Content == inventory.Empty:
			kind, message = ImpureManagedFile, "beside its objects it holds an empty document"
			cure = "remove the extra `---`"
		case managed && d.Content == inventory.NotKRM:
			kind, message = ImpureManagedFile, "beside its objects it holds a document that is none: "+d.Note
			cure = "move that document into a file of its own"
		case managed && d.Content == inventory.Invalid:
			kind, message = ImpureManagedFile, "beside its objects it holds a document that cannot be parsed: "+d.Note
			cure = "correct the syntax"
		case d.Content == inventory.NotKRM:
			kind, message = NonKRMYAML, "it is no manifest: "+d.Note
		case d.Content == inventory.Invalid:
			kind, message, cure = InvalidYAML, "it cannot be parsed: "+d.Note, "correct the syntax"
		case f.MissesSOPS(d) && !in.sensitive(d.Raw.Group, d.Raw.Kind):
			kind, message = InvalidYAML, "its name promises ciphertext, but it has no sops key"
			cure = "encrypt it, or give it a name without .sops"
		default:
			continue
		}
		issue := New(kind, rel, message).At(int(d.Index), int(d.Line))
		if !managed {
			issue.Ignore = ignoreLine(in.Folder, f.Path)
			if cure == "" {
				cure = "move it away"
			}
			cure += fmt.Sprintf(", or add this line to %s: %s", inventory.IgnoreFileName, issue.Ignore)
		}
		out = append(out, issue.WithCure(cure))
	}
	return out
}

func duplicates(in Input) []Issue {
	var out []Issue
	for id, docs := range in.Folder.Duplicates(in.View) {
		for _, d := range docs[1:] {
			first := New(DuplicateIdentity, in.Folder.Rel(docs[0].Path), "").At(int(docs[0].Index), int(docs[0].Line))
			out = append(out, New(DuplicateIdentity, in.Folder.Rel(d.Path),
				fmt.Sprintf("%s is in %s already", id, first.Place())).
				At(int(d.Index), int(d.Line)).WithCure("remove one of the documents, or give the GitTarget a path that holds only one of them"))
		}
	}
	return out
}

func sourceNamespaces(in Input) []Issue {
	if in.SerializeNamespace == nil || *in.SerializeNamespace {
		return nil
	}
	if len(in.SourceNamespaces) < 2 && !slices.Contains(in.SourceNamespaces, "*") {
		return nil
	}
	return []Issue{New(MultipleSourceNamespaces, ".",
		"serializeNamespace is false, but objects of more than one namespace reach the folder").
		WithCure("let the rules select one namespace, or set serializeNamespace to true")}
}
