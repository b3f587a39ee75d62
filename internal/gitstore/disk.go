// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
)

// diskCacheSize is the cache of objects read from the pack, in bytes; go-git's default is 96 MiB.
const diskCacheSize = 8 << 20

// disk is one generation of the base: a folder with one pack.
type disk struct {
	dir string
	st  *filesystem.Storage
}

// newDisk makes an empty folder.
func newDisk(dir string) (*disk, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o700); err != nil {
		return nil, err
	}
	st := filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(diskCacheSize),
		filesystem.Options{KeepDescriptors: true, ExclusiveAccess: true})
	return &disk{dir: dir, st: st}, nil
}

// load writes a whole pack and its index.
func (d *disk) load(r io.Reader) error {
	w, err := d.st.PackfileWriter()
	if err != nil {
		return transport.Local(fmt.Errorf("writing the store: %w", err))
	}
	_, err = io.Copy(localWriter{w}, r)
	closeErr := w.Close() // builds the index
	var file *fs.PathError
	switch {
	case err != nil:
		return err
	case errors.As(closeErr, &file):
		return transport.Local(fmt.Errorf("writing the store: %w", closeErr))
	case closeErr != nil:
		return &TransportError{Kind: Protocol, Text: "the server's pack cannot be read: " + closeErr.Error(), Err: closeErr}
	}
	return nil
}

// localWriter tells a full disk from a broken connection.
type localWriter struct{ w io.Writer }

// Write implements io.Writer.
func (l localWriter) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	if err != nil {
		err = transport.Local(fmt.Errorf("writing the store: %w", err))
	}
	return n, err
}

// get reads an object and proves that its bytes are those of its id.
func (d *disk) get(id Hash) (plumbing.ObjectType, []byte, error) {
	o, err := d.st.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return 0, nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	raw := make([]byte, o.Size())
	if _, err := io.ReadFull(r, raw); err != nil && !(len(raw) == 0 && err == io.EOF) {
		return 0, nil, err
	}
	if pack.ID(o.Type(), raw) != id {
		return 0, nil, errors.New("its bytes are not those of its id")
	}
	return o.Type(), raw, nil
}

func (d *disk) has(id Hash) bool { return d != nil && d.st.HasEncodedObject(id) == nil }

func (d *disk) close() {
	_ = d.st.Close()
	_ = os.RemoveAll(d.dir)
}
