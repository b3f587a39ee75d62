// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Source is what Resolve reads through. Paths are relative to the repository root.
type Source interface {
	// Entry returns what is at a path, without following symlinks; manifest.ErrNotFound (wrapped) when nothing is.
	Entry(path string) (manifest.DirEntry, error)
	// Ignored reports that .gittargetignore hides the path.
	Ignored(path string) bool
	// Blob returns a file's bytes.
	Blob(id manifest.ID) ([]byte, error)
	// Aliases returns what makes a file's aliases unsafe to expand (decision 94), and true, when that is known already.
	Aliases(path string, id manifest.ID) (string, bool)
}

// fileNames are the names kustomize looks for, in its order.
var fileNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// Resolve builds the layout of the folder jail from the kustomization files found in it. prev may be nil; what it
// parsed is not parsed again. The error is I/O or cancellation; everything else is a Problem.
func Resolve(ctx context.Context, src Source, jail string, files []string, prev *Layout) (*Layout, error) {
	if prev == nil {
		prev = &Layout{}
	}
	r := &resolver{ctx: ctx, src: src, prev: prev, out: &Layout{
		jail:    clean(jail),
		byDir:   map[string]*Kustomization{},
		patches: map[string]bool{},
		parsed:  map[manifest.ID]*parsed{},
		aliases: map[manifest.ID]string{},
		patchOf: map[manifest.ID]patchFacts{},
	}}
	for _, f := range files {
		if err := r.load(clean(f)); err != nil {
			return nil, err
		}
	}
	for len(r.queue) > 0 {
		k := r.queue[0]
		r.queue = r.queue[1:]
		if err := r.references(k); err != nil {
			return nil, fmt.Errorf("%s: %w", k.Path, err)
		}
	}
	r.graph()
	return r.out, nil
}

// resolver is the state of one Resolve.
type resolver struct {
	ctx       context.Context //nolint:containedctx // lives as long as one call of Resolve
	src       Source
	out, prev *Layout
	queue     []*Kustomization
}

func (r *resolver) problem(p Problem) { r.out.problems = append(r.out.problems, p) }

