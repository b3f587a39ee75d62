// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// TestRandomFolders plans random changes of random folders (plain, one root, an overlay over a base inside or outside the
// folder, two overlays over one base; with namespace, labels, images, replicas and patches) and checks what must hold for
// every plan, with a render of its own. RANDOM_FOLDERS and RANDOM_SEED make longer runs.
func TestRandomFolders(t *testing.T) {
	n, seed := 150, 1
	if v, err := strconv.Atoi(os.Getenv("RANDOM_FOLDERS")); err == nil {
		n = v
	}
	if v, err := strconv.Atoi(os.Getenv("RANDOM_SEED")); err == nil {
		seed = v
	}
	counts := map[string]int{}
	for i := range n {
		w := newWorld(uint64(seed + i))
		if err := w.play(t); err != nil {
			t.Fatalf("RANDOM_SEED=%d RANDOM_FOLDERS=1: %v\n%s", seed+i, err, w.describe())
		}
		for k, v := range w.outcomes {
			counts[k] += v
		}
	}
	t.Log(counts)
	for _, want := range []string{"Updated", "Created", "Deleted", "Unchanged"} {
		if counts[want] == 0 {
			t.Errorf("no object was %s", want)
		}
	}
}

type world struct {
	r        *rand.Rand
	files    map[string]string
	path     string
	roots    []string
	live     map[change.ObjectID]map[string]any
	before   map[change.ObjectID]map[string]any
	use      bool
	outcomes map[string]int
	res      *plan.Result
	memo     *render.Memo
}

func (w *world) chance(n int) bool { return w.r.IntN(n) == 0 }

func pick[T any](w *world, from ...T) T { return from[w.r.IntN(len(from))] }

func newWorld(seed uint64) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 7)), files: map[string]string{}, path: ".", outcomes: map[string]int{}}
	w.use = w.chance(2)
	switch w.r.IntN(6) {
	case 0:
		w.documents("", false)
	case 1:
		w.kustomization("", w.documents("", true))
		w.roots = []string{""}
	case 2:
		w.kustomization("base", w.documents("base", true))
		w.kustomization("over", []string{"../base"})
		w.roots = []string{"over"}
	case 3:
		w.kustomization("base", w.documents("base", true))
		w.kustomization("over", append([]string{"../base"}, w.documents("over", true)...))
		w.path, w.roots = "over", []string{"over"}
	case 4:
		w.kustomization("base", w.documents("base", true))
		w.kustomization("one", []string{"../base"})
		w.kustomization("two", []string{"../base"})
		w.files["one/kustomization.yaml"] += "namespace: one\n"
		w.files["two/kustomization.yaml"] += "namespace: two\n"
		w.roots = []string{"one", "two"}
	case 5:
		w.kustomization("base", w.documents("base", true))
		w.kustomization("mid", []string{"../base"})
		w.kustomization("over", []string{"../mid"})
		w.path, w.roots = pick(w, ".", "over"), []string{"over"}
	}
	return w
}

var names = []string{"a", "b", "c"}

// documents writes manifests of a directory and returns their entries. Names in base and over differ, so that no build
// has two of one.
func (w *world) documents(dir string, rooted bool) []string {
	var entries []string
	seen := map[string]bool{}
	for i := range 1 + w.r.IntN(3) {
		file := fmt.Sprintf("f%d.yaml", i)
		if w.chance(4) {
			file = fmt.Sprintf("sub/f%d.yaml", i)
		}
		var docs []string
		for range 1 + w.r.IntN(2) {
			kind, name := pick(w, "Deployment", "ConfigMap", "Service", "Database"), dir+pick(w, names...)
			if seen[kind+name] {
				continue
			}
			seen[kind+name] = true
			docs = append(docs, w.document(kind, name))
		}
		if len(docs) == 0 {
			continue
		}
		w.files[path.Join(dir, file)] = strings.Join(docs, "---\n")
		entries = append(entries, file)
	}
	if !rooted {
		return nil
	}
	return entries
}

