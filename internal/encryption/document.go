// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	sopsage "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/keys"
	"github.com/getsops/sops/v3/logging"
	yamlstore "github.com/getsops/sops/v3/stores/yaml"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// sopsVersion is written into new documents. It is the version of the module; a test compares.
const sopsVersion = "3.13.3"

// state is what the document in Git is to us.
type state uint8

const (
	// absent: there is none.
	absent state = iota
	// readable: it is not encrypted.
	readable
	// locked: it is encrypted and its data key is not known.
	locked
	// open: it is decrypted.
	open
)

// document is the document in Git.
type document struct {
	state state
	body  []byte
	// tree is decrypted when open, encrypted when locked; cipherTree is the encrypted one of an open document.
	tree       sops.TreeBranch
	cipherTree sops.TreeBranch
	meta       sops.Metadata
	key        []byte
	// cipher remembers the nonces of what it decrypted, so that equal values encrypt to equal text.
	cipher aes.Cipher
	// intact: the MAC is right. It is wrong after a clear field was edited or keys were sorted.
	intact bool
	// covered: every sensitive scalar is encrypted; readable is the path of the first that is not.
	covered  bool
	readable string
	indent   int
}

// quiet silences SOPS' own loggers once: they write to standard error, and quote comments.
var quiet = sync.OnceFunc(func() {
	for _, l := range logging.Loggers {
		l.SetOutput(io.Discard)
	}
})

// guard runs library code. A panic becomes an error that tells nothing of the values (decisions 94).
func guard(what string, f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New(what + " made the SOPS library fail")
		}
	}()
	quiet()
	return f()
}

// store reads and writes YAML as the sops command does.
func store(indent int) *yamlstore.Store {
	return yamlstore.NewStore(&config.YAMLStoreConfig{Indent: indent})
}

const (
	unreadable = "the document in Git cannot be read; repair it, or delete it so that it is written anew"
	undecided  = "the encrypted document in Git cannot be decrypted%s: it was edited by hand or merged; restore it, " +
		"or delete it so that it is written anew"
)

// load reads the document in Git and decrypts it when that is possible.
func (s *Sealer) load(body []byte, k kind) (*document, error) {
	d := &document{body: body, cipher: aes.NewCipher(), indent: defaultIndent}
	if len(bytes.TrimSpace(body)) == 0 {
		return d, nil
	}
	if yamldoc.CheckAliases(body) != nil {
		return nil, errors.New(unreadable)
	}
	root, err := yamldoc.Parse(body)
	if err != nil || root == nil || root.Kind != yamldoc.Map {
		return nil, errors.New(unreadable)
	}
	d.indent = indentOf(root)
	err = guard("the document in Git", func() error {
		if root.Get("sops") == nil {
			branches, err := store(0).LoadPlainFile(body)
			if err != nil || len(branches) != 1 || !stringKeys(branches[0]) {
				return errors.New(unreadable)
			}
			d.state, d.tree = readable, branches[0]
			return nil
		}
		t, err := store(0).LoadEncryptedFile(body)
		if err != nil || len(t.Branches) != 1 || !stringKeys(t.Branches[0]) {
			return errors.New("the encrypted document in Git cannot be read, or its sops block is broken; restore " +
				"the document, or delete it so that it is written anew")
		}
		d.state, d.tree, d.meta = locked, t.Branches[0], t.Metadata
		d.readable = readablePath(d.tree, k)
		if d.covered = checkSealed(d.tree, k) == nil; d.readable != "" {
			return nil // SOPS decrypts no document that has both
		}
		d.key = s.dataKey(&d.meta)
		return nil
	})
	if err != nil || d.key == nil {
		return d, err
	}
	return d, d.unlock()
}

// clear is what the document says; nothing when it cannot be read.
func (d *document) clear() sops.TreeBranch {
	if d.state == open || d.state == readable {
		return d.tree
	}
	return nil
}

func stringKeys(v any) bool {
	switch v := v.(type) {
	case sops.TreeBranch:
		return !slices.ContainsFunc(v, func(it sops.TreeItem) bool {
			_, ok := it.Key.(string)
			return !ok && !isComment(it.Key) || !stringKeys(it.Value)
		})
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !stringKeys(x) })
	}
	return true
}