// load parses a kustomization file and queues it.
func (r *resolver) load(file string) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	dir := dirOf(file)
	if other := r.out.byDir[dir]; other != nil {
		if other.Path != file {
			r.problem(Problem{
				Path: file, Construct: "several kustomization files", Solvable: true,
				Message: fmt.Sprintf("the directory also holds %s, which kustomize refuses", path.Base(other.Path)),
				Cure:    "keep one of them",
			})
		}
		return nil
	}
	e, err := r.entry(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p, err := r.parse(e.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	inside := within(r.out.jail, file)
	if p.foreign {
		if !inside {
			r.problem(Problem{Path: file, Line: 1, Construct: "no kustomization", Solvable: true,
				Message: "the file holds another kind of object", Cure: "give the object another file name"})
		}
		return nil
	}
	k := p.Kustomization
	k.Path, k.Dir, k.ID = file, dir, e.ID
	k.Writable = inside && k.Kind == kindRoot
	k.Resources, k.Patches = slices.Clone(k.Resources), slices.Clone(k.Patches)
	for _, q := range p.problems {
		q.Path = file
		r.problem(q)
	}
	r.out.names = r.out.names || k.Namespace != ""
	r.out.byDir[dir] = &k
	r.out.sorted = append(r.out.sorted, &k)
	r.queue = append(r.queue, &k)
	return r.named(p.named, dir)
}

// named keeps the files of the folder that refused fields name. They are part of a build, as patches are.
func (r *resolver) named(names []string, dir string) error {
	for _, name := range names {
		target := path.Join(dir, name)
		if path.IsAbs(name) || !within(r.out.jail, target) || strings.HasPrefix(target+"/", "../") {
			continue
		}
		switch e, err := r.src.Entry(target); {
		case errors.Is(err, manifest.ErrNotFound):
		case err != nil:
			return err
		case e.Mode == manifest.ModeFile || e.Mode == manifest.ModeExecutable:
			r.out.patches[target] = true
		}
	}
	return nil
}

func (r *resolver) parse(id manifest.ID) (*parsed, error) {
	p := r.out.parsed[id]
	if p == nil {
		p = r.prev.parsed[id]
	}
	if p == nil {
		b, err := r.src.Blob(id)
		if err != nil {
			return nil, err
		}
		p = parse(b)
	}
	r.out.parsed[id] = p
	return p, nil
}

func (r *resolver) entry(p string) (manifest.DirEntry, error) {
	if !within(r.out.jail, p) {
		r.out.outside = true
	}
	return r.src.Entry(p)
}

// references resolves what a kustomization names.
func (r *resolver) references(k *Kustomization) error {
	if k.Kind == kindComponent {
		r.problem(Problem{Path: k.Path, Line: 1, Construct: kindComponent,
			Message: "a component changes the documents of whoever includes it"})
	}
	seen := map[string]int{}
	for i := range k.Resources {
		ref := &k.Resources[i]
		if err := r.resource(k, ref); err != nil {
			return err
		}
		if ref.Target == "" || ref.Kind > RefDir {
			continue
		}
		if first, ok := seen[ref.Target]; ok {
			r.problem(Problem{Path: k.Path, Line: ref.Line, Construct: "listed twice", Solvable: true,
				Message: fmt.Sprintf("%s is listed on line %d already, which kustomize refuses", ref.Value, first),
				Cure:    "remove one of the entries"})
		} else {
			seen[ref.Target] = ref.Line
		}
	}
	for i := range k.Patches {
		if err := r.patch(k, &k.Patches[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) resource(k *Kustomization, ref *Ref) error {
	e, err := r.locate(k, ref)
	if err != nil || ref.Kind > RefDir {
		return err
	}
	if r.src.Ignored(ref.Target) {
		r.problem(Problem{Path: k.Path, Line: ref.Line, Construct: "ignored resource", Ignored: true, Solvable: true,
			Message: fmt.Sprintf("%s is part of the build, but .gittargetignore hides it", ref.Value),
			Cure:    "remove the entry, or the ignore rule that matches it"})
		return nil
	}
	if ref.Kind == RefFile {
		if slices.Contains(fileNames, path.Base(ref.Target)) {
			r.problem(Problem{Path: k.Path, Line: ref.Line, Construct: "kustomization as a resource", Solvable: true,
				Message: fmt.Sprintf("%s names a kustomization file, which kustomize refuses", ref.Value),
				Cure:    "name its directory"})
			return nil
		}
		return r.checkAliases(ref.Target, e.ID)
	}
	return r.directory(k, ref)
}

// directory loads the kustomization of a directory that is listed under resources.
func (r *resolver) directory(k *Kustomization, ref *Ref) error {
	found := false
	for _, name := range fileNames {
		file := strings.TrimPrefix(ref.Target+"/"+name, "/")
		e, err := r.entry(file)
		if errors.Is(err, manifest.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if e.Mode == manifest.ModeDir {
			continue
		}
		if e.Mode == manifest.ModeSymlink || e.Mode == manifest.ModeSubmodule {
			ref.Kind = RefSymlink
			r.problem(Problem{Path: file, Construct: "symlink", Solvable: true,
				Message: "the kustomization is no ordinary file", Cure: "replace it by a file"})
			return nil
		}
		found = true
		if err := r.load(file); err != nil {
			return err
		}
	}
	if !found {
		ref.Kind = RefMissing
		r.problem(Problem{Path: k.Path, Line: ref.Line, Construct: "missing kustomization", Solvable: true,
			Message: fmt.Sprintf("the directory %s has no kustomization file", ref.Value),
			Cure:    "list its files, or add a kustomization.yaml to it"})
	}
	return nil
}

// locate finds what a reference names; it reports a problem for everything that is no file or directory here.
func (r *resolver) locate(k *Kustomization, ref *Ref) (manifest.DirEntry, error) {
	refuse := func(kind RefKind, construct, message, cure string, solvable bool) {
		ref.Kind = kind
		r.problem(Problem{Path: k.Path, Line: ref.Line, Construct: construct, Message: message, Cure: cure,
			Solvable: solvable})
	}
	target := path.Join("/", k.Dir, ref.Value)
	climbs := strings.HasPrefix(path.Join(k.Dir, ref.Value)+"/", "../")
	switch {
	case Remote(ref.Value):
		refuse(RefRemote, "remote base", fmt.Sprintf("%s is fetched from another place", ref.Value),
			"copy the manifests into the repository, or name a file or directory of it", false)
		return manifest.DirEntry{}, nil
	case path.IsAbs(ref.Value) || climbs:
		refuse(RefOutside, "path outside the repository", fmt.Sprintf("%s lies outside the repository", ref.Value),
			"move the file into the repository", ref.Field == "patches")
		return manifest.DirEntry{}, nil
	}
	ref.Target = clean(target)
	e, err := r.entry(ref.Target)
	switch {
	case errors.Is(err, manifest.ErrNotFound):
		switch link := r.symlinkAbove(ref.Target); {
		case link != "":
			refuse(RefSymlink, "symlink", fmt.Sprintf("%s lies behind the symlink %s", ref.Value, link),
				"name the real path", true)
		case strings.ContainsAny(ref.Value, "*?["):
			refuse(RefGlob, "glob", fmt.Sprintf("%s is a pattern, and kustomize takes none", ref.Value), "list the files", true)
		default:
			refuse(RefMissing, "missing file", fmt.Sprintf("%s does not exist", ref.Value), "correct or remove the entry", true)
		}
		ref.Target = ""
		return manifest.DirEntry{}, nil
	case err != nil:
		return e, err
	}
	switch e.Mode {
	case manifest.ModeDir:
		ref.Kind = RefDir
	case manifest.ModeSymlink:
		refuse(RefSymlink, "symlink", fmt.Sprintf("%s is a symlink", ref.Value), "name the real path", true)
	case manifest.ModeSubmodule:
		refuse(RefMissing, "submodule", fmt.Sprintf("%s is a submodule, which is not read", ref.Value),
			"copy the manifests", false)
	default:
		ref.Kind = RefFile
	}
	return e, nil
}

// symlinkAbove returns the first symlink on the way to a path, if there is one.
func (r *resolver) symlinkAbove(p string) string {
	for i, c := range p {
		if c != '/' {
			continue
		}
		if e, err := r.entry(p[:i]); err != nil || e.Mode == manifest.ModeSymlink {
			if err == nil {
				return p[:i]
			}
			return ""
		}
	}
	return ""
}

// Remote reports whether a resources entry is fetched over the network (git-writer 6.2). It is decided by the text
// alone: nothing is contacted.
func Remote(value string) bool {
	if strings.Contains(value, "://") {
		return true
	}
	for _, prefix := range []string{"git@", "git::", "github.com/", "gitlab.com/", "bitbucket.org/", "github.com:",
		"gitlab.com:"} {
		if strings.HasPrefix(strings.ToLower(value), prefix) {
			return true
		}
	}
	return false
}

func sortProblems(p []Problem) {
	slices.SortFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Construct, b.Construct),
			cmp.Compare(a.Message, b.Message))
	})
}
