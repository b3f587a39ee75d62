// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// update rewrites the report sections of the stories with what the plans report; the files are never rewritten.
var update = flag.Bool("update", false, "rewrite the reports of the stories")

// TestStories runs every testdata/*.txtar. A story is a header of "key: value" options and these files:
//
//	in/PATH      the repository before
//	live/NAME    objects as they are in the cluster, sanitized; upserts in the order of the files
//	delete       one "Kind/namespace/name" per line: observed deletions
//	out/PATH     a file that must look so afterwards; every other file of in/ must be as it was
//	gone         one path per line that must not exist afterwards
//	sops-config  the .sops.yaml the target would write
//	report       "Outcome object path" lines, in order, and "issue KIND path: text" lines; text is a part of the message
//	message      one part of a refused object's message per line
//
// The option "rendered: DIR" builds that directory of the result with kustomize itself: it holds every live object as it
// is, and nothing else. A second batch on the result is written as live2/, delete2, out2/, gone2 and report2.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(b)
			runStory(t, a)
			if *update {
				if err := os.WriteFile(f, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type story struct {
	options map[string]string
	files   map[string][]byte
	order   []string
}

func parseStory(a *txtar.Archive) *story {
	s := &story{options: map[string]string{}, files: map[string][]byte{}}
	for line := range strings.Lines(string(a.Comment)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(k, "#") {
			s.options[k] = v
		}
	}
	for _, f := range a.Files {
		if s.options["crlf"] == "true" && strings.HasPrefix(f.Name, "in/") {
			f.Data = bytes.ReplaceAll(f.Data, []byte("\n"), []byte("\r\n"))
		}
		s.files[f.Name] = f.Data
		s.order = append(s.order, f.Name)
	}
	return s
}

func (s *story) tree(prefix string) map[string]manifest.File {
	out := map[string]manifest.File{}
	for name, b := range s.files {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			out[rest] = manifest.File{Content: b}
		}
	}
	return out
}

func runStory(t *testing.T, a *txtar.Archive) {
	t.Helper()
	g := NewWithT(t)
	s := parseStory(a)
	files := s.tree("in/")
	memo := render.NewMemo()
	for _, n := range []string{"", "2", "3"} {
		if n != "" && s.files["report"+n] == nil {
			break
		}
		r := s.request(t, files, n)
		r.Memo = memo
		before := memo.Stats()
		res, err := plan.Plan(context.Background(), r)
		g.Expect(err).NotTo(HaveOccurred())
		after := applyEdits(files, res.Edits)
		for _, i := range res.Issues {
			g.Expect(i.Cure).NotTo(BeEmpty(), "%s %s: a refusal names its cure: %s", i.Kind, i.Path, i.Message)
		}
		if *update {
			setReport(a, "report"+n, lines(res))
		} else {
			g.Expect(lines(res)).To(Equal(strings.TrimSpace(string(s.files["report"+n]))), "report"+n)
		}
		noIdleEdits(t, files, res)
		counted(t, &res.Report)
		s.check(t, n, files, after)
		s.messages(t, n, res)
		if dir, ok := s.options["rendered"]; ok {
			buildIsLive(t, after, dir, s.live(t, "live"+n+"/"))
		}
		if want, ok := s.options["builds"+n]; ok {
			st := memo.Stats()
			got := fmt.Sprintf("%d+%d", st.Builds-st.Marked-before.Builds+before.Marked, st.Marked-before.Marked)
			g.Expect(got).To(Equal(want), "builds, plain and marked")
		}
		again(t, r, res, files, after)
		files = after
	}
}

func setReport(a *txtar.Archive, name, text string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(text + "\n")
		}
	}
}

// again checks what holds for every plan: a replay on the same tree gives the same bytes, and the same batch on the
// result changes nothing.
func again(t *testing.T, r plan.Request, res *plan.Result, before, after map[string]manifest.File) {
	t.Helper()
	g := NewWithT(t)
	if len(res.Issues) > 0 || res.Decision == nil {
		return
	}
	replay := r
	replay.Decision, replay.Memo = res.Decision, nil
	again, err := plan.Plan(context.Background(), replay)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Issues).To(BeEmpty(), "replay")
	g.Expect(text(applyEdits(before, again.Edits))).To(Equal(text(after)), "replay")
	r.Tree, r.Memo = manifest.NewMemTree(after), nil
	second, err := plan.Plan(context.Background(), r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.Issues).To(BeEmpty(), "second time")
	g.Expect(text(applyEdits(after, second.Edits))).To(Equal(text(after)), "second time")
}

