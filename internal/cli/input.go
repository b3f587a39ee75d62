// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// input is a folder and the types that are known beside it.
type input struct {
	path  string
	tree  *dirTree
	types *types
}

// open opens DIR and reads the CRDs in it and in the --crds files and folders.
func open(dir, folder string, crds []string) (*input, error) {
	p, err := insideRepo(folder)
	if err != nil {
		return nil, err
	}
	t, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	in := &input{path: p, tree: t}
	if err := in.readTypes(crds); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return in, nil
}

func (in *input) readTypes(crds []string) (err error) {
	if in.types, err = newTypes(); err != nil {
		return err
	}
	for _, name := range crds {
		if err := in.addCRDs(name); err != nil {
			return err
		}
	}
	return in.tree.files(in.tree.Root(), "", isYAML, func(_ string, content []byte) error {
		// A folder may hold a broken CRD; the scan names what is wrong with it.
		if bytes.Contains(content, []byte("CustomResourceDefinition")) {
			_, _ = in.types.addCRDs(content)
		}
		return nil
	})
}

// insideRepo cleans the --path flag.
func insideRepo(p string) (string, error) {
	c := path.Clean(filepath.ToSlash(p))
	if path.IsAbs(c) || c == ".." || strings.HasPrefix(c, "../") {
		return "", fmt.Errorf("--path %s must be a folder inside DIR", p)
	}
	return c, nil
}

// addCRDs reads a file or folder of --crds. One that holds no CRD is a mistake.
func (in *input) addCRDs(name string) error {
	found := 0
	add := func(file string, content []byte) error {
		count, err := in.types.addCRDs(content)
		if err != nil && file != "" {
			err = fmt.Errorf("%s: %w", file, err)
		}
		found += count
		return err
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		var t *dirTree
		if t, err = openDir(name); err == nil {
			err = errors.Join(t.files(t.Root(), "", isYAML, add), t.close())
		}
	case err == nil:
		var b []byte
		if b, err = os.ReadFile(name); err == nil {
			err = add("", b)
		}
	}
	if err != nil {
		return fmt.Errorf("--crds %s: %w", name, reason(err))
	}
	if found == 0 {
		return fmt.Errorf("--crds %s: there is no CustomResourceDefinition in it", name)
	}
	return nil
}

// reason is the part of a file error behind the operation and the name, which the message has already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}
