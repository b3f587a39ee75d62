// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// workspace is the folder's files as a plan has left them so far.
type workspace struct {
	work   *render.Overlay
	folder *inventory.Folder
	layout *layout.Layout
	// touched names the manifests and patches that were written; their change must show in a build that reads them.
	touched map[string]bool
}

// file returns a file as the plan has left it; nil when there is none.
func (w *workspace) file(name string) ([]byte, error) {
	b, _, err := w.work.File(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// set writes a source file, one whose change must show in a build when a build reads it.
func (w *workspace) set(name string, content []byte) error {
	w.touched[name] = true
	return w.work.Set(name, content)
}

// locate returns a document's file as it is now and the document's index in it, -1 when it is gone. Indices of the
// inventory hold until the file is edited; after that the document is found by its raw identity (git-writer 2.4).
func (w *workspace) locate(d *inventory.Document) ([]byte, int, error) {
	b, err := w.file(d.Path)
	if err != nil || b == nil {
		return nil, -1, err
	}
	if !w.touched[d.Path] {
		return b, int(d.Index), nil
	}
	f := yamldoc.Split(b)
	for i := range f.Docs {
		n, err := yamldoc.Parse(f.Body(b, i))
		if err != nil || n == nil {
			continue
		}
		if rawID(yamldoc.ReadHead(n)) == d.Raw {
			return b, i, nil
		}
	}
	return b, -1, nil
}

// body returns the bytes of a document as it is now; nil when it is gone.
func (w *workspace) body(d *inventory.Document) ([]byte, error) {
	b, i, err := w.locate(d)
	if err != nil || i < 0 {
		return nil, err
	}
	f := yamldoc.Split(b)
	if i >= len(f.Docs) {
		return nil, nil
	}
	return f.Body(b, i), nil
}

// value returns a document's content as JSON values.
func (w *workspace) value(d *inventory.Document) (any, error) {
	b, err := w.body(d)
	if err != nil {
		return nil, err
	}
	return decodeDocument(b)
}

func decodeDocument(body []byte) (any, error) {
	n, err := yamldoc.Parse(body)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, errors.New("the document is empty")
	}
	return n.JSON()
}

func rawID(h yamldoc.Head) change.ObjectID {
	return change.ObjectID{Group: h.Group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}
}

// nearest returns the closest file of a name at or above the directory of a path, up to the repository root.
func (w *workspace) nearest(file, name string) (string, []byte, error) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		full := path.Join(dir, name)
		b, err := w.file(full)
		if err != nil || b != nil {
			return full, b, err
		}
		if dir == "." || dir == "/" {
			return "", nil, nil
		}
	}
}

// inFolder joins a name to the folder of the target.
func (w *workspace) inFolder(name string) string {
	return strings.TrimPrefix(path.Join("/", w.layout.Jail(), name), "/")
}

func compareString(a, b string) int { return cmp.Compare(a, b) }

func cmpOr(vals ...int) int { return cmp.Or(vals...) }

// fileDocument is a readable document of a file.
type fileDocument struct {
	index int
	head  yamldoc.Head
	node  *yamldoc.Node
}

// value decodes the document; nil when it holds what cannot be decoded.
func (d *fileDocument) value() map[string]any {
	if d == nil {
		return nil
	}
	v, err := d.node.JSON()
	if err != nil {
		return nil
	}
	m, _ := v.(map[string]any)
	return m
}

// documentsIn returns the documents of a file that name an object, in order.
func documentsIn(b []byte) []*fileDocument {
	var out []*fileDocument
	f := yamldoc.Split(b)
	for i := range f.Docs {
		if n, err := yamldoc.Parse(f.Body(b, i)); err == nil && n != nil {
			if h := yamldoc.ReadHead(n); h.Kind != "" && h.Name != "" {
				out = append(out, &fileDocument{i, h, n})
			}
		}
	}
	return out
}

// documentOf returns the document of exactly one identity in a file; nil when there is none.
func documentOf(b []byte, id change.ObjectID) *fileDocument {
	for _, d := range documentsIn(b) {
		if rawID(d.head) == id {
			return d
		}
	}
	return nil
}

// documentFor returns the document of a file that a rendered object comes from: the one with its namespace, else the
// first with its name, since the build gives namespaces.
func documentFor(b []byte, o *render.Object) *fileDocument {
	var first *fileDocument
	for _, d := range documentsIn(b) {
		switch h := d.head; {
		case h.Group != o.Group || h.Kind != o.Kind || h.Name != o.Name:
		case h.Namespace == o.Namespace:
			return d
		case first == nil:
			first = d
		}
	}
	return first
}

func parentDir(name string) string {
	if d := path.Dir(name); d != "." {
		return d
	}
	return ""
}

func relativeTo(dir, name string) string {
	if dir == "" {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}
