// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/kustomize/api/provider"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// apply merges a patch into one object as a build does.
func apply(object, patch map[string]any) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("the kustomize library panicked: %v", p)
		}
	}()
	f := provider.NewDefaultDepProvider().GetResourceFactory()
	res, err := f.FromBytes(compare.Canonical(object))
	if err != nil {
		return nil, err
	}
	pr, err := f.FromBytes(compare.Canonical(patch))
	if err != nil {
		return nil, err
	}
	if err := res.ApplySmPatch(pr); err != nil {
		return nil, err
	}
	if res.IsNilOrEmpty() {
		return nil, nil
	}
	raw, err := value(res.YNode())
	if err != nil {
		return nil, err
	}
	return compare.Decode(compare.Canonical(raw))
}

func parse(t *testing.T, s string) map[string]any {
	t.Helper()
	n, err := yamldoc.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	v, err := n.JSON()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.(map[string]any)
	return m
}

const boat = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: boat}\n"

// TestExtend checks what a patch says, and that kustomize's own merge of it gives live.
func TestExtend(t *testing.T) {
	for name, c := range map[string]struct{ head, base, live, want string }{
		"scalar":       {boat, "spec: {paused: false}", "spec: {paused: true}", "spec: {paused: true}"},
		"added map":    {boat, "spec: {}", "spec: {strategy: {type: Recreate}}", "spec: {strategy: {type: Recreate}}"},
		"removed":      {boat, "spec: {paused: true, x: 1}", "spec: {x: 1}", "spec: {paused: null}"},
		"env appended": {boat, pod("env: [{name: A, value: a}]"), pod("env: [{name: A, value: a}, {name: B, value: b}]"), web("env: [{name: A}, {name: B, value: b}]")},
		"env first":    {boat, pod("env: [{name: A, value: a}]"), pod("env: [{name: B, value: b}, {name: A, value: a}]"), web("env: [{name: B, value: b}]")},
		"env changed":  {boat, pod("env: [{name: A, value: a}, {name: B, value: b}]"), pod("env: [{name: A, value: c}, {name: B, value: b}]"), web("env: [{name: A, value: c}]")},
		"env gone":     {boat, pod("env: [{name: A, value: a}, {name: B, value: b}]"), pod("env: [{name: B, value: b}]"), web("env: [{name: A, $patch: delete}]")},
		"port by two keys": {
			boat, pod("ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}]"),
			pod("ports: [{containerPort: 80, protocol: TCP, name: web}, {containerPort: 80, protocol: UDP}]"),
			web("ports: [{containerPort: 80, protocol: TCP, name: web}]"),
		},
		"args are replaced": {boat, pod("args: [a, b]"), pod("args: [b]"), web("args: [b]")},
		"custom lists are replaced": {
			"apiVersion: x.test/v1\nkind: Boat\nmetadata: {name: boat}\n", "spec: {crew: [{name: a, n: 1}, {name: b, n: 1}]}",
			"spec: {crew: [{name: a, n: 2}, {name: b, n: 1}]}", "spec: {crew: [{name: a, n: 2}, {name: b, n: 1}]}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			base, live := parse(t, c.head+c.base), parse(t, c.head+c.live)
			got, err := Extend(parse(t, c.head), base, base, live)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(parse(t, c.head+c.want)))
			merged, err := apply(base, got)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(merged).To(Equal(any(live)))

			// Back again: the patch says nothing any more.
			absorbed, rest := Absorb(got, live, base)
			back, err := Extend(absorbed, base, live, rest)
			g.Expect(err).NotTo(HaveOccurred())
			merged, err = apply(base, back)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(merged).To(Equal(any(base)))
		})
	}
}

func web(container string) string {
	return "spec: {template: {spec: {containers: [{name: web, " + container + "}]}}}"
}

func pod(container string) string {
	return "spec: {template: {spec: {containers: [{name: web, " + container + "}, {name: side, image: s}]}}}"
}

// TestExtendRandomly grows one patch through random edits; each time kustomize's merge of base and patch gives live.
func TestExtendRandomly(t *testing.T) {
	g := NewWithT(t)
	r := rand.New(rand.NewPCG(7, 7))
	right, refused := 0, 0
	for range 300 {
		base := parse(t, boat+randomSpec(r))
		patch, rendered := parse(t, boat), base
		for range 4 {
			live := parse(t, boat+randomSpec(r))
			absorbed, rest := Absorb(patch, rendered, live)
			next, err := Extend(absorbed, base, rendered, rest)
			if err != nil {
				refused++
				continue
			}
			merged, err := apply(base, next)
			g.Expect(err).NotTo(HaveOccurred())
			if string(compare.Canonical(merged)) != string(compare.Canonical(live)) {
				refused++
				continue
			}
			right++
			patch, rendered = next, live
		}
	}
	t.Logf("%d of %d random edits fit into the patch, the oracle refuses the others", right, right+refused)
	g.Expect(refused).To(BeNumerically("<", right/5))
}

func randomSpec(r *rand.Rand) string {
	env := ""
	for _, i := range r.Perm(4)[:r.IntN(4)+1] {
		env += fmt.Sprintf("{name: E%d, value: v%d}, ", i, r.IntN(2))
	}
	extra := ""
	if r.IntN(2) == 0 {
		extra = fmt.Sprintf("paused: true, strategy: {type: Recreate, n: %d}, ", r.IntN(2))
	}
	return fmt.Sprintf("spec: {%stemplate: {spec: {containers: [{name: web, image: 'x:%d', args: [a%d], env: [%s]}]}}}",
		extra, r.IntN(3), r.IntN(3), env)
}

// TestForm writes the source form of edits behind a transformer that adds labels and a namespace.
func TestForm(t *testing.T) {
	for name, c := range map[string]struct{ src, rendered, live, want string }{
		"build's label stays out": {"a: {x: 1}", "a: {x: 1, l: b}", "a: {x: 2, l: b}", "a: {x: 2}"},
		"label removed live":      {"a: {x: 1}", "a: {x: 1, l: b}", "a: {x: 1}", "a: {x: 1}"},
		"all differ":              {"a: 1", "a: 2", "a: 3", "a: 3"},
		"unchanged":               {"a: 1", "a: 2", "a: 2", "a: 1"},
		"new field":               {"a: {}", "a: {l: b}", "a: {l: b, y: 1}", "a: {y: 1}"},
		"removed field":           {"a: {x: 1, y: 1}", "a: {x: 1, y: 1, l: b}", "a: {x: 1, l: b}", "a: {x: 1}"},
		"list by name": {
			"l: [{name: a, v: 1}, {name: b, v: 1}]", "l: [{name: a, v: 1, p: 1}, {name: b, v: 1, p: 1}]",
			"l: [{name: b, v: 1, p: 1}, {name: a, v: 2, p: 1}]", "l: [{name: b, v: 1}, {name: a, v: 2}]",
		},
		"item a patch deletes stays": {
			"l: [{name: a, v: 1}, {name: b, v: 1}]", "l: [{name: b, v: 1, p: 1}]", "l: [{name: b, v: 2, p: 1}]",
			"l: [{name: a, v: 1}, {name: b, v: 2}]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := Form(parse(t, c.src), parse(t, c.rendered), parse(t, c.live))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(any(parse(t, c.want))))
		})
	}
	g := NewWithT(t)
	_, err := Form(parse(t, "l: [1, 2]"), parse(t, "l: [1, 2, 3]"), parse(t, "l: [2, 3]"))
	g.Expect(err).To(MatchError(ContainSubstring("/l")))
}