// noIdleEdits checks what no plan may do: write while it refuses, write the bytes that are there, write bootstrap files
// alone (scenarios 9, 32, 33 and 109).
func noIdleEdits(t *testing.T, files map[string]manifest.File, res *plan.Result) {
	t.Helper()
	g := NewWithT(t)
	if len(res.Issues) > 0 {
		g.Expect(res.Edits).To(BeEmpty(), "a refused flush writes nothing, bootstrap files neither")
		g.Expect(res.Decision).To(BeNil(), "a refused flush decides nothing")
	}
	real := 0
	for _, e := range res.Edits {
		f, ok := files[e.Path]
		switch {
		case e.Delete:
			g.Expect(ok).To(BeTrue(), "%s is deleted and was not there", e.Path)
		case ok:
			g.Expect(e.Content).NotTo(Equal(f.Content), "%s is written as it was", e.Path)
		}
		switch filepath.Base(e.Path) {
		case "README.md", ".gittargetignore", ".sops.yaml":
		default:
			real++
		}
	}
	g.Expect(real > 0 || len(res.Edits) == 0).To(BeTrue(), "no commit of bootstrap files alone")
}

// counted checks that the counts of a report are those of its objects: each is counted once, retained ones too
// (scenarios 59 and 107).
func counted(t *testing.T, r *plan.Report) {
	t.Helper()
	g := NewWithT(t)
	got := map[plan.Outcome]int{}
	seen := map[string]bool{}
	for _, o := range r.Objects {
		got[o.Outcome]++
		g.Expect(seen).NotTo(HaveKey(o.Object.String()), "each object is reported once")
		seen[o.Object.String()] = true
	}
	g.Expect([]int{r.Created, r.Updated, r.Deleted, r.Unchanged, r.Retained}).To(
		Equal([]int{got[plan.Created], got[plan.Updated], got[plan.Deleted], got[plan.Unchanged], got[plan.Retained]}))
}

func text(files map[string]manifest.File) map[string]string {
	out := map[string]string{}
	for n, f := range files {
		out[n] = string(f.Content)
	}
	return out
}

func (s *story) check(t *testing.T, n string, before, after map[string]manifest.File) {
	t.Helper()
	g := NewWithT(t)
	want := text(before)
	for name, b := range s.files {
		if rest, ok := strings.CutPrefix(name, "out"+n+"/"); ok {
			want[rest] = string(b)
		}
	}
	for _, name := range strings.Fields(string(s.files["gone"+n])) {
		g.Expect(want).To(HaveKey(name), "gone")
		delete(want, name)
	}
	got := text(after)
	if s.options["bootstrap"] != "show" {
		for _, f := range []string{"README.md", ".gittargetignore"} {
			p := strings.TrimPrefix(filepath.Join("/", s.options["path"], f), "/")
			if _, ok := want[p]; !ok {
				delete(got, p)
			}
		}
	}
	for name, w := range want {
		g.Expect(got).To(HaveKeyWithValue(name, w), name)
	}
	for name := range got {
		g.Expect(want).To(HaveKey(name), "written but not expected: %s\n%s", name, got[name])
	}
}

// messages checks what the refusals tell people.
func (s *story) messages(t *testing.T, n string, res *plan.Result) {
	t.Helper()
	var all []string
	for _, o := range res.Report.Refusals() {
		all = append(all, o.Message)
	}
	for part := range strings.Lines(string(s.files["message"+n])) {
		NewWithT(t).Expect(all).To(ContainElement(ContainSubstring(strings.TrimSpace(part))))
	}
}

// buildIsLive compares what kustomize makes of a directory with what is live.
func buildIsLive(t *testing.T, files map[string]manifest.File, dir string, live []change.Item) {
	t.Helper()
	g := NewWithT(t)
	disk := filesys.MakeFsInMemory()
	for name, f := range files {
		g.Expect(disk.WriteFile("/"+name, f.Content)).To(Succeed())
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, filepath.Join("/", dir))
	g.Expect(err).NotTo(HaveOccurred(), "kustomize build "+dir)
	var got, want []string
	for _, r := range built.Resources() {
		b, err := r.MarshalJSON()
		g.Expect(err).NotTo(HaveOccurred())
		v, err := compare.Decode(b)
		g.Expect(err).NotTo(HaveOccurred())
		got = append(got, string(compare.Canonical(v)))
	}
	for _, i := range live {
		want = append(want, string(i.Desired))
	}
	g.Expect(got).To(ConsistOf(want), "kustomize build "+dir+" gives what is live")
}

