// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// The built-in templates (git-writer 9.2).
const (
	DefaultLive = `chore: sync {{.Count}} resource{{if ne .Count 1}}s{{end}}
{{range .Resources}}
- [{{.Operation}}] {{.APIVersion}}/{{.Resource}}/{{.Namespace}}/{{.Name}}{{end}}
`
	DefaultReconcile = `chore: reconcile {{.Count}} {{if .Resource}}{{.Resource}}{{else}}resource{{if ne .Count 1}}s{{end}}{{end}}` +
		`{{with .Namespace}} in {{.}}{{end}}{{with .ResourceVersion}} (last resourceVersion: {{.}}){{end}}
`
)

// MaxLength bounds a rendered message in bytes; a longer one is cut at a line end. Git itself has no limit, hosts do.
const MaxLength = 64 << 10

// ClusterNamespace stands for the namespace of a cluster-scoped object in messages and paths.
const ClusterNamespace = "_cluster"

// Templates are the compiled messages of one GitTarget. The zero value uses the built-in ones.
type Templates struct {
	live, reconcile *template.Template
}

// Parse compiles and proves both templates; an empty text means the built-in one. The error names the field.
func Parse(live, reconcile string) (*Templates, error) {
	t := &Templates{}
	var errs []error
	var err error
	if t.live, err = compile("spec.commit.message.liveTemplate", live, DefaultLive, liveSamples()); err != nil {
		errs = append(errs, err)
	}
	if t.reconcile, err = compile("spec.commit.message.reconcileTemplate", reconcile, DefaultReconcile,
		reconcileSamples()); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return t, nil
}

func compile(field, text, fallback string, samples []any) (*template.Template, error) {
	if text == "" {
		text = fallback
	}
	tmpl, err := template.New(field).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s does not parse: %w", field, err)
	}
	for _, s := range samples {
		msg, err := render(tmpl, s)
		if err != nil {
			return nil, fmt.Errorf("%s fails on sample data: %w", field, err)
		}
		if strings.TrimSpace(msg) == "" {
			return nil, fmt.Errorf("%s gives an empty message on sample data; every commit needs one", field)
		}
	}
	return tmpl, nil
}

func render(t *template.Template, data any) (string, error) {
	b := &limitedBuilder{}
	if err := t.Execute(b, data); err != nil && !errors.Is(err, errTooLong) {
		return "", err
	}
	return Clean(b.String()), nil
}

var errTooLong = errors.New("message is longer than the limit")

type limitedBuilder struct{ strings.Builder }

func (b *limitedBuilder) Write(p []byte) (int, error) {
	if b.Len() > MaxLength {
		return 0, errTooLong
	}
	return b.Builder.Write(p)
}

// Clean makes a text safe as a commit message: valid UTF-8 without control characters but line feeds and tabs, within
// MaxLength, without blank ends, and with one line feed at its end.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "�")
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
	if len(s) > MaxLength {
		s = s[:MaxLength]
		if i := strings.LastIndexByte(s, '\n'); i > 0 {
			s = s[:i]
		}
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		s += "\n..."
	}
	s = strings.Trim(s, "\n")
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	return s + "\n"
}

// Live is the data of a live template. Fields are part of the API: see docs/gittargets.md.
type Live struct {
	// Author is the raw user name; empty when nobody is named.
	Author     string
	GitTarget  string
	Count      int
	Operations map[string]int
	Resources  []Resource
}

// LabelValues returns the distinct values of a label over all resources, sorted; absent ones are left out.
func (l Live) LabelValues(key string) []string {
	var out []string
	for _, r := range l.Resources {
		if v := r.Label(key); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// LabelValue returns the label's value when all resources that have it agree, else an empty string.
func (l Live) LabelValue(key string) string {
	if v := l.LabelValues(key); len(v) == 1 {
		return v[0]
	}
	return ""
}

// Resource is one entry of a live message.
type Resource struct {
	Operation, Group, Version, Resource, Kind, Namespace, Name string
	APIVersion                                                 string
	Labels                                                     map[string]string
	ResourceVersion                                            string
	Generation                                                 int64
}

// Label returns a label's value, or an empty string.
func (r Resource) Label(key string) string { return r.Labels[key] }

// Reconcile is the data of a reconcile template.
type Reconcile struct {
	Count                                           int
	GitTarget                                       string
	Group, Version, Resource, APIVersion, Namespace string
	ResourceVersion                                 string
}

// NewResource describes a changed object. labels may be nil; a DELETE carries neither kind nor labels.
func NewResource(op change.Operation, item *change.Item, labels map[string]string) Resource {
	r := Resource{
		Operation: string(op), Group: item.Type.Group, Version: item.Type.Version, Resource: item.Type.Resource,
		Kind: item.Object.Kind, Namespace: item.Object.Namespace, Name: item.Object.Name,
		APIVersion: item.Type.APIVersion(), Labels: labels,
		ResourceVersion: item.ResourceVersion, Generation: item.Generation,
	}
	if r.Namespace == "" {
		r.Namespace = ClusterNamespace
	}
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	if op == change.Delete {
		r.Kind, r.Labels = "", map[string]string{}
	}
	return r
}

// Live renders the message of a live window.
func (t *Templates) Live(d Live) (string, error) { return render(t.live, d) }

// Reconcile renders the message of a snapshot or an atomic write.
func (t *Templates) Reconcile(d Reconcile) (string, error) { return render(t.reconcile, d) }

func liveSamples() []any {
	one := Resource{
		Operation: "UPDATE", Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment",
		Namespace: "shop", Name: "web", APIVersion: "apps/v1", Labels: map[string]string{"team": "checkout"},
		ResourceVersion: "1234", Generation: 7,
	}
	plain := Resource{
		Operation: "CREATE", Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespace: "shop", Name: "config",
		APIVersion: "v1", Labels: map[string]string{}, ResourceVersion: "1235", Generation: 0,
	}
	gone := Resource{
		Operation: "DELETE", Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles",
		Namespace: ClusterNamespace, Name: "reader", APIVersion: "rbac.authorization.k8s.io/v1", Labels: map[string]string{},
	}
	live := func(author string, rs ...Resource) any {
		ops := map[string]int{"CREATE": 0, "UPDATE": 0, "DELETE": 0}
		for _, r := range rs {
			ops[r.Operation]++
		}
		return Live{Author: author, GitTarget: "live", Count: len(rs), Operations: ops, Resources: rs}
	}
	return []any{live("alice", one), live("alice", one, plain, gone), live("", plain), live("bob", gone)}
}

func reconcileSamples() []any {
	return []any{
		Reconcile{Count: 3, GitTarget: "live"},
		Reconcile{Count: 1, GitTarget: "live", Group: "apps", Version: "v1", Resource: "deployments", APIVersion: "apps/v1",
			Namespace: "shop", ResourceVersion: "1234"},
	}
}