// unlock decrypts the tree and checks the MAC.
func (d *document) unlock() error {
	plain := sops.Tree{Branches: sops.TreeBranches{cloneBranch(d.tree)}, Metadata: d.meta}
	flags := inline(d.tree, nil)
	where := ""
	err := guard("the encrypted document in Git", func() error {
		mac, err := plain.Decrypt(d.key, d.cipher)
		if err != nil {
			where = d.broken()
			return fmt.Errorf(undecided, where)
		}
		was, err := aes.NewCipher().Decrypt(d.meta.MessageAuthenticationCode, d.key, d.meta.LastModified.Format(time.RFC3339))
		d.intact = err == nil && was == mac
		return nil
	})
	if err != nil {
		return err
	}
	inline(plain.Branches[0], flags)
	d.state, d.tree, d.cipherTree = open, plain.Branches[0], d.tree
	return nil
}

// broken names the first value that does not decrypt.
func (d *document) broken() string {
	for _, it := range d.tree {
		field, ok := it.Key.(string)
		if !ok {
			continue
		}
		one := sops.Tree{Branches: sops.TreeBranches{cloneBranch(sops.TreeBranch{it})}, Metadata: d.meta}
		if _, err := one.Decrypt(d.key, aes.NewCipher()); err == nil {
			continue
		}
		b, _ := it.Value.(sops.TreeBranch)
		for _, sub := range b {
			one.Branches = sops.TreeBranches{{{Key: field, Value: cloneBranch(sops.TreeBranch{sub})}}}
			if _, err := one.Decrypt(d.key, aes.NewCipher()); err != nil {
				return fmt.Sprintf(" at %s.%v", field, sub.Key)
			}
		}
		return " at " + field
	}
	return ""
}

// inline reads (flags == nil) or sets which comments of maps stand behind a value: SOPS forgets it when it encrypts or
// decrypts a comment.
func inline(b sops.TreeBranch, flags []bool) []bool {
	var read []bool
	set := flags != nil
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case sops.TreeBranch:
			for i := range v {
				if c, ok := v[i].Key.(sops.Comment); ok {
					switch {
					case !set:
						read = append(read, c.Inline)
					case len(flags) > 0:
						c.Inline, flags = flags[0], flags[1:]
						v[i].Key = c
					}
				}
				walk(v[i].Value)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(b)
	return read
}

// dataKey finds the data key: this process made or used it, or an identity opens it.
func (s *Sealer) dataKey(meta *sops.Metadata) []byte {
	if len(meta.KeyGroups) != 1 {
		return nil // parts of a shared secret: not made by us
	}
	id := blocksID(meta)
	if key := s.o.Cache.dataKey(id); key != nil {
		return key
	}
	for _, k := range meta.KeyGroups[0] {
		if key, _ := s.openBlock(k); key != nil {
			s.o.Cache.keepDataKey(id, key)
			return key
		}
	}
	return nil
}

// openBlock decrypts a data key with an identity of the operator; own is false when there is none for it.
func (s *Sealer) openBlock(k keys.MasterKey) (key []byte, own bool) {
	m, ok := k.(*sopsage.MasterKey)
	if !ok || s.o.Keys.own[m.Recipient] == nil {
		return nil, false
	}
	sopsage.ParsedIdentities{s.o.Keys.own[m.Recipient]}.ApplyToMasterKey(m) // without one SOPS would look into the environment
	if key, err := m.Decrypt(); err == nil && len(key) == 32 {
		return key, true
	}
	return nil, true
}

// blocksID identifies a data key by its encrypted forms.
func blocksID(meta *sops.Metadata) [32]byte {
	var blocks []string
	for _, g := range meta.KeyGroups {
		for _, k := range g {
			blocks = append(blocks, k.ToString()+"\x00"+string(k.EncryptedDataKey()))
		}
	}
	slices.Sort(blocks)
	h := sha256.New()
	for _, b := range blocks {
		fmt.Fprintf(h, "%d:%s", len(b), b)
	}
	return [32]byte(h.Sum(nil))
}

// recipientsOf lists who can open a document. Keys of other kinds than age count as recipients by their text.
func recipientsOf(meta *sops.Metadata) []string {
	var out []string
	for _, g := range meta.KeyGroups {
		for _, k := range g {
			out = append(out, k.ToString())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// indentOf finds the indentation of a document; the default when it has none.
func indentOf(root *yamldoc.Node) int {
	if root == nil || root.Kind != yamldoc.Map || root.Style != yamldoc.Block {
		return defaultIndent
	}
	for _, p := range root.Pairs {
		if v := p.Value; v.Kind == yamldoc.Map && v.Style == yamldoc.Block && len(v.Pairs) > 0 {
			if n := v.Indent - root.Indent; n >= 2 && n <= 9 {
				return n
			}
		}
	}
	return defaultIndent
}