func applyEdits(files map[string]manifest.File, edits []plan.Edit) map[string]manifest.File {
	out := map[string]manifest.File{}
	for n, f := range files {
		out[n] = f
	}
	for _, e := range edits {
		if e.Delete {
			delete(out, e.Path)
		} else {
			out[e.Path] = manifest.File{Mode: e.Mode, Content: e.Content}
		}
	}
	return out
}

// lines is the report in the form of a story.
func lines(r *plan.Result) string {
	var out []string
	for _, o := range r.Report.Objects {
		l := fmt.Sprintf("%s %s %s", o.Outcome, o.Object, o.Path)
		if o.Reason != "" {
			l += " (" + o.Reason + ")"
		}
		if o.Source != "" && o.Outcome == plan.Created {
			l += " " + o.Source + " " + o.Disposition
		}
		out = append(out, strings.TrimSpace(l))
		for _, n := range o.Notes {
			out = append(out, "  note: "+n)
		}
	}
	for _, u := range r.Unreached {
		out = append(out, "unreached "+u)
	}
	for _, i := range r.Issues {
		out = append(out, fmt.Sprintf("issue %s %s: %s", i.Kind, i.Path, i.Message))
	}
	for _, d := range r.Divergences {
		out = append(out, fmt.Sprintf("divergence %s %s %s", d.Object, d.Field, d.Token))
	}
	return strings.Join(out, "\n")
}

// request builds the n-th batch of a story.
func (s *story) request(t *testing.T, files map[string]manifest.File, n string) plan.Request {
	t.Helper()
	r := plan.Request{Tree: manifest.NewMemTree(files), Path: s.options["path"], Kinds: kinds{}, Schemas: schemas{}}
	if r.Path == "" {
		r.Path = "."
	}
	p := &r.Policy
	p.Prune = plan.PruneMode(s.options["prune"])
	p.Placement = placement.Policy{
		ByType: map[string]string{}, Default: s.options["default"], UseKustomize: s.options["use-kustomize"] == "true",
	}
	for k, v := range s.options {
		if typ, ok := strings.CutPrefix(k, "by-type "); ok {
			p.Placement.ByType[typ] = v
		}
	}
	if v, ok := s.options["serialize-namespace"]; ok {
		b := v == "true"
		p.SerializeNamespace = &b
	}
	p.SourceNamespaces = strings.Fields(s.options["source-namespaces"])
	p.EscapeSubstitution = s.options["escape"] == "true"
	p.Suspended = s.options["suspended"] == "true"
	p.SOPSConfig = s.files["sops-config"]
	switch s.options["sealer"] {
	case "ready":
		r.Sealer = fakeSealer{}
	case "broken":
		r.Sealer = fakeSealer{err: errors.New("the key Secret is missing")}
	}
	items := s.live(t, "live"+n+"/")
	if spec, ok := s.options["snapshot"+n]; ok {
		r.Batch.Snapshot = snapshot(t, spec, items)
		return r
	}
	for _, i := range items {
		r.Batch.Changes = append(r.Batch.Changes, change.Change{Operation: change.Update, Item: i})
	}
	for _, l := range strings.Fields(string(s.files["delete"+n])) {
		r.Batch.Changes = append(r.Batch.Changes, deletion(t, l))
	}
	return r
}

func deletion(t *testing.T, l string) change.Change {
	t.Helper()
	parts := strings.Split(l, "/")
	typ, ok := kinds{}.Kind("", parts[0])
	if g, k, found := strings.Cut(parts[0], ":"); found {
		typ, ok = kinds{}.Kind(g, k)
	}
	if !ok {
		t.Fatalf("unknown kind in %q", l)
	}
	id := change.ObjectID{Group: typ.Group, Kind: typ.Kind, Namespace: parts[1], Name: parts[2]}
	return change.Change{Operation: change.Delete, Item: change.Item{Object: id, Type: typ}}
}

func snapshot(t *testing.T, spec string, items []change.Item) *change.Snapshot {
	t.Helper()
	f := strings.Fields(spec)
	group, kind, found := strings.Cut(f[0], ":")
	if !found {
		group, kind = "", f[0]
	}
	typ, ok := kinds{}.Kind(group, kind)
	if !ok {
		t.Fatalf("unknown kind in snapshot %q", spec)
	}
	s := &change.Snapshot{Type: typ, Cell: change.Cell{Group: typ.Group, Resource: typ.Resource}, Items: items}
	if len(f) > 1 {
		s.Cell.Namespace = f[1]
	}
	return s
}

