// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// parsed is one kustomization file, independent of where it lies. Problems have no Path yet.
type parsed struct {
	Kustomization

	problems []Problem
	// named are the texts under refused fields that may be paths.
	named []string
	// foreign reports a file of this name that holds something else, such as a Flux Kustomization. Acceptance names it
	// (mixed-managed-allowlisted); to kustomize it is an error.
	foreign bool
}

const (
	group            = "kustomize.config.k8s.io"
	kustomizationAPI = group + "/v1beta1"
	componentAPI     = group + "/v1alpha1"
	kindRoot         = "Kustomization"
	kindComponent    = "Component"
)

// parse reads a kustomization as kustomize does, field fix-ups included, but stricter: what kustomize accepts and an
// edit could not keep (duplicate keys, another spelling of a key) is a problem too.
func parse(src []byte) *parsed {
	d := &decoder{out: &parsed{}}
	d.out.Kind = kindRoot
	if err := yamldoc.CheckAliases(src); err != nil {
		d.problem(0, "aliases", "its aliases cannot be expanded safely: "+err.Error(), "write the values out")
		return d.out
	}
	root := d.root(src)
	if root == nil {
		return d.out
	}
	h := yamldoc.ReadHead(root)
	if h.Name != "" && h.Kind != "" && (h.Group != group || h.Kind != kindRoot && h.Kind != kindComponent) {
		d.out.foreign = true
		return d.out
	}
	d.document(root, h)
	return d.out
}

// root returns the one mapping of the file.
func (d *decoder) root(src []byte) *yamldoc.Node {
	cut := yamldoc.Split(src)
	var root *yamldoc.Node
	for i := range cut.Docs {
		if cut.Docs[i].Empty {
			continue
		}
		base := 1 + strings.Count(string(src[:cut.Docs[i].Start]), "\n")
		n, err := yamldoc.Parse(cut.Body(src, i))
		if err != nil {
			line, msg := base, err.Error()
			var s *yamldoc.SyntaxError
			if errors.As(err, &s) {
				line, msg = base+max(s.Line, 1)-1, s.Msg
			}
			d.problem(line, "invalid YAML", "it cannot be parsed: "+msg, "correct the syntax")
			return nil
		}
		if root != nil {
			if h := yamldoc.ReadHead(n); h.Kind == "" || h.Name == "" {
				d.problem(base, "several documents", "it holds more than one document", "keep one document in the file")
			}
			continue
		}
		root, d.base = n, base
	}
	if root == nil {
		d.problem(1, "empty kustomization", "it is empty, which kustomize refuses", "add `resources: []`")
		return nil
	}
	if root.Kind != yamldoc.Map {
		d.problem(d.base, "invalid YAML", "it is no mapping", "write a kustomization")
		return nil
	}
	for _, z := range root.Hazards() {
		if z.Kind.WholeDocument() {
			d.problem(d.base+z.Line-1, string(z.Kind), fmt.Sprintf("%s at %s", z.Kind, z.Path),
				"write plain keys and values, every key once")
		}
	}
	return root
}

// decoder turns nodes into a parsed kustomization.
type decoder struct {
	out *parsed
	// base is the line of the document's first line in the file.
	base int
	used bool
}

func (d *decoder) problem(line int, construct, message, cure string) {
	d.out.problems = append(d.out.problems, Problem{
		Line: line, Construct: construct, Message: message, Cure: cure, Solvable: true,
	})
}

func (d *decoder) line(n *yamldoc.Node) int { return d.base + n.Line - 1 }

// wrong is kustomize's own refusal of a value's type.
func (d *decoder) wrong(n *yamldoc.Node, field, want string) {
	d.problem(d.line(n), "unparseable field", fmt.Sprintf("%s must be %s, but is %s", field, want, shape(n)),
		"correct or quote the value")
}

func shape(n *yamldoc.Node) string {
	switch {
	case n.Kind == yamldoc.Map:
		return "a mapping"
	case n.Kind == yamldoc.Seq:
		return "a list"
	case n.Tag == "!!str" && n.Style == yamldoc.Plain && yamldoc.Ambiguous(n.Value):
		return "a word some YAML readers take as a boolean"
	}
	return "of type " + strings.TrimPrefix(n.Tag, "!!")
}

func (d *decoder) document(root *yamldoc.Node, h yamldoc.Head) {
	if h.Kind == kindComponent {
		d.out.Kind = kindComponent
	}
	for _, p := range root.Pairs {
		if p.Merge() {
			d.problem(d.line(p.Key), "merge key", "its fields come from a merge key", "write the fields out")
			continue
		}
		d.field(p.Key, p.Value.Resolve())
	}
	if want := map[string]string{kindRoot: kustomizationAPI, kindComponent: componentAPI}[d.out.Kind]; h.Kind != "" &&
		h.Kind != kindRoot && h.Kind != kindComponent || h.APIVersion != "" && h.APIVersion != want {
		d.problem(d.base, "unparseable field", fmt.Sprintf("apiVersion %s and kind %s are no kustomization",
			h.APIVersion, h.Kind),
			fmt.Sprintf("write apiVersion: %s and kind: %s", want, d.out.Kind))
	}
	if !d.used {
		d.problem(d.base, "empty kustomization", "it has no field of its own, which kustomize refuses", "add `resources: []`")
	}
	slices.Sort(d.out.Transforms)
	d.out.Transforms = slices.Compact(d.out.Transforms)
}

