// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package leakproof

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// minSecret is the shortest secret that can be searched without chance hits, in bytes.
const minSecret = 8

// minForm is the shortest form that is searched, in bytes.
const minForm = 8

// Secret is a planted value.
type Secret struct {
	// Name tells in findings which one leaked; the value itself is never shown.
	Name  string
	Value string
}

// Plant makes a random value that no text holds by chance. It has characters every encoding treats in its own way.
func Plant(name string) Secret { return Secret{Name: name, Value: "pl+" + rand.Text() + "/=\"x"} }

// PlantWord makes a random value that is also a valid label value, file name and URL part.
func PlantWord(name string) Secret {
	return Secret{Name: name, Value: "pl-" + strings.ToLower(rand.Text())}
}

// Finding is a place where a secret can be read.
type Finding struct {
	// Where is a file, an object, or the name a text was given.
	Where string
	// Secret is the name of the secret, Form how it is written there.
	Secret, Form string
	// Offset is where it begins, in bytes.
	Offset int
}

// String implements fmt.Stringer.
func (f Finding) String() string {
	return fmt.Sprintf("%s: secret %q as %s at byte %d", f.Where, f.Secret, f.Form, f.Offset)
}

// Scanner looks for a fixed set of secrets. It is safe for concurrent use.
type Scanner struct{ forms []form }

type form struct {
	secret, name string
	text         []byte
}

// New makes a Scanner. It panics on a secret that is too short to be searched, since such a proof proves nothing.
func New(secrets ...Secret) *Scanner {
	s := &Scanner{}
	for _, x := range secrets {
		if len(x.Value) < minSecret {
			panic(fmt.Sprintf("leakproof: the secret %q has fewer than %d bytes", x.Name, minSecret))
		}
		s.add(x, "plain text", x.Value)
		s.add(x, "URL", url.QueryEscape(x.Value))
		s.add(x, "URL path", url.PathEscape(x.Value))
		if b, err := json.Marshal(x.Value); err == nil {
			s.add(x, "JSON", string(b[1:len(b)-1]))
		}
		q := strconv.Quote(x.Value)
		s.add(x, "Go string", q[1:len(q)-1])
		s.add(x, "hexadecimal", hex.EncodeToString([]byte(x.Value)))
		s.add(x, "HEXADECIMAL", strings.ToUpper(hex.EncodeToString([]byte(x.Value))))
		for _, e := range encodings(x.Value) {
			s.add(x, "base64", e)
			for _, twice := range encodings(e) {
				s.add(x, "base64 of base64", twice)
			}
		}
	}
	return s
}

func (s *Scanner) add(x Secret, name, text string) {
	known := func(f form) bool { return f.secret == x.Name && string(f.text) == text }
	if len(text) < minForm || slices.ContainsFunc(s.forms, known) {
		return
	}
	s.forms = append(s.forms, form{x.Name, name, []byte(text)})
}

// encodings gives the parts of base64 texts that do not depend on what stands around the value, for each of the three
// positions it can have, in both alphabets.
func encodings(v string) []string {
	var out []string
	for pad := range 3 {
		e := base64.RawStdEncoding.EncodeToString(append(make([]byte, pad), v...))
		core := e[(pad*8+5)/6 : (pad+len(v))*8/6]
		out = append(out, core)
		if other := strings.NewReplacer("+", "-", "/", "_").Replace(core); other != core {
			out = append(out, other)
		}
	}
	return out
}

// Text looks into one text; where names it in findings. Each form is reported once.
func (s *Scanner) Text(where string, text []byte) []Finding {
	var out []Finding
	for _, f := range s.forms {
		if i := bytes.Index(text, f.text); i >= 0 {
			out = append(out, Finding{Where: where, Secret: f.secret, Form: f.name, Offset: i})
		}
	}
	return out
}

// Object looks into the JSON of any value, such as a Kubernetes object with its status, or an event.
func (s *Scanner) Object(where string, v any) ([]Finding, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return s.Text(where, b), nil
}