func (s *story) live(t *testing.T, prefix string) []change.Item {
	t.Helper()
	var out []change.Item
	for _, name := range s.order {
		if strings.HasPrefix(name, prefix) {
			out = append(out, items(t, s.files[name])...)
		}
	}
	return out
}

// items turns YAML documents into sanitized items. Comments "# mask: /pointer" and "# unsure: /pointer" are its mask, and
// "# protected: rule" makes it an item without content.
func items(t *testing.T, b []byte) []change.Item {
	t.Helper()
	var out []change.Item
	f := yamldoc.Split(b)
	for i, d := range f.Docs {
		if d.Empty {
			continue
		}
		body := f.Body(b, i)
		n, err := yamldoc.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		v, err := n.JSON()
		if err != nil {
			t.Fatal(err)
		}
		h := yamldoc.ReadHead(n)
		typ, ok := kinds{}.Kind(h.Group, h.Kind)
		if !ok {
			t.Fatalf("unknown kind %s/%s", h.Group, h.Kind)
		}
		typ.Version = h.Version
		it := change.Item{
			Object: change.ObjectID{Group: h.Group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}, Type: typ,
			UID: "uid-" + h.Name, Desired: compare.Canonical(v),
		}
		for line := range strings.Lines(string(body)) {
			if m, ok := strings.CutPrefix(strings.TrimSpace(line), "# mask: "); ok {
				it.Mask.Keep = append(it.Mask.Keep, m)
			}
			if m, ok := strings.CutPrefix(strings.TrimSpace(line), "# unsure: "); ok {
				it.Mask.Unsure = append(it.Mask.Unsure, m)
			}
			if m, ok := strings.CutPrefix(strings.TrimSpace(line), "# protected: "); ok {
				it.Protected, it.Desired = m, nil
			}
		}
		out = append(out, it)
	}
	return out
}

// kinds is a small cluster.
type kinds struct{}

var served = []change.Type{
	{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
	{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true},
	{Version: "v1", Kind: "Service", Resource: "services", Namespaced: true},
	{Version: "v1", Kind: "Namespace", Resource: "namespaces"},
	{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets", Namespaced: true},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Resource: "clusterroles"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Resource: "ingresses", Namespaced: true},
	{Group: "cert-manager.io", Version: "v1", Kind: "ClusterIssuer", Resource: "clusterissuers"},
	{Group: "x.test", Version: "v1", Kind: "Database", Resource: "databases", Namespaced: true},
}

func (kinds) Kind(group, kind string) (change.Type, bool) {
	i := slices.IndexFunc(served, func(t change.Type) bool { return t.Kind == kind && (t.Group == group || group == "") })
	if i < 0 {
		return change.Type{}, false
	}
	return served[i], served[i].Group == group || group == ""
}

// schemas knows no fields, and that x.test and cert-manager.io are custom.
type schemas struct{}

func (schemas) Schema(string, string, string) *change.Schema { return nil }
func (schemas) BuiltIn(group string) bool {
	return !strings.Contains(group, "test") && group != "cert-manager.io"
}

// fakeSealer marks what real encryption hides: the data values, reversed. It is deterministic, as a warm cache is.
type fakeSealer struct{ err error }

func (f fakeSealer) Ready() error { return f.err }

func (f fakeSealer) Seal(_ context.Context, r plan.SealRequest) (plan.SealResult, error) {
	v, err := compare.Decode(r.Desired)
	if err != nil {
		return plan.SealResult{}, err
	}
	m := v.(map[string]any)
	data, _ := m["data"].(map[string]any)
	for k, e := range data {
		b := []byte(fmt.Sprint(e))
		slices.Reverse(b)
		data[k] = "ENC[" + string(b) + "]"
	}
	if m["type"] == "refuse" {
		return plan.SealResult{}, errors.New("a label holds a value of the object")
	}
	m["sops"] = map[string]any{"version": "3.13.3", "rules": r.RulesPath}
	doc, err := emit(m)
	if err != nil {
		return plan.SealResult{}, err
	}
	if bytes.Equal(doc, r.Existing) {
		return plan.SealResult{Document: r.Existing, Outcome: plan.SealUnchanged}, nil
	}
	return plan.SealResult{Document: doc, Outcome: plan.SealEncrypted}, nil
}