func (w *world) document(kind, name string) string {
	ns := "  namespace: dock # where\n"
	head := "# about " + kind + " " + name + "\n"
	meta := "metadata:\n  name: " + name + "\n" + ns
	if w.chance(2) {
		meta += "  labels: {app: " + name + "} # label\n"
	}
	switch kind {
	case "ConfigMap":
		return head + "apiVersion: v1\nkind: ConfigMap\n" + meta + "data:\n  level: info # level\n\n  text: |\n    one\n    two\n"
	case "Service":
		return head + "apiVersion: v1\nkind: Service\n" + meta + "spec:\n  ports:\n  - {name: http, port: 80} # web\n  - name: admin\n    port: 90\n"
	case "Database":
		return head + "apiVersion: x.test/v1\nkind: Database\n" + meta + "spec: {size: 1, image: {repository: x/db}, tags: [a, b], rules: [{from: [a]}, {from: [b], to: {x: 1}}]}\n"
	}
	replicas := ""
	if w.chance(2) {
		replicas = "  replicas: 2 # two\n"
	}
	return head + "apiVersion: apps/v1\nkind: Deployment\n" + meta + "spec:\n" + replicas + "  template:\n    spec:\n      containers:\n" +
		"      # main\n      - name: web\n        image: x/web" + pick(w, "", ":1") + " # web image\n        env:\n        - {name: A, value: a}\n" +
		"      - name: side\n        image: " + pick(w, "x/side:1", "x/web") + "\n"
}

func (w *world) kustomization(dir string, resources []string) {
	var b strings.Builder
	b.WriteString("# kustomization of " + dir + "\nresources:\n")
	for _, r := range resources {
		b.WriteString("- " + r + "\n")
	}
	if len(resources) == 0 {
		return
	}
	if w.chance(3) {
		b.WriteString("labels:\n- pairs: {env: " + "e" + dir + "}\n")
	}
	if w.chance(3) {
		b.WriteString("images:\n- name: x/web\n  newTag: \"" + pick(w, "1", "7") + "\" # pinned in " + dir + "\n")
	}
	objects := w.objectsBelow(dir, resources)
	if d := slices.IndexFunc(objects, func(h yamldoc.Head) bool { return h.Kind == "Deployment" }); d >= 0 && w.chance(3) {
		b.WriteString("replicas:\n- name: " + objects[d].Name + "\n  count: 3 # count\n")
	}
	if len(objects) > 0 && w.chance(3) {
		h := objects[w.r.IntN(len(objects))]
		w.files[path.Join(dir, "patch.yaml")] = "# patch in " + dir + "\napiVersion: " + h.APIVersion + "\nkind: " + h.Kind +
			"\nmetadata: {name: " + h.Name + ", namespace: dock}\n" + w.patch(h.Kind)
		b.WriteString("patches:\n- path: patch.yaml\n")
	}
	w.files[path.Join(dir, "kustomization.yaml")] = b.String()
}

func (w *world) patch(kind string) string {
	switch kind {
	case "ConfigMap":
		return "data: {level: " + pick(w, "patched", "info") + ", more: x} # patched\n"
	case "Service":
		return "spec: {ports: [{name: admin, port: 90, targetPort: 9}]}\n"
	case "Database":
		return "spec: {size: 5} # patched\n"
	}
	return "spec: {template: {spec: {containers: [{name: web, env: [{name: A, value: p}, {name: P, value: q}]}]}}}\n"
}

// objectsBelow are the objects a kustomization reads.
func (w *world) objectsBelow(dir string, resources []string) []yamldoc.Head {
	var out []yamldoc.Head
	for _, r := range resources {
		full := path.Join(dir, r)
		if b, ok := w.files[full]; ok {
			f := yamldoc.Split([]byte(b))
			for i := range f.Docs {
				if n, err := yamldoc.Parse(f.Body([]byte(b), i)); err == nil && n != nil {
					out = append(out, yamldoc.ReadHead(n))
				}
			}
			continue
		}
		var below []string
		for name := range w.files {
			if rest, ok := strings.CutPrefix(name, full+"/"); ok && !strings.HasPrefix(path.Base(rest), "kustomization") && rest != "patch.yaml" {
				below = append(below, rest)
			}
		}
		slices.Sort(below)
		out = append(out, w.objectsBelow(full, below)...)
	}
	return out
}

func (w *world) tree() map[string]manifest.File { return tree(w.files) }

