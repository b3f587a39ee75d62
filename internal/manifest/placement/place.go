// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// Object is a new object. Labels are the sanitized ones.
type Object struct {
	ID        change.ObjectID
	Type      change.Type
	Labels    map[string]string
	Sensitive bool
}

// Source is the rung that decided; the texts are the values of the metric label source.
type Source string

// The rungs (git-writer 5.2).
const (
	ByType        Source = "by_type"
	Default       Source = "default"
	KustomizeRoot Source = "kustomize_root"
	Canonical     Source = "canonical"
)

// Disposition says whether the document starts a file.
type Disposition string

// The dispositions.
const (
	NewFile  Disposition = "new_file"
	Appended Disposition = "appended"
)

// Reason is why an object was not placed (git-writer 5.6).
type Reason string

// The reasons.
const (
	InvalidPath             Reason = "invalid_path"
	SensitiveAppend         Reason = "sensitive_append"
	PlaintextOntoEncrypted  Reason = "plaintext_onto_encrypted"
	MixedSensitivityNewFile Reason = "mixed_sensitivity_new_file"
	MultiDocumentTarget     Reason = "multi_document_target"
	Unclassified            Reason = "unclassified"
)

// Refusal refuses one object; the rest of the batch goes on.
type Refusal struct {
	Reason  Reason
	Message string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Placed is where one object goes.
type Placed struct {
	Object Object
	// Path is the file from the repository root; also set on a refusal when a path was found.
	Path        string
	Source      Source
	Disposition Disposition
	// OmitNamespace reports that metadata.namespace is not written (git-writer 4.8 and 5.8).
	OmitNamespace bool
	// Kustomization is the file that must list Path, from the repository root, and Entry the text to list; both empty
	// when nothing governs the path or the file is part of a build already. It may name the root that Batch.Root creates.
	Kustomization, Entry string
	// Refusal is nil for a placed object.
	Refusal *Refusal
}

// NewRoot is a kustomization to create at spec.path (git-writer 5.8): apiVersion, kind and resources, no namespace.
type NewRoot struct {
	Path string
	// Resources lists every managed file of the folder and the new ones, sorted, relative to the folder.
	Resources []string
}

// Batch is what Place decided.
type Batch struct {
	// Objects are the placements, sorted by path, then identity: the order documents are written into a shared file.
	Objects []Placed
	// Root is set when useKustomize creates the folder's kustomization.
	Root *NewRoot
}

// Input is what Place looks at.
type Input struct {
	// Folder is the inventory before the batch.
	Folder *inventory.Folder
	Policy Policy
	// SerializeNamespace is the target's (git-writer 4.8); nil infers.
	SerializeNamespace *bool
	// Objects are the new objects: those without a document in the folder.
	Objects []Object
}

// Place decides where new objects go. It never fails: what cannot be placed is a Refusal. Refusals of the whole flush
// (several roots, an unrendered place) are acceptance.CheckWrites.
func Place(in Input) Batch {
	p := &placer{Input: in, layout: in.Folder.Layout(), templates: map[string]*Template{}}
	p.taken = newTaken(in.Folder, len(in.Objects))
	p.create = in.Policy.UseKustomize && len(p.layout.Roots()) == 0 && !p.anyKustomization() &&
		in.Folder.File(p.rootPath()) == nil && !in.Folder.IsDir(p.rootPath())
	placed := make([]Placed, 0, len(in.Objects))
	for _, o := range in.Objects {
		placed = append(placed, p.resolve(o))
	}
	slices.SortFunc(placed, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), a.Object.ID.Compare(b.Object.ID))
	})
	p.share(placed)
	for i := range placed {
		if placed[i].Refusal == nil {
			p.register(&placed[i])
		}
	}
	return Batch{Objects: placed, Root: p.root(placed)}
}

// placer is the state of one Place.
type placer struct {
	Input
	layout    *layout.Layout
	templates map[string]*Template
	taken     *taken
	// create reports that useKustomize makes a root.
	create bool
}

