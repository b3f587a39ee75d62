// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unique"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

const (
	// maxDocument bounds the bytes of one document; the API server stores at most 1.5 MiB per object.
	maxDocument = 16 << 20
	// maxHazards bounds the hazards remembered per document; an edit finds the others when it parses.
	maxHazards = 32
)

// inspect fills in what the bytes of a manifest or artefact say. It never fails: what cannot be read is a finding.
func (f *File) inspect(src []byte, st *Stats) {
	if f.Pointer = pointer(src); f.Pointer != "" {
		return
	}
	if err := yamldoc.CheckAliases(src); err != nil {
		f.Aliases = err.Error()
	}
	cut := yamldoc.Split(src)
	f.BOM, f.CRLF = cut.BOM, cut.CRLF
	f.Documents = make([]Document, len(cut.Docs))
	line := lines{src: src, line: 1}
	var values []string
	for i := range cut.Docs {
		c := &cut.Docs[i]
		d := &f.Documents[i]
		*d = Document{Path: f.Path, Index: int32(c.Index), Start: int32(c.Start), End: int32(c.End)}
		d.Line = int32(line.at(c.Start))
		if c.Empty {
			d.Content = Empty
			continue
		}
		st.DocumentsParsed++
		values = append(values, d.read(cut.Body(src, i))...)
	}
	f.ValueFiles = valuePaths(f.Path, values)
}

// read fills in what the body of one document says; it returns the values files a Helm object names.
func (d *Document) read(body []byte) (values []string) {
	if len(body) > maxDocument {
		d.Content, d.Note = Invalid, fmt.Sprintf("document of %d bytes; the limit is %d", len(body), maxDocument)
		return nil
	}
	n, err := yamldoc.Parse(body)
	if err != nil {
		d.Content, d.Note = Invalid, err.Error()
		var s *yamldoc.SyntaxError
		if errors.As(err, &s) {
			d.Note = s.Msg
			d.Line += int32(max(s.Line, 1) - 1)
		}
		return nil
	}
	if n == nil {
		d.Content = Empty
		return nil
	}
	h := yamldoc.ReadHead(n)
	d.Encrypted = h.Encrypted
	d.classify(n, h)
	if v, err := n.JSON(); err == nil {
		d.Digest = compare.Digest(v)
		if d.Content == Managed {
			values = valueNames(h, v)
		}
	}
	for _, z := range n.Hazards() {
		if len(d.Hazards) == maxHazards {
			break
		}
		d.Hazards = append(d.Hazards, Hazard{Kind: string(z.Kind), Line: int(d.Line) + z.Line - 1, Path: z.Path})
	}
	return values
}

func (d *Document) classify(n *yamldoc.Node, h yamldoc.Head) {
	switch {
	case h.Encrypted && (sealed(h.APIVersion) || sealed(h.Kind) || sealed(h.Name) || sealed(h.Namespace)),
		h.Encrypted && (h.APIVersion == "" || h.Kind == "" || h.Name == ""):
		d.Content = Hidden
	case h.APIVersion == "" || h.Kind == "" || h.Name == "":
		d.Content, d.Note = NotKRM, notKRM(n, h)
	default:
		d.APIVersion = intern(h.APIVersion)
		group, _, ok := strings.Cut(d.APIVersion, "/")
		if !ok {
			group = ""
		}
		d.Raw = change.ObjectID{Group: group, Kind: intern(h.Kind), Namespace: intern(h.Namespace),
			Name: strings.Clone(h.Name)}
	}
}

// sealed reports whether a field of the identity is ciphertext.
func sealed(s string) bool { return strings.HasPrefix(s, "ENC[") }

// notKRM says in a few words why a document is no manifest.
func notKRM(n *yamldoc.Node, h yamldoc.Head) string {
	switch {
	case !h.IsMap:
		return "it is no mapping"
	case h.Kind == "List" && h.APIVersion == "v1" && n.Get("items") != nil:
		return "it is a List; give every object its own document"
	case h.GenerateName != "" && h.Name == "":
		return "it has generateName and no name"
	}
	var missing []string
	for _, f := range []struct{ name, value string }{
		{"apiVersion", h.APIVersion}, {"kind", h.Kind}, {"metadata.name", h.Name},
	} {
		if f.value == "" {
			missing = append(missing, f.name)
		}
	}
	return "it has no " + strings.Join(missing, ", no ")
}

// pointer names what stands in place of a file's content (decision 49).
func pointer(src []byte) string {
	switch {
	case bytes.HasPrefix(src, []byte("version https://git-lfs.github.com/spec/")):
		return "Git LFS"
	case bytes.HasPrefix(src, []byte("\x00GITCRYPT\x00")):
		return "git-crypt"
	}
	return ""
}

// intern shares the text of the few names that most documents repeat.
func intern(s string) string { return unique.Make(s).Value() }

// lines counts lines for growing offsets.
type lines struct {
	src       []byte
	pos, line int
}

func (l *lines) at(offset int) int {
	if offset > l.pos {
		l.line += bytes.Count(l.src[l.pos:offset], []byte("\n"))
		l.pos = offset
	}
	return l.line
}

// plainManifest reports a manifest all of whose documents claim an identity or nothing at all.
func (f *File) irregular() bool {
	switch f.Role {
	case Passenger:
		return false
	case Manifest:
	default:
		return true
	}
	if f.Pointer != "" || f.Aliases != "" {
		return true
	}
	for i := range f.Documents {
		d := &f.Documents[i]
		if d.Content != Managed || !d.Encrypted && f.sopsNamed() {
			return true
		}
	}
	return false
}

// sopsNamed reports a name that promises ciphertext.
func (f *File) sopsNamed() bool {
	return strings.HasSuffix(f.Path, ".sops.yaml") || strings.HasSuffix(f.Path, ".sops.yml")
}
