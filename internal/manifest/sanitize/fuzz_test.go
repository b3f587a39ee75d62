// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// FuzzObject holds two promises for any input: no panic, and sanitizing twice is sanitizing once.
func FuzzObject(f *testing.F) {
	stories, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(stories) == 0 {
		f.Fatal("no stories to seed with", err)
	}
	for _, name := range stories {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if raw, err := yaml.YAMLToJSON(file.Data); err == nil && strings.HasSuffix(file.Name, "/object.yaml") {
				f.Add(raw)
			}
		}
	}
	for _, seed := range []string{
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","labels":7,"annotations":[],"finalizers":[1,null]},"spec":[]}`,
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"template":{"metadata":{"labels":{"job-name":1}}}}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","managedFields":[{"fieldsV1":{"f:spec":{"f:ports":{"k:{":{},"k:{}":{},"k:{\"port\":[]}":{}}}}}]},"spec":{"ports":[{"port":[],"nodePort":{}},3]}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"[]"}},"data":{"n":1e999}}`,
	} {
		f.Add([]byte(seed))
	}
	s, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		neat, err := s.Neat(raw)
		if err != nil {
			return
		}
		if again, err := s.Neat(neat); err != nil || string(again) != string(neat) {
			t.Fatalf("neat twice: %v\n%s\n%s", err, neat, again)
		}
		o, err := s.Object(raw, typeIn(t, neat))
		if err != nil || o.Protected != "" {
			return
		}
		if !strings.HasPrefix(string(o.Desired), "{") {
			t.Fatalf("no object: %s", o.Desired)
		}
		again, err := s.Object(o.Desired, o.Type)
		if err != nil || again.Protected != "" || string(again.Desired) != string(o.Desired) {
			t.Fatalf("twice: %v %q\n%s\n%s", err, again.Protected, o.Desired, again.Desired)
		}
	})
}

func typeIn(t *testing.T, raw []byte) change.Type {
	v, err := compare.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	m := v.(map[string]any)
	ct := change.Type{Version: m["apiVersion"].(string), Kind: m["kind"].(string)}
	if group, version, ok := strings.Cut(ct.Version, "/"); ok {
		ct.Group, ct.Version = group, version
	}
	return ct
}