func (p *placer) rootPath() string { return path.Join(p.Folder.Path(), "kustomization.yaml") }

func (p *placer) anyKustomization() bool {
	return slices.ContainsFunc(p.layout.All(), func(k *layout.Kustomization) bool { return p.Folder.File(k.Path) != nil })
}

// resolve climbs the ladder for one object and checks the path it gives.
func (p *placer) resolve(o Object) Placed {
	out := Placed{Object: o, Disposition: NewFile}
	dir, t := p.Folder.Path(), canonical
	switch text, ok := p.Policy.ByType[TypeKey(o.Type)]; {
	case ok:
		out.Source = ByType
		t, out.Refusal = p.template(text)
	case p.Policy.Default != "":
		out.Source = Default
		t, out.Refusal = p.template(p.Policy.Default)
	case len(p.layout.Roots()) == 1:
		out.Source, dir, t = KustomizeRoot, p.layout.Roots()[0].Dir, beside
	case p.create:
		out.Source, t = KustomizeRoot, beside
	default:
		out.Source = Canonical
	}
	if out.Refusal != nil {
		return out
	}
	rel, err := t.Render(o)
	if err != nil {
		var r *Refusal
		errors.As(err, &r)
		out.Refusal = r
		return out
	}
	out.Path = path.Join(dir, rel)
	out.Disposition, out.Refusal = p.check(o, out.Path)
	return out
}

func (p *placer) template(text string) (*Template, *Refusal) {
	if t := p.templates[text]; t != nil {
		return t, nil
	}
	t, err := Parse(text)
	if err != nil {
		return nil, refuse(InvalidPath, "the template cannot be used: %v", err)
	}
	p.templates[text] = t
	return t, nil
}

// check looks at what is at a path already (git-writer 5.5 to 5.7).
func (p *placer) check(o Object, name string) (Disposition, *Refusal) {
	f := p.Folder.File(name)
	if role, visible := p.Folder.RoleOf(name); visible && role != inventory.Manifest {
		return NewFile, refuse(InvalidPath, "%s is no place for a manifest; change spec.placement", name)
	}
	if other := p.taken.conflict(name); other != "" {
		return NewFile, refuse(InvalidPath, "%s cannot exist beside %s on every file system; change spec.placement or rename that file", name, other)
	}
	switch {
	case f == nil:
		return NewFile, nil
	case f.Role != inventory.Manifest:
		return NewFile, refuse(Unclassified, "%s is no manifest; move it away or change spec.placement", name)
	case o.Sensitive:
		return NewFile, refuse(SensitiveAppend, "%s exists, and an encrypted object never shares a file; give it a path of its own in spec.placement", name)
	case p.layout.NamesPatch(name) || p.Folder.ValueFiles()[name] || f.Pointer != "":
		return NewFile, refuse(MultiDocumentTarget, "%s is not a file of objects only; change spec.placement", name)
	}
	for i := range f.Documents {
		switch d := &f.Documents[i]; {
		case d.Encrypted:
			return NewFile, refuse(PlaintextOntoEncrypted, "%s holds an encrypted object; change spec.placement", name)
		case d.Content == inventory.Invalid || d.Content == inventory.NotKRM:
			return NewFile, refuse(MultiDocumentTarget, "%s holds a document that is no object; move that document away or change spec.placement", name)
		}
	}
	return Appended, nil
}

// share settles objects of the batch that resolve to one path, or to paths that cannot exist side by side. placed is
// sorted, so the outcome does not depend on the order of arrival.
func (p *placer) share(placed []Placed) {
	used := map[string]string{} // folded path to path
	for from := 0; from < len(placed); {
		to := from + 1
		for to < len(placed) && placed[to].Path == placed[from].Path {
			to++
		}
		part := placed[from:to]
		from = to
		if part[0].Path == "" {
			continue
		}
		name := part[0].Path
		if p.Folder.File(name) != nil {
			continue // each was checked against the file
		}
		if r := sharing(part); r != nil {
			refuseAll(part, r)
		}
		if !slices.ContainsFunc(part, func(o Placed) bool { return o.Refusal == nil }) {
			continue
		}
		if other, ok := clash(used, name); ok {
			refuseAll(part, refuse(InvalidPath, "%s cannot exist beside %s, which the same batch writes; change spec.placement", name, other))
			continue
		}
		used[fold(name)] = name
	}
}

