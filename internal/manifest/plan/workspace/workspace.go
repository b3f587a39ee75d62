// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// Workspace is the folder's files as a plan has left them so far.
type Workspace struct {
	// Work holds the files, Folder and Layout say what the folder held before.
	Work   *render.Overlay
	Folder *inventory.Folder
	Layout *layout.Layout
	// touched names the manifests and patches that were written; their change must show in a build that reads them.
	touched map[string]bool
	// parsed are the patch files that were read.
	parsed map[string]parsedFile
}

// New returns the workspace of a folder without changes.
func New(t manifest.Tree, folder *inventory.Folder) *Workspace {
	return &Workspace{
		Work: render.NewOverlay(t), Folder: folder, Layout: folder.Layout(),
		touched: map[string]bool{}, parsed: map[string]parsedFile{},
	}
}

// Read returns a file as the plan has left it; nil when there is none.
func (w *Workspace) Read(name string) ([]byte, error) {
	b, _, err := w.Work.File(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Write writes a source file, one whose change must show in a build when a build reads it.
func (w *Workspace) Write(name string, content []byte) error {
	w.touched[name] = true
	return w.Work.Set(name, content)
}

// Remove takes a source file away.
func (w *Workspace) Remove(name string) error {
	w.touched[name] = true
	return w.Work.Remove(name)
}

// Emptied returns the files that hold something in the tree and would hold nothing. A file whose last document goes is
// taken away, so nothing is ever meant to be emptied (case Y13).
func (w *Workspace) Emptied() ([]string, error) {
	var out []string
	for _, name := range w.Work.Changed() {
		if w.Work.Removed(name) || !w.Work.InTree(name) {
			continue
		}
		b, _, err := w.Work.File(name)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(b)) == 0 {
			out = append(out, name)
		}
	}
	return out, nil
}

// Touched reports whether a source file was written or taken away.
func (w *Workspace) Touched(name string) bool { return w.touched[name] }

// Locate returns a document's file as it is now and the document's index in it, -1 when it is gone. Indices of the
// inventory hold until the file is edited; after that the document is found by its raw identity (git-writer 2.4).
func (w *Workspace) Locate(d *inventory.Document) ([]byte, int, error) {
	b, err := w.Read(d.Path)
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
		if RawID(yamldoc.ReadHead(n)) == d.Raw {
			return b, i, nil
		}
	}
	return b, -1, nil
}

// Body returns the bytes of a document as it is now; nil when it is gone.
func (w *Workspace) Body(d *inventory.Document) ([]byte, error) {
	b, i, err := w.Locate(d)
	if err != nil || i < 0 {
		return nil, err
	}
	f := yamldoc.Split(b)
	if i >= len(f.Docs) {
		return nil, nil
	}
	return f.Body(b, i), nil
}

// Value returns a document's content as JSON values.
func (w *Workspace) Value(d *inventory.Document) (any, error) {
	b, err := w.Body(d)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

func Decode(body []byte) (any, error) {
	n, err := yamldoc.Parse(body)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, errors.New("the document is empty")
	}
	return n.JSON()
}

func RawID(h yamldoc.Head) change.ObjectID {
	return change.ObjectID{Group: h.Group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}
}

// Nearest returns the closest file of a name at or above the directory of a path, up to the repository root.
func (w *Workspace) Nearest(file, name string) (string, []byte, error) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		full := path.Join(dir, name)
		b, err := w.Read(full)
		if err != nil || b != nil {
			return full, b, err
		}
		if dir == "." || dir == "/" {
			return "", nil, nil
		}
	}
}

// InFolder joins a name to the folder of the target.
func (w *Workspace) InFolder(name string) string {
	return strings.TrimPrefix(path.Join("/", w.Layout.Jail(), name), "/")
}

// Documents counts the documents of a file that say something.
func (w *Workspace) Documents(name string) int {
	return w.count(name, func(d *inventory.Document) bool { return d.Content != inventory.Empty })
}

// Encrypted counts the encrypted documents of a file.
func (w *Workspace) Encrypted(name string) int {
	return w.count(name, func(d *inventory.Document) bool { return d.Encrypted })
}

func (w *Workspace) count(name string, matches func(*inventory.Document) bool) int {
	f := w.Folder.File(name)
	if f == nil {
		return 0
	}
	n := 0
	for i := range f.Documents {
		if matches(&f.Documents[i]) {
			n++
		}
	}
	return n
}
