// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// Refusal is something in a kustomization that is not built, because it is unsupported or unsafe (git-writer 6.2,
// decision 94).
type Refusal struct {
	// Path is the file that holds it, from the repository root.
	Path string
	// Construct is the kustomization field or a short name such as "remote base".
	Construct string
	// Detail says what is wrong, for people.
	Detail string
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s: %s", r.Path, r.Construct, r.Detail) }

// graph is everything one build reads, already checked.
type graph struct {
	root  string
	kusts map[string]*kustomization // by directory
	files map[string][]byte
	// reads are the blobs the graph depends on; the zero id stands for "looked for and absent".
	reads map[string]manifest.ID
}

// kustomization is one decoded kustomization file.
type kustomization struct {
	dir, file string
	spec      types.Kustomization
	// files and dirs are the resolved local resources, in order.
	files, dirs []string
	patches     []string
}

// loader walks a graph.
type loader struct {
	src   Files
	g     *graph
	stack []string
}

// load reads and checks everything a build of root needs.
func load(root string, src Files) (*graph, error) {
	root = clean(root)
	l := &loader{src: src, g: &graph{
		root: root, kusts: map[string]*kustomization{}, files: map[string][]byte{}, reads: map[string]manifest.ID{},
	}}
	if _, err := l.kustomization(root); err != nil {
		return nil, err
	}
	return l.g, nil
}

// read returns a regular file and notes it; ok is false when there is none.
func (l *loader) read(name string) (b []byte, ok bool, err error) {
	if b, ok := l.g.files[name]; ok {
		return b, true, nil
	}
	b, id, err := l.src.File(name)
	if errors.Is(err, fs.ErrNotExist) {
		l.g.reads[name] = manifest.ID{}
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := yamldoc.CheckAliases(b); err != nil {
		return nil, false, &Refusal{Path: name, Construct: "alias", Detail: err.Error()}
	}
	l.g.reads[name], l.g.files[name] = id, b
	return b, true, nil
}

func (l *loader) kustomization(dir string) (*kustomization, error) {
	if i := slices.Index(l.stack, dir); i >= 0 {
		cycle := append(slices.Clone(l.stack[i:]), dir)
		return nil, &Refusal{Path: shown(dir), Construct: "cycle",
			Detail: "the folders refer to each other in a cycle: " + strings.Join(cycle, " -> ")}
	}
	if k, ok := l.g.kusts[dir]; ok {
		return k, nil
	}
	l.stack = append(l.stack, dir)
	defer func() { l.stack = l.stack[:len(l.stack)-1] }()

	k := &kustomization{dir: dir}
	var content []byte
	for _, n := range konfig.RecognizedKustomizationFileNames() {
		b, ok, err := l.read(path.Join(dir, n))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if k.file != "" {
			return nil, &Refusal{Path: shown(dir), Construct: "kustomization",
				Detail: "the folder has more than one kustomization file"}
		}
		k.file, content = path.Join(dir, n), b
	}
	if k.file == "" {
		return nil, &Refusal{Path: shown(dir), Construct: "kustomization", Detail: "the folder has no kustomization file"}
	}
	spec, err := decode(content)
	if err != nil {
		return nil, &Refusal{Path: k.file, Construct: "kustomization", Detail: err.Error()}
	}
	k.spec = *spec
	if c, detail := unsupported(&k.spec); c != "" {
		return nil, &Refusal{Path: k.file, Construct: c, Detail: detail}
	}
	if err := l.resources(k); err != nil {
		return nil, err
	}
	if err := l.patches(k); err != nil {
		return nil, err
	}
	l.g.kusts[dir] = k
	return k, nil
}

// decode reads a kustomization with kustomize's own type and its repairs of old fields.
func decode(content []byte) (spec *types.Kustomization, err error) {
	defer func() {
		if p := recover(); p != nil {
			spec, err = nil, fmt.Errorf("the kustomize library failed on this file: %v", p)
		}
	}()
	var k types.Kustomization
	if err := k.Unmarshal(content); err != nil {
		return nil, err
	}
	k.FixKustomization()
	if err := k.CheckEmpty(); err != nil {
		return nil, err
	}
	if errs := k.EnforceFields(); len(errs) > 0 {
		return nil, errors.New(strings.Join(errs, "; "))
	}
	return &k, nil
}

var remote = regexp.MustCompile(`^(?:git::|[^/]*@[^/]*:|(?:github\.com|gitlab\.com|bitbucket\.org)[:/]|file:)|://|[?]ref=`)

// Remote reports whether a resources entry names something outside the repository.
func Remote(entry string) bool { return remote.MatchString(entry) }

func (l *loader) resources(k *kustomization) error {
	for _, r := range k.spec.Resources {
		if Remote(r) {
			return &Refusal{Path: k.file, Construct: "remote base", Detail: "resources entry " + r + " is remote"}
		}
		name, err := l.local(k, r)
		if err != nil {
			return err
		}
		// Kustomize takes whatever it does not find for a remote repository, so an entry goes to it only when it exists.
		if dir, err := l.src.IsDir(name); err != nil {
			return err
		} else if dir {
			k.dirs = append(k.dirs, name)
			if _, err := l.kustomization(name); err != nil {
				return err
			}
			continue
		}
		if _, ok, err := l.read(name); err != nil {
			return err
		} else if !ok {
			return &Refusal{Path: k.file, Construct: "resources", Detail: "entry " + r + " does not exist in the repository"}
		}
		k.files = append(k.files, name)
	}
	return nil
}

func (l *loader) patches(k *kustomization) error {
	for _, p := range k.spec.Patches {
		name, err := l.local(k, p.Path)
		if err != nil {
			return err
		}
		b, ok, err := l.read(name)
		if err != nil {
			return err
		}
		if !ok {
			return &Refusal{Path: k.file, Construct: "patches", Detail: "patch " + p.Path + " does not exist in the repository"}
		}
		if !isMergePatch(b) {
			return &Refusal{Path: name, Construct: "patchesJson6902",
				Detail: "the patch is no strategic merge patch with apiVersion, kind and metadata.name"}
		}
		k.patches = append(k.patches, name)
	}
	return nil
}

// local resolves an entry against its kustomization; it never leaves the repository.
func (l *loader) local(k *kustomization, entry string) (string, error) {
	joined := path.Join("/", k.dir, entry)
	up := strings.Count(path.Clean(path.Join(k.dir, entry)), "../")
	if entry == "" || path.IsAbs(entry) || up > 0 || path.Clean(path.Join(k.dir, entry)) == ".." {
		return "", &Refusal{Path: k.file, Construct: "path", Detail: "entry " + entry + " leaves the repository"}
	}
	return clean(joined), nil
}

// isMergePatch reports whether every document of a patch file is a sparse object.
func isMergePatch(b []byte) bool {
	f := yamldoc.Split(b)
	n := 0
	for i, d := range f.Docs {
		if d.Empty {
			continue
		}
		node, err := yamldoc.Parse(f.Body(b, i))
		if err != nil || node == nil || node.Kind != yamldoc.Map {
			return false
		}
		h := yamldoc.ReadHead(node)
		if h.Kind == "" || h.Name == "" {
			return false
		}
		n++
	}
	return n > 0
}

func shown(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
