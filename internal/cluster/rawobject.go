// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/sha256"
	"hash"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Head is what a stream needs of a raw object before it decodes anything. The slices alias the object's bytes; strings
// are without quotes and with escapes as written.
type Head struct {
	UID, ResourceVersion, Namespace, Name []byte
	// Labels is the raw JSON object of the labels; nil when there is none.
	Labels []byte
	// Deleting: a deletionTimestamp is set.
	Deleting bool
	// InitialEventsEnd marks the bookmark that completes a replay.
	InitialEventsEnd bool
	// Hash covers everything but status, managedFields, resourceVersion and generation.
	Hash [16]byte
}

// Scanner reads heads. It is not safe for concurrent use; a stream owns one, so that nothing is allocated per event.
type Scanner struct {
	hash hash.Hash
	sum  [sha256.Size]byte
}

// NewScanner returns a scanner.
func NewScanner() *Scanner { return &Scanner{hash: sha256.New()} }

var (
	comma = []byte{','}
	colon = []byte{':'}
	open  = []byte{'{'}
	end   = []byte{'}'}
)

// Head reads the head of an object's raw JSON; false when the bytes are no JSON object. Two objects have equal hashes
// when their bytes are equal apart from the noise and from white space around the members of the object and of its
// metadata.
func (s *Scanner) Head(raw []byte) (Head, bool) {
	var h Head
	s.hash.Reset()
	from := skipSpace(raw, 0)
	to, ok := members(raw, from, func(key []byte, from, to int) bool {
		switch string(key) {
		case "status":
			return true
		case "metadata":
			s.write(key, open)
			if !s.metadata(raw[from:to], &h) {
				s.hash.Write(raw[from:to])
			}
			s.hash.Write(end)
		default:
			s.write(key, raw[from:to])
		}
		s.hash.Write(comma)
		return true
	})
	if !ok || skipSpace(raw, to) != len(raw) {
		return Head{}, false
	}
	copy(h.Hash[:], s.hash.Sum(s.sum[:0]))
	return h, true
}

func (s *Scanner) write(key, value []byte) {
	s.hash.Write(key)
	s.hash.Write(colon)
	s.hash.Write(value)
}

// metadata reads the members of metadata; false when it is no object.
func (s *Scanner) metadata(raw []byte, h *Head) bool {
	_, ok := members(raw, 0, func(key []byte, from, to int) bool {
		value := raw[from:to]
		switch string(key) {
		case "managedFields", "generation":
			return true
		case "resourceVersion":
			h.ResourceVersion = text(value)
			return true
		case "uid":
			h.UID = text(value)
		case "namespace":
			h.Namespace = text(value)
		case "name":
			h.Name = text(value)
		case "deletionTimestamp":
			h.Deleting = string(value) != "null"
		case "labels":
			h.Labels = value
		case "annotations":
			h.InitialEventsEnd = annotated(value)
		}
		s.write(key, value)
		s.hash.Write(comma)
		return true
	})
	return ok
}

// text returns the inside of a raw JSON string; nil when it is none.
func text(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// annotated reports the annotation of a replay's last bookmark.
func annotated(annotations []byte) bool {
	found := false
	members(annotations, 0, func(key []byte, from, to int) bool {
		if string(key) == metav1.InitialEventsAnnotationKey {
			found = string(text(annotations[from:to])) == "true"
		}
		return true
	})
	return found
}
