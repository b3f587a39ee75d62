// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

// Commit builds a commit in memory onto a commit the store holds (the base or an unpublished one); the zero Hash makes
// a root commit. Only the trees on the edited paths are read and rewritten. Without a changed tree (and without
// AllowEmpty) it returns onto and false. A failure leaves nothing behind. The context is looked at between files.
//
// Errors: *PathError for an edit that is impossible, *CorruptError, ErrNoBase, ErrStale, the signer's.
func (s *Store) Commit(ctx context.Context, onto Hash, edits []Edit, c Commit) (id Hash, changed bool, err error) {
	if !s.ready {
		return Hash{}, false, ErrNoBase
	}
	var old Hash
	if !onto.IsZero() {
		if !s.live(onto) {
			return Hash{}, false, fmt.Errorf("commit %s: %w", onto, ErrStale)
		}
		if old, err = s.treeOf(onto); err != nil {
			return Hash{}, false, err
		}
	}
	root, err := plant(edits)
	if err != nil {
		return Hash{}, false, err
	}
	b := &builder{s: s, ctx: ctx}
	tree, err := b.dir(old, root, "")
	if err != nil {
		return Hash{}, false, err
	}
	if tree.IsZero() {
		tree = emptyTree
	}
	if tree == old || tree == emptyTree && old.IsZero() {
		if !c.AllowEmpty {
			return onto, false, nil
		}
	}
	if tree == emptyTree && old != emptyTree {
		b.add(plumbing.TreeObject, emptyTree, nil)
	}
	raw, err := encodeCommit(tree, onto, c)
	if err != nil {
		return Hash{}, false, err
	}
	id = pack.ID(plumbing.CommitObject, raw)
	b.add(plumbing.CommitObject, id, raw)
	s.pending.add(&commit{id: id, parent: onto, tree: tree, objects: b.objects})
	return id, true, nil
}

// encodeCommit writes the commit object, signed when there is a signer.
func encodeCommit(tree, parent Hash, c Commit) ([]byte, error) {
	if strings.ContainsRune(c.Message, 0) {
		return nil, errors.New("the commit message holds a NUL character")
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "tree %s\n", tree)
	if !parent.IsZero() {
		fmt.Fprintf(&head, "parent %s\n", parent)
	}
	for _, who := range []struct {
		role string
		sig  Signature
	}{{"author", c.Author}, {"committer", c.Committer}} {
		line, err := who.sig.line()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", who.role, err)
		}
		fmt.Fprintf(&head, "%s %s\n", who.role, line)
	}
	if c.Signer == nil {
		return append(head.Bytes(), "\n"+c.Message...), nil
	}
	sig, err := c.Signer.Sign(append(bytes.Clone(head.Bytes()), "\n"+c.Message...))
	if err != nil {
		return nil, fmt.Errorf("signing the commit: %w", err)
	}
	text := strings.TrimRight(strings.ReplaceAll(string(sig), "\r\n", "\n"), "\n")
	if text == "" || strings.ContainsRune(text, 0) {
		return nil, errors.New("signing the commit: the signer returned no signature")
	}
	fmt.Fprintf(&head, "gpgsig %s\n", strings.ReplaceAll(text, "\n", "\n "))
	return append(head.Bytes(), "\n"+c.Message...), nil
}

// line is the identity as a commit holds it.
func (s Signature) line() (string, error) {
	name, email := crud(s.Name), crud(s.Email)
	if name == "" {
		name = email
	}
	if name == "" {
		return "", errors.New("neither name nor e-mail address")
	}
	unix := max(0, s.When.Unix())
	if s.When.IsZero() {
		return "", errors.New("no time")
	}
	return fmt.Sprintf("%s <%s> %d %s", name, email, unix, zone(s.When)), nil
}

// zone is the offset as Git writes it, in whole minutes.
func zone(t time.Time) string {
	_, off := t.Zone()
	sign := '+'
	if off < 0 {
		sign, off = '-', -off
	}
	return fmt.Sprintf("%c%02d%02d", sign, off/3600, off/60%60)
}

// crud drops what Git cannot hold in an identity and trims what it would trim itself.
func crud(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.Trim(s, " .,:;\"'\\")
}