// objects is what the folder gives, by a render of its own; false when it does not build.
func (w *world) objects(files map[string]manifest.File) (map[change.ObjectID]map[string]any, error) {
	out := map[change.ObjectID]map[string]any{}
	t := manifest.NewMemTree(files)
	for _, r := range w.roots {
		b, err := render.NewMemo().Build(r, render.NewOverlay(t))
		if err != nil {
			return nil, err
		}
		for _, o := range b.Objects {
			v, err := o.Value()
			if err != nil {
				return nil, err
			}
			out[change.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = v.(map[string]any)
		}
	}
	if len(w.roots) > 0 {
		return out, nil
	}
	for _, f := range files {
		cut := yamldoc.Split(f.Content)
		for i := range cut.Docs {
			n, err := yamldoc.Parse(cut.Body(f.Content, i))
			if err != nil || n == nil {
				continue
			}
			v, err := n.JSON()
			if err != nil {
				return nil, err
			}
			if h := yamldoc.ReadHead(n); h.Kind != "" {
				out[change.ObjectID{Group: h.Group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}] = v.(map[string]any)
			}
		}
	}
	return out, nil
}

func (w *world) play(t *testing.T) error {
	before, err := w.objects(w.tree())
	if err != nil {
		return nil //nolint:nilerr // the generator made what does not build; plan refuses it, which other tests prove
	}
	w.before = before
	w.live = map[change.ObjectID]map[string]any{}
	var batch plan.Batch
	ids := slices.SortedFunc(maps.Keys(before), change.ObjectID.Compare)
	for _, id := range ids {
		switch w.r.IntN(5) {
		case 0:
			batch.Changes = append(batch.Changes, change.Change{Operation: change.Delete, Item: change.Item{Object: id, Type: typeOf(id)}})
			w.live[id] = nil
		case 1, 2:
			v := clone(before[id])
			for range 1 + w.r.IntN(2) {
				w.mutate(id.Kind, v)
			}
			w.live[id] = v
		case 3:
			w.live[id] = clone(before[id])
		default:
			continue
		}
		if w.live[id] != nil {
			batch.Changes = append(batch.Changes, w.update(id))
		}
	}
	if w.chance(3) && len(w.roots) < 2 {
		id := change.ObjectID{Kind: "ConfigMap", Namespace: "dock", Name: "fresh"}
		w.live[id] = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "fresh", "namespace": "dock"},
			"data": map[string]any{"k": "v"}}
		batch.Changes = append(batch.Changes, w.update(id))
	}
	if len(batch.Changes) == 0 {
		return nil
	}
	var prune plan.PruneMode
	if w.chance(4) {
		prune, batch = plan.PruneAlways, plan.Batch{Snapshot: w.snapshot(ids)}
	}
	r := plan.Request{Tree: manifest.NewMemTree(w.tree()), Path: w.path, Kinds: kinds{}, Schemas: schemas{}, Batch: batch}
	r.Policy.Placement.UseKustomize, r.Policy.Prune = w.use, prune
	w.memo = render.NewMemo()
	r.Memo = w.memo
	if w.res, err = plan.Plan(t.Context(), r); err != nil {
		return err
	}
	r.Memo = nil
	return w.check(t, r)
}

// snapshot turns the live state of one kind into a complete snapshot; the others are not asked about.
func (w *world) snapshot(ids []change.ObjectID) *change.Snapshot {
	kind := pick(w, ids...).Kind
	s := &change.Snapshot{}
	for _, id := range slices.SortedFunc(maps.Keys(w.live), change.ObjectID.Compare) {
		if id.Kind != kind {
			delete(w.live, id)
		}
	}
	for _, id := range ids {
		if id.Kind != kind {
			continue
		}
		s.Type = typeOf(id)
		if _, ok := w.live[id]; !ok {
			w.live[id] = clone(w.before[id])
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.live), change.ObjectID.Compare) {
		if s.Type = typeOf(id); w.live[id] != nil {
			s.Items = append(s.Items, w.update(id).Item)
		}
	}
	s.Cell = change.Cell{Group: s.Type.Group, Resource: s.Type.Resource}
	w.outcomes["snapshot"]++
	return s
}

func (w *world) update(id change.ObjectID) change.Change {
	return change.Change{Operation: change.Update, Item: change.Item{Object: id, Type: typeOf(id), Desired: compare.Canonical(w.live[id])}}
}

func typeOf(id change.ObjectID) change.Type {
	t, _ := kinds{}.Kind(id.Group, id.Kind)
	return t
}