// field decodes one field.
func (d *decoder) field(key, v *yamldoc.Node) {
	name := key.Value
	if v == nil || v.Kind == yamldoc.Scalar && v.Tag == "!!null" {
		if known(name) {
			return
		}
	}
	switch name {
	case "apiVersion", "kind":
		d.text(v, name)
		return
	case "metadata":
		d.formed(name, v)
		d.used = d.used || fills(name, v)
		return
	}
	d.used = d.used || fills(name, v)
	if r, ok := refused[name]; ok {
		if !zero(v) {
			p := Problem{Line: d.line(key), Construct: name, Message: r.message, Cure: r.cure}
			d.out.problems = append(d.out.problems, p)
			d.paths(v)
		}
		return
	}
	read, ok := supported[name]
	if !ok {
		d.unknown(key)
		return
	}
	if instead := deprecated[name]; instead != "" {
		d.out.Deprecated = append(d.out.Deprecated, Deprecated{Field: name, Instead: instead, Line: d.line(key)})
	}
	read(d, name, v)
}

// paths collects what a refused field may name: the inputs of generators (NAME=PATH too), patches and settings are no
// foreign files, whatever else stands against the field.
func (d *decoder) paths(v *yamldoc.Node) {
	switch v = v.Resolve(); {
	case v == nil:
	case v.Kind == yamldoc.Scalar && v.Tag == "!!str" && v.Value != "" && len(v.Value) < 1024 &&
		!strings.Contains(v.Value, "\n"):
		d.out.named = append(d.out.named, v.Value)
		if _, name, ok := strings.Cut(v.Value, "="); ok && name != "" {
			d.out.named = append(d.out.named, name)
		}
	default:
		for _, p := range v.Pairs {
			d.paths(p.Value)
		}
		for _, e := range v.Items {
			d.paths(e)
		}
	}
}

// fills reports whether a field keeps kustomize from calling the kustomization empty: an empty list or mapping does,
// an empty text does not, and fields that are folded into others count with those only.
func fills(name string, v *yamldoc.Node) bool {
	folded := name == "bases" || name == "imageTags" || name == "helmChartInflationGenerator"
	return v != nil && (v.Kind != yamldoc.Scalar && !folded || !zero(v))
}

func (d *decoder) unknown(key *yamldoc.Node) {
	for _, k := range knownFields() {
		if strings.EqualFold(k, key.Value) {
			d.problem(d.line(key), "unparseable field", fmt.Sprintf("field %q is spelled %q", key.Value, k),
				fmt.Sprintf("write %q", k))
			return
		}
	}
	for _, k := range knownFields() {
		if slip(k, key.Value) {
			d.problem(d.line(key), "unknown field", fmt.Sprintf("kustomize does not know the field %q", key.Value),
				fmt.Sprintf("write %q, if that is meant", k))
			return
		}
	}
	d.problem(d.line(key), "unknown field", fmt.Sprintf("kustomize does not know the field %q", key.Value),
		"remove the field; a comment or an annotation can hold the same text")
}

// slip reports whether a word is another one but for one letter too much, too little or wrong.
func slip(want, have string) bool {
	if len(want) < len(have) {
		want, have = have, want
	}
	if len(want)-len(have) > 1 || len(have) < 4 {
		return false
	}
	i := 0
	for i < len(have) && want[i] == have[i] {
		i++
	}
	return want[i+1:] == have[i+len(have)-len(want)+1:]
}

// zero reports a value that is as good as absent.
func zero(n *yamldoc.Node) bool {
	switch {
	case n == nil:
		return true
	case n.Kind == yamldoc.Map:
		return len(n.Pairs) == 0
	case n.Kind == yamldoc.Seq:
		return len(n.Items) == 0
	}
	return n.Value == "" || n.Tag == "!!null"
}

// text returns a string as kustomize's decoder takes it: a number or a boolean is an error there.
func (d *decoder) text(n *yamldoc.Node, field string) string {
	n = n.Resolve()
	if n == nil || n.Tag == "!!null" {
		return ""
	}
	plain := n.Kind == yamldoc.Scalar && n.Style == yamldoc.Plain
	if n.Kind != yamldoc.Scalar || n.Tag != "!!str" && n.Tag != "!!timestamp" || plain && boolWord(n.Value) {
		d.wrong(n, field, "text")
		return ""
	}
	return n.Value
}

// boolWord reports a plain word that kustomize's YAML reader takes as a boolean.
func boolWord(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false":
		return true
	}
	return false
}

func (d *decoder) list(n *yamldoc.Node, field string) []*yamldoc.Node {
	if n = n.Resolve(); n == nil || n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yamldoc.Seq {
		d.wrong(n, field, "a list")
		return nil
	}
	return n.Items
}

func (d *decoder) mapping(n *yamldoc.Node, field string) []yamldoc.Pair {
	if n = n.Resolve(); n == nil || n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yamldoc.Map {
		d.wrong(n, field, "a mapping")
		return nil
	}
	return n.Pairs
}
