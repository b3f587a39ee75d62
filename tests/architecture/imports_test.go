// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package architecture holds the structure of the tree still: which package may import which.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const module = "github.com/configbutler/gitops-reverser"

// everywhere may be imported by every package of the module.
var everywhere = []string{"internal/change", "internal/mailbox", "internal/metrics", "internal/features"}

// allowed lists, per package (a trailing /... covers what lies below), the packages of this module it may import
// beside those of everywhere. docs/architecture.md explains the picture.
var allowed = map[string][]string{
	"internal/change":              {},
	"internal/mailbox":             {},
	"internal/metrics":             {},
	"internal/features":            {},
	"internal/rules":               {},
	"internal/claims":              {},
	"internal/manifest":            {},
	"internal/manifest/yamldoc":    {},
	"internal/manifest/compare":    {"internal/manifest/yamldoc"},
	"internal/manifest/sanitize":   {"internal/manifest/yamldoc", "internal/manifest/compare"},
	"internal/manifest/layout":     {"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare"},
	"internal/manifest/inventory":  {"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare", "internal/manifest/layout", "internal/manifest/inventory/..."},
	"internal/manifest/acceptance": {"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare", "internal/manifest/layout", "internal/manifest/inventory"},
	"internal/manifest/placement":  {"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare", "internal/manifest/layout", "internal/manifest/inventory"},
	"internal/manifest/yamledit":   {"internal/manifest/yamldoc", "internal/manifest/compare", "internal/manifest/yamledit/..."},
	"internal/manifest/render": {
		"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare", "internal/manifest/layout",
		"internal/manifest/inventory", "internal/manifest/yamledit", "internal/manifest/render/...",
	},
	"internal/manifest/plan": {"internal/manifest/..."},
	"internal/manifest/plan/...": {
		"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare", "internal/manifest/layout",
		"internal/manifest/inventory", "internal/manifest/placement", "internal/manifest/yamledit", "internal/manifest/render",
	},
	"internal/encryption":             {"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare", "internal/manifest/yamledit", "internal/manifest/plan", "internal/encryption/..."},
	"internal/gitauth":                {"internal/gitauth/..."},
	"internal/gitstore":               {"internal/gitstore/..."},
	"internal/branch/core":            {"internal/branch/core/..."},
	"internal/branch/core/...":        {"internal/branch/core/..."},
	"internal/branch/message":         {},
	"internal/branch/sim":             {"internal/branch/core"},
	"internal/branch":                 {"internal/branch/core", "internal/branch/message", "internal/manifest", "internal/manifest/plan", "internal/manifest/render", "internal/manifest/inventory", "internal/manifest/acceptance", "internal/manifest/placement", "internal/manifest/layout", "internal/gitstore", "internal/branch/core/..."},
	"internal/cluster":                {"internal/cluster/..."},
	"internal/watch":                  {"internal/cluster", "internal/manifest/sanitize", "internal/manifest/compare", "internal/watch/..."},
	"internal/audit":                  {},
	"internal/admission":              {},
	"internal/attribution":            {"internal/audit", "internal/admission"},
	"internal/applier/flux":           {},
	"internal/applier/argocd":         {},
	"internal/state":                  {"internal/watch", "internal/attribution", "internal/admission", "internal/encryption"},
	"internal/receiver":               {"*"},
	"internal/cli":                    {"*"},
	"internal/controller":             {"*"},
	"internal/controller/...":         {"*"},
	"internal/manifest/inventory/...": {"internal/manifest", "internal/manifest/yamldoc"},
	"internal/manifest/yamledit/...":  {"internal/manifest/yamldoc", "internal/manifest/compare"},
	"internal/manifest/render/...":    {"internal/manifest", "internal/manifest/yamldoc", "internal/manifest/compare"},
	"internal/gitstore/...":           {"internal/gitstore/..."},
	"internal/gitauth/...":            {"internal/gitauth/..."},
	"internal/encryption/...":         {"internal/manifest/yamldoc"},
	"internal/cluster/...":            {"internal/cluster/..."},
	"internal/watch/...":              {"internal/cluster", "internal/watch/..."},
	"internal/testshared":             {},
	"api/v1alpha3":                    {},
}

