// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// Revision counts the changes of what sanitizing gives for the same object. Whoever stores a digest of a desired
// document stores it too.
const Revision = 1

// Object is a sanitized live object.
type Object struct {
	change.Item
	// Terminating reports a deletionTimestamp: such an object is never written; its deletion arrives as DELETE.
	Terminating bool
	// Owner is the first of Owners; nil without.
	Owner *Applier
	// Owners are the appliers whose marks the raw object carries.
	Owners []Applier
	// Labels are the object's labels as they are in the document; nil without.
	Labels map[string]string
	// Rules names the noise rules that skipped the object or masked something in it, in the order of evaluation.
	Rules []string
}

// Sanitizer sanitizes objects for one GitTarget. It is safe for concurrent use.
type Sanitizer struct {
	off   map[string]bool
	rules []rule
}

// Object turns the raw JSON of a live object into its desired form. The raw bytes are not modified. apiVersion and
// kind may be missing, as they are in the items of a list. A protected object has no document and no mask. Errors name
// the object and never hold values.
func (s *Sanitizer) Object(raw []byte, t change.Type) (Object, error) {
	w, err := open(raw, t)
	if err != nil {
		return Object{}, err
	}
	out := Object{Terminating: w.facts.terminating, Owners: w.appliers()}
	if len(out.Owners) > 0 {
		out.Owner = &out.Owners[0]
	}
	out.Item = change.Item{
		Object:          change.ObjectID{Group: t.Group, Kind: t.Kind, Namespace: w.namespace, Name: w.name},
		Type:            t,
		UID:             text(w.meta["uid"]),
		ResourceVersion: text(w.meta["resourceVersion"]),
		Generation:      integer(w.meta["generation"]),
	}
	out.Rules = s.clean(w)
	out.Labels = textMap(w.meta["labels"])
	if out.Protected = s.skip(w); out.Protected != "" {
		out.Rules = []string{out.Protected}
		return out, nil
	}
	out.Mask = w.mask.settled()
	out.Desired = compare.Canonical(w.obj)
	return out, nil
}

// Neat returns the document that a new file would hold for a live object whose served type is not known, as compact
// JSON: values the system allocated and fields a noise rule masks are left out. Rules that skip objects do not apply,
// and neither do rules bound to resources.
func (s *Sanitizer) Neat(raw []byte) ([]byte, error) {
	w, err := open(raw, change.Type{})
	if err != nil {
		return nil, err
	}
	s.clean(w)
	for i := 0; i < len(w.mask.ifPresent); i++ { // a cut may add the map it emptied
		w.cut(w.mask.ifPresent[i])
	}
	return compare.Canonical(w.obj), nil
}

// clean makes the document and its mask, and returns the names of the rules that masked something. Items of lists go
// before any pointer is made, since that moves the ones behind them.
func (s *Sanitizer) clean(w *work) []string {
	w.strip()
	for _, r := range s.rules {
		if len(r.managers) > 0 && r.matches(w) {
			w.dropItems(r)
		}
	}
	w.kind()
	return s.mask(w)
}

// work is one object on its way through.
type work struct {
	obj, meta       map[string]any
	t               change.Type
	namespace, name string
	facts           facts
	own             ownership
	mask            paths
}

// facts are what the raw object says and the document does not.
type facts struct {
	labels, annotations map[string]string
	// controlled reports an owner reference with controller set.
	controlled  bool
	terminating bool
	// live reports an object that an API server has stored, in contrast to a manifest.
	live bool
}

// open decodes an object and reads everything of it that the document will not hold. The zero type stands for the
// object's own.
func open(raw []byte, t change.Type) (*work, error) {
	decoded, err := compare.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("object of type %s is not JSON", typeName(t))
	}
	obj, ok := decoded.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("object of type %s is not a JSON object", typeName(t))
	}
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("object of type %s has no metadata", typeName(t))
	}
	w := &work{obj: obj, meta: meta, t: t, namespace: text(meta["namespace"]), name: text(meta["name"])}
	if w.name == "" {
		return nil, fmt.Errorf("object of type %s has no name", typeName(t))
	}
	if err := w.settleType(); err != nil {
		return nil, fmt.Errorf("%s %s: %w", typeName(t), strings.TrimPrefix(w.namespace+"/"+w.name, "/"), err)
	}
	w.facts = facts{
		labels:      textMap(meta["labels"]),
		annotations: textMap(meta["annotations"]),
		controlled:  controlled(meta["ownerReferences"]),
		terminating: meta["deletionTimestamp"] != nil,
	}
	w.own = readOwnership(meta, w.facts.annotations)
	for _, k := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		w.facts.live = w.facts.live || meta[k] != nil
	}
	return w, nil
}

// settleType fills in what a list leaves out, and refuses an object of another type.
func (w *work) settleType() error {
	apiVersion, kind := text(w.obj["apiVersion"]), text(w.obj["kind"])
	group, version := "", apiVersion
	if g, v, ok := strings.Cut(apiVersion, "/"); ok {
		group, version = g, v
	}
	if w.t == (change.Type{}) {
		if apiVersion == "" || kind == "" {
			return errors.New("apiVersion and kind must be set")
		}
		w.t = change.Type{Group: group, Version: version, Kind: kind}
		return nil
	}
	if apiVersion == "" {
		w.obj["apiVersion"] = w.t.APIVersion()
	} else if group != w.t.Group {
		return errors.New("the object is of another API group")
	}
	if kind == "" {
		w.obj["kind"] = w.t.Kind
	} else if kind != w.t.Kind {
		return errors.New("the object is of another kind")
	}
	return nil
}

// is reports the type, in any version.
func (w *work) is(group, kind string) bool { return w.t.Group == group && w.t.Kind == kind }

// at returns the map at a path of fields; nil when there is none.
func (w *work) at(fields ...string) map[string]any {
	m := w.obj
	for _, f := range fields {
		m, _ = m[f].(map[string]any)
	}
	return m
}

func typeName(t change.Type) string {
	if t == (change.Type{}) {
		return "unknown"
	}
	return t.APIVersion() + " " + t.Kind
}

func controlled(refs any) bool {
	list, _ := refs.([]any)
	return slices.ContainsFunc(list, func(r any) bool {
		m, _ := r.(map[string]any)
		return m["controller"] == true
	})
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}

// textMap returns the string entries of a map; nil when there are none.
func textMap(v any) map[string]string {
	m, _ := v.(map[string]any)
	var out map[string]string
	for k, e := range m {
		if s, ok := e.(string); ok {
			if out == nil {
				out = make(map[string]string, len(m))
			}
			out[k] = s
		}
	}
	return out
}