// sharing checks the objects of one path against each other.
func sharing(part []Placed) *Refusal {
	sensitive := 0
	for i := range part {
		if part[i].Object.Sensitive {
			sensitive++
		}
	}
	switch {
	case len(part) == 1 || sensitive == 0:
		return nil
	case sensitive < len(part):
		return refuse(MixedSensitivityNewFile, "%s would hold encrypted and plain objects; give the encrypted ones a path of their own in spec.placement", part[0].Path)
	}
	return refuse(SensitiveAppend, "%s would hold more than one encrypted object; give each a path of its own in spec.placement", part[0].Path)
}

func refuseAll(part []Placed, r *Refusal) {
	for i := range part {
		if part[i].Refusal == nil {
			part[i].Refusal = r
		}
	}
}

// register finds the kustomization that must list a new file and who writes the namespace (git-writer 5.8).
func (p *placer) register(o *Placed) {
	k := p.layout.Governing(o.Path)
	for k != nil && !k.Writable {
		if k.Dir == "" {
			k = nil
			break
		}
		k = p.layout.Governing(k.Dir)
	}
	given := p.layout.Namespaces(o.Path)
	if len(given) == 0 && k != nil {
		given = p.layout.BuildNamespaces(k)
	}
	o.OmitNamespace = p.omits(o.Object, given)
	switch {
	case len(p.layout.Reaches(o.Path)) > 0:
	case k != nil && Holds(p.Folder.File(o.Path)):
		o.Refusal = refuse(MultiDocumentTarget, "%s holds objects that no build reads, and would be listed with them; list the file, or change spec.placement", o.Path)
	case k != nil:
		o.Kustomization, o.Entry = k.Path, entry(strings.TrimPrefix(strings.TrimPrefix(o.Path, k.Dir), "/"))
	case p.create:
		o.Kustomization, o.Entry = p.rootPath(), entry(p.Folder.Rel(o.Path))
	}
}

// Holds reports whether a file holds objects.
func Holds(f *inventory.File) bool {
	return f != nil && slices.ContainsFunc(f.Documents, func(d inventory.Document) bool { return d.Content == inventory.Managed })
}

// entry returns the text that lists a file; a path that reads like a remote one is made plain.
func entry(rel string) string {
	if layout.Remote(rel) {
		return "./" + rel
	}
	return rel
}

// omits reports whether the namespace is left out of a new document.
func (p *placer) omits(o Object, given []string) bool {
	ns := o.namespace()
	switch {
	case ns == "":
		return false
	case p.SerializeNamespace != nil:
		return !*p.SerializeNamespace
	}
	return len(given) == 1 && given[0] == ns
}

// root returns the kustomization to create, once something is placed.
func (p *placer) root(placed []Placed) *NewRoot {
	if !p.create {
		return nil
	}
	r := &NewRoot{Path: p.rootPath()}
	for i := range placed {
		if placed[i].Refusal == nil && placed[i].Disposition == NewFile {
			r.Resources = append(r.Resources, entry(p.Folder.Rel(placed[i].Path)))
		}
	}
	if !slices.ContainsFunc(placed, func(o Placed) bool { return o.Refusal == nil }) {
		return nil
	}
	for d := range p.Folder.Documents() {
		r.Resources = append(r.Resources, entry(p.Folder.Rel(d.Path)))
	}
	slices.Sort(r.Resources)
	r.Resources = slices.Compact(r.Resources)
	return r
}
