// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Code is a diagnostic's reason (git-writer 2.5).
type Code string

// The codes.
const (
	InvalidYAML        Code = "invalid-yaml"
	EmptyDocument      Code = "empty-document"
	NotKRMCode         Code = "not-krm"
	NonEditable        Code = "non-editable"
	MissingSOPSKey     Code = "missing-sops-key"
	DuplicateIdentity  Code = "duplicate-identity"
	UnresolvedMapping  Code = "unresolved-mapping"
	ScopeMismatch      Code = "scope-mismatch"
	AmbiguousNamespace Code = "ambiguous-namespace"
	// AmbiguousOverrides and BuildFailed are reported by a build, never by a scan.
	AmbiguousOverrides Code = "ambiguous-kustomize-overrides"
	BuildFailed        Code = "kustomize-build-failed"
)

// Diagnostic is one remark about a document. It refuses nothing.
type Diagnostic struct {
	Code Code
	// Path is relative to the repository root, Line 1-based.
	Path     string
	Document int
	Line     int
	Message  string
}

// Diagnose returns the diagnostics of the folder, sorted by path, document and code. It walks all documents.
func (f *Folder) Diagnose(v View) []Diagnostic {
	var out []Diagnostic
	add := func(c Code, d *Document, line int, format string, args ...any) {
		out = append(out, Diagnostic{Code: c, Path: d.Path, Document: int(d.Index), Line: line,
			Message: fmt.Sprintf(format, args...)})
	}
	values := f.ValueFiles()
	for file := range f.Files() {
		if file.Role != Manifest {
			continue
		}
		for i := range file.Documents {
			d := &file.Documents[i]
			switch d.Content {
			case Invalid:
				add(InvalidYAML, d, int(d.Line), "%s", d.Note)
			case Empty:
				add(EmptyDocument, d, int(d.Line), "the document is empty")
			case NotKRM:
				if !values[file.Path] {
					add(NotKRMCode, d, int(d.Line), "%s", d.Note)
				}
			}
			if file.MissesSOPS(d) {
				add(MissingSOPSKey, d, int(d.Line), "the file name promises ciphertext, but the document has no sops key")
			}
			if d.Content == Managed {
				diagnose(f, d, v, add)
			}
		}
	}
	for id, docs := range f.Duplicates(v) {
		for _, d := range docs[1:] {
			add(DuplicateIdentity, d, int(d.Line), "%s is held by %s already", id, docs[0].Path)
		}
	}
	sortDiagnostics(out)
	return out
}

func diagnose(f *Folder, d *Document, v View, add func(c Code, d *Document, line int, format string, args ...any)) {
	if len(d.Hazards) > 0 {
		var kinds []string
		for _, h := range d.Hazards {
			if k := fmt.Sprintf("%s at line %d", h.Kind, h.Line); len(kinds) < 3 {
				kinds = append(kinds, k)
			}
		}
		add(NonEditable, d, d.Hazards[0].Line, "some edits are impossible: %s", strings.Join(kinds, ", "))
	}
	e := f.Effective(d, v)
	switch {
	case e.Patch:
		return
	case e.Unresolved:
		add(UnresolvedMapping, d, int(d.Line), "the source cluster serves no %s of %s", d.Raw.Kind, d.APIVersion)
	case e.ScopeMismatch:
		add(ScopeMismatch, d, int(d.Line), "%s is cluster-scoped; metadata.namespace is not part of its identity", d.Raw.Kind)
	}
	if e.Renamed {
		add(AmbiguousNamespace, d, int(d.Line), "the namespace: field of its kustomization renames it to %s", e.ID.Name)
		return
	}
	if len(e.Others) > 0 {
		var names []string
		for _, n := range append([]change.ObjectID{e.ID}, e.Others...) {
			names = append(names, cmp.Or(n.Namespace, "none"))
		}
		add(AmbiguousNamespace, d, int(d.Line), "builds give it different namespaces: %s", strings.Join(names, ", "))
	}
}

// MissesSOPS reports a document in a *.sops.yaml file that is not encrypted (git-writer 2.6).
func (f *File) MissesSOPS(d *Document) bool {
	return f.Role == Manifest && f.sopsNamed() && !d.Encrypted && (d.Content == Managed || d.Content == NotKRM)
}