func clone(v map[string]any) map[string]any {
	c, err := compare.Decode(compare.Canonical(v))
	if err != nil {
		panic(err)
	}
	return c.(map[string]any)
}

func at(v map[string]any, fields ...string) map[string]any {
	for _, f := range fields {
		next, ok := v[f].(map[string]any)
		if !ok {
			next = map[string]any{}
			v[f] = next
		}
		v = next
	}
	return v
}

// mutate is one change of a live object.
func (w *world) mutate(kind string, v map[string]any) {
	if w.chance(4) {
		at(v, "metadata", "annotations")["note"] = pick(w, "x", "y", "yes")
		return
	}
	if labels := at(v, "metadata"); w.chance(6) {
		delete(labels, "labels")
		return
	}
	switch kind {
	case "ConfigMap":
		data := at(v, "data")
		switch w.r.IntN(4) {
		case 0:
			data["level"] = pick(w, "debug", "no", "1")
		case 1:
			data["text"] = "one\nthree\n"
		case 2:
			delete(data, "level")
		default:
			data["new"] = "a: b"
		}
	case "Service":
		ports, _ := at(v, "spec")["ports"].([]any)
		switch w.r.IntN(3) {
		case 0:
			at(v, "spec")["ports"] = append(ports, map[string]any{"name": "x", "port": int64(70)})
		case 1:
			at(v, "spec")["ports"] = ports[:1]
		default:
			ports[0].(map[string]any)["targetPort"] = int64(8080)
		}
	case "Database":
		rules, _ := at(v, "spec")["rules"].([]any)
		switch w.r.IntN(6) {
		case 3:
			at(v, "spec")["rules"] = append(rules, map[string]any{"from": []any{"c"}})
		case 4:
			at(v, "spec")["rules"] = rules[1:]
		case 5:
			at(v, "spec")["rules"] = []any{map[string]any{"to": map[string]any{}}, map[string]any{"from": []any{"a"}}, map[string]any{}}
		case 0:
			at(v, "spec")["size"] = int64(9)
		case 1:
			at(v, "spec")["tags"] = []any{"b", "a", "c"}
		default:
			at(v, "spec", "image")["tag"] = "11"
		}
	default:
		list, _ := at(v, "spec", "template", "spec")["containers"].([]any)
		first := list[w.r.IntN(len(list))].(map[string]any)
		switch w.r.IntN(6) {
		case 0:
			at(v, "spec")["replicas"] = int64(5)
		case 1:
			first["image"] = pick(w, "x/web:9", "x/web", "y/other:2", "x/web@sha256:"+strings.Repeat("a", 64))
		case 2:
			env, _ := first["env"].([]any)
			first["env"] = append(env, map[string]any{"name": "N", "value": "1"})
		case 3:
			delete(first, "env")
		case 4:
			at(v, "spec", "template", "spec")["containers"] = append(list, map[string]any{"name": "new", "image": pick(w, "x/new:1", "x/web:1")})
		default:
			slices.Reverse(list)
		}
	}
}

// check holds the plan against what must be true for every plan.
func (w *world) check(t *testing.T, r plan.Request) error {
	for _, o := range w.res.Report.Objects {
		w.outcomes[string(o.Outcome)]++
	}
	if len(w.res.Issues) > 0 {
		w.outcomes["issue "+string(w.res.Issues[0].Kind)]++
		if len(w.res.Edits) > 0 || w.res.Decision != nil {
			return fmt.Errorf("a refused flush has edits")
		}
		return nil
	}
	for _, e := range w.res.Edits {
		if w.path != "." && !strings.HasPrefix(e.Path, w.path+"/") {
			return fmt.Errorf("%s is outside the folder", e.Path)
		}
	}
	files := applyEdits(w.tree(), w.res.Edits)
	after, err := w.objects(files)
	if err != nil {
		return fmt.Errorf("the result does not build: %w", err)
	}
	if err := w.outcome(after); err != nil {
		return err
	}
	for id, v := range w.before {
		if _, asked := w.live[id]; !asked && string(compare.Canonical(v)) != string(compare.Canonical(after[id])) {
			return fmt.Errorf("%s moved, and nobody asked for it", id)
		}
	}
	if err := w.comments(files); err != nil {
		return err
	}
	return w.again(t, r, files)
}