// forbidden lists foreign modules some packages must not reach directly, and who may.
var forbidden = []struct {
	name    string
	imports []string
	except  []string
}{
	{"only render builds kustomizations", []string{"sigs.k8s.io/kustomize"}, []string{"internal/manifest/render", "internal/manifest/render/..."}},
	{"only encryption seals", []string{"github.com/getsops/sops", "filippo.io/age"}, []string{"internal/encryption", "internal/encryption/..."}},
	{"only gitstore speaks Git", []string{"github.com/go-git"}, []string{"internal/gitstore", "internal/gitstore/..."}},
	{"gogit changes go-git's global capabilities", []string{"github.com/fluxcd/pkg/git/gogit"}, nil},
	{"only edges and the source connection know a cluster",
		[]string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"},
		[]string{".", "internal/cluster", "internal/cluster/...", "internal/watch", "internal/watch/...", "internal/controller", "internal/controller/...", "internal/cli", "internal/receiver", "internal/audit", "internal/admission", "internal/gitauth", "api/v1alpha3", "internal/applier/flux", "internal/applier/argocd"}},
}

// pure packages must not know time, I/O, the network or randomness. time itself is allowed for values, so the words
// that read the clock or start something are looked for by the linter and reviews.
var pure = map[string][]string{
	"internal/branch/core":         {"os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "sync"},
	"internal/manifest/yamledit":   {"os", "net/http", "math/rand", "crypto/rand"},
	"internal/manifest/plan":       {"os", "net/http", "math/rand", "crypto/rand"},
	"internal/manifest/plan/...":   {"os", "net/http", "math/rand", "crypto/rand"},
	"internal/manifest/inventory":  {"os", "net/http", "math/rand", "crypto/rand"},
	"internal/manifest/acceptance": {"os", "net/http", "math/rand", "crypto/rand"},
	"internal/manifest/placement":  {"os", "net/http", "math/rand", "crypto/rand"},
	"internal/manifest/sanitize":   {"os", "net/http", "math/rand", "crypto/rand"},
	"internal/claims":              {"os", "net/http"},
	"internal/rules":               {"os", "net/http"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func load(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/api/...", module+"/internal/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func match(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return p == "*" || p == name || strings.HasSuffix(p, "/...") && strings.HasPrefix(name+"/", strings.TrimSuffix(p, "..."))
	})
}

// ruleFor returns the most specific entry of allowed.
func ruleFor(name string) ([]string, bool) {
	if r, ok := allowed[name]; ok {
		return r, true
	}
	for d := name; d != "." && d != "/"; d = path.Dir(d) {
		if r, ok := allowed[d+"/..."]; ok {
			return r, true
		}
	}
	return nil, false
}

func TestImportArrows(t *testing.T) {
	g := NewWithT(t)
	pkgs := load(t)
	g.Expect(pkgs).NotTo(BeEmpty())
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		rule, ok := ruleFor(name)
		if !ok {
			t.Errorf("%s has no arrows: add it to this test and to docs/architecture.md", name)
			continue
		}
		for _, imp := range p.Imports {
			own, isOwn := strings.CutPrefix(imp, module+"/")
			switch {
			case isOwn && !match(everywhere, own) && !match(rule, own):
				t.Errorf("%s must not import %s", name, own)
			case isOwn && own == "api/v1alpha3" && !match([]string{"internal/controller/...", "internal/cli", "internal/receiver"}, name):
				t.Errorf("%s must not know the API: only edges do", name)
			case !isOwn:
				checkForeign(t, name, imp)
			}
		}
	}
}

func checkForeign(t *testing.T, name, imp string) {
	t.Helper()
	for _, f := range forbidden {
		for _, prefix := range f.imports {
			if (imp == prefix || strings.HasPrefix(imp, prefix+"/")) && !match(f.except, name) {
				t.Errorf("%s must not import %s: %s", name, imp, f.name)
			}
		}
	}
	for p, no := range pure {
		if (name == p || strings.HasPrefix(name, p+"/")) && slices.Contains(no, imp) {
			t.Errorf("%s is pure and must not import %s", name, imp)
		}
	}
	if strings.HasPrefix(name, "internal/manifest") && (strings.HasPrefix(imp, "k8s.io/client-go") || strings.HasPrefix(imp, "sigs.k8s.io/controller-runtime")) {
		t.Errorf("%s must not import %s: the manifest side knows no cluster", name, imp)
	}
}