// outcome compares what the report says with what the folder gives.
func (w *world) outcome(after map[change.ObjectID]map[string]any) error {
	for _, o := range w.res.Report.Objects {
		live, was, is := w.live[o.Object], w.before[o.Object], after[o.Object]
		opts := compare.Options{BuiltIn: schemas{}.BuiltIn(o.Object.Group)}
		switch o.Outcome {
		case plan.Updated, plan.Created, plan.Unchanged:
			if live == nil && is != nil || live != nil && (is == nil || !compare.Equal(any(is), any(live), opts)) {
				return fmt.Errorf("%s is reported %s, and the folder gives\n%s\nfor\n%s", o.Object, o.Outcome, compare.Canonical(is), compare.Canonical(live))
			}
		case plan.Deleted:
			if is != nil {
				return fmt.Errorf("%s is reported deleted and is still there", o.Object)
			}
		case plan.Refused:
			if string(compare.Canonical(is)) != string(compare.Canonical(was)) {
				return fmt.Errorf("%s is reported refused and changed", o.Object)
			}
		}
	}
	return nil
}

// comments: a comment line of a file goes only with its document.
func (w *world) comments(files map[string]manifest.File) error {
	for name, old := range w.files {
		f, ok := files[name]
		if !ok {
			continue
		}
		for line := range strings.Lines(old) {
			line = strings.TrimRight(line, "\n")
			if strings.HasPrefix(line, "# kustomization of ") && !strings.Contains(string(f.Content), line) {
				return fmt.Errorf("%s lost the comment %q", name, line)
			}
			kind, obj, ok := strings.Cut(strings.TrimPrefix(line, "# about "), " ")
			if !ok || !strings.HasPrefix(line, "# about ") {
				continue
			}
			still := strings.Contains(string(f.Content), "kind: "+kind+"\nmetadata:\n  name: "+obj+"\n")
			if still && !strings.Contains(string(f.Content), line) {
				return fmt.Errorf("%s lost the comment %q", name, line)
			}
		}
	}
	return nil
}

// again: the decision gives the same bytes on the same tree, and the same batch changes nothing on the result.
func (w *world) again(t *testing.T, r plan.Request, files map[string]manifest.File) error {
	if w.res.Decision == nil {
		return nil
	}
	replay := r
	replay.Decision = stored(t, w.res.Decision)
	replay.Batch = plan.Batch{}
	res, err := plan.Plan(t.Context(), replay)
	if err != nil {
		return err
	}
	if got := applyEdits(w.tree(), res.Edits); !maps.EqualFunc(got, files, sameFile) {
		return fmt.Errorf("the replay differs: %v", lines(res))
	}
	r.Tree = manifest.NewMemTree(files)
	if res, err = plan.Plan(t.Context(), r); err != nil {
		return err
	}
	if len(res.Edits) > 0 {
		return fmt.Errorf("the second time changes %s", res.Edits[0].Path)
	}
	// What is remembered of an earlier tree must not show.
	r.Folder, r.Memo = w.res.Folder, w.memo
	remembered, err := plan.Plan(t.Context(), r)
	if err != nil {
		return err
	}
	if lines(remembered) != lines(res) || len(remembered.Edits) > 0 {
		return fmt.Errorf("with what is remembered: %s\nwithout: %s", lines(remembered), lines(res))
	}
	return nil
}

func sameFile(a, b manifest.File) bool { return string(a.Content) == string(b.Content) }

func (w *world) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "path %s roots %q useKustomize %v\n", w.path, w.roots, w.use)
	for _, n := range slices.Sorted(maps.Keys(w.files)) {
		fmt.Fprintf(&b, "-- %s --\n%s", n, w.files[n])
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.live), change.ObjectID.Compare) {
		doc := []byte("deleted\n")
		if w.live[id] != nil {
			doc, _ = yamledit.Emit(w.live[id])
		}
		fmt.Fprintf(&b, "== live %s\n%s", id, doc)
	}
	if w.res != nil {
		fmt.Fprintf(&b, "== report\n%s\n", lines(w.res))
		for _, e := range w.res.Edits {
			if !strings.HasSuffix(e.Path, "README.md") && !strings.HasSuffix(e.Path, ".gittargetignore") {
				fmt.Fprintf(&b, "== edit %s delete %v\n%s", e.Path, e.Delete, e.Content)
			}
		}
	}
	return b.String()
}
