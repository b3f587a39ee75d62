// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/testshared"
)

var more = flag.Int("more", 1, "try this many times as many places of each document of the corpus")

// goal is the share of edits of editable documents that must be right and minimal (decisions 42).
const goal = 0.995

// kindsOfEdit are what a live change can do to a document.
var kindsOfEdit = []string{"scalar", "label", "remove field", "add item", "remove item"}

// TestCorpus_Edits tries each kind of edit on every document of the corpus: it changes only the lines that hold the
// change, means the desired object, and goes back to the original bytes where decisions 42 says so. What is not so is
// refused; nothing is ever wrong.
func TestCorpus_Edits(t *testing.T) {
	c := &corpus{t: t, tally: map[string]*count{}, causes: map[string]int{}}
	for _, k := range append([]string{"no change"}, kindsOfEdit...) {
		c.tally[k] = &count{}
	}
	c.run()
	t.Logf("%d documents, %d editable (%d after their ambiguous words were spelled out)", c.docs, c.editable, c.settled)
	for _, k := range append([]string{"no change"}, kindsOfEdit...) {
		n := c.tally[k]
		t.Logf("%-13s %6d tried, %6d right (%.3f %%), %d with a hazard on the path", k, n.tried, n.right,
			100*float64(n.right)/float64(max(n.tried, 1)), n.hazard)
		if float64(n.right) < goal*float64(n.tried) {
			t.Errorf("%s: below the goal of %.1f %%", k, 100*goal)
		}
	}
	for _, cause := range slices.SortedFunc(maps.Keys(c.causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.causes[b], c.causes[a]), cmp.Compare(a, b))
	}) {
		t.Logf("%5d  %s", c.causes[cause], cause)
	}
}

type count struct{ tried, right, hazard int }

type corpus struct {
	t  *testing.T
	mu sync.Mutex
	// settled counts documents whose ambiguous words were spelled out first.
	docs, editable, settled int
	tally                   map[string]*count
	causes                  map[string]int
}

// run visits the documents of the corpus, two at a time.
func (c *corpus) run() {
	type job struct {
		path  string
		src   []byte
		f     *yamldoc.File
		index int
	}
	jobs := make(chan job, 64)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for j := range jobs {
				c.document(j.path, j.src, j.f, j.index)
			}
		})
	}
	eachDocument(c.t, func(path string, src []byte, f *yamldoc.File, index int) {
		jobs <- job{path, src, f, index}
	})
	close(jobs)
	wg.Wait()
}

// eachDocument calls visit for every document of the corpus.
func eachDocument(t *testing.T, visit func(path string, src []byte, f *yamldoc.File, index int)) {
	t.Helper()
	root := filepath.Join(testshared.Dir(t), "corpus")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		f := yamldoc.Split(src)
		for i := range f.Docs {
			visit(rel, src, f, i)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c *corpus) document(path string, src []byte, f *yamldoc.File, index int) {
	body := f.Body(src, index)
	root, err := yamldoc.Parse(body)
	if err != nil || root == nil {
		return
	}
	cur, err := root.JSON()
	if err != nil {
		return
	}
	x := &trial{c: c, path: path, src: src, f: f, index: index, body: body, root: root, cur: cur}
	c.mu.Lock()
	c.docs++
	c.mu.Unlock()
	res := x.noChange()
	h := yamldoc.ReadHead(root)
	if h.APIVersion == "" || h.Kind == "" || h.Name == "" || h.Encrypted || blocking(root) != nil {
		return
	}
	if len(x.ambiguities()) > 0 && !x.settle(res.File) {
		return
	}
	c.mu.Lock()
	c.editable++
	c.mu.Unlock()
	x.scalars()
	x.label()
	x.fields()
	x.items()
}

func (c *corpus) right(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally[kind].tried++
	c.tally[kind].right++
}

func (c *corpus) notRight(kind, cause, where string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally[kind].tried++
	c.causes[kind+": "+cause]++
	if c.causes[kind+": "+cause] <= 6 {
		c.t.Logf("%s: %s: %s", kind, cause, where)
	}
}

func (c *corpus) hazard(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally[kind].hazard++
}

// trial edits one document of the corpus.
type trial struct {
	c     *corpus
	path  string
	src   []byte
	f     *yamldoc.File
	index int
	body  []byte
	root  *yamldoc.Node
	cur   any
}

// settle goes on with the text in which words that readers take differently are spelled out: the first edit of such a
// document does that beside its change (editing.md I7), every later one does nothing but its change.
func (x *trial) settle(src []byte) bool {
	f := yamldoc.Split(src)
	body := f.Body(src, x.index)
	root, err := yamldoc.Parse(body)
	if err != nil {
		return false
	}
	cur, err := root.JSON()
	if err != nil || !compare.Same(cur, x.cur) {
		x.c.t.Errorf("%s document %d: spelling words out changed the value: %v", x.path, x.index, err)
		return false
	}
	x.src, x.f, x.body, x.root = src, f, body, root
	x.c.mu.Lock()
	x.c.settled++
	x.c.mu.Unlock()
	return len(x.ambiguities()) == 0
}

func (x *trial) noChange() Result {
	res, err := Edit(x.src, x.index, x.cur, Options{})
	switch {
	case err != nil:
		x.c.notRight("no change", err.Error(), x.path)
	case res.Outcome == NoChange && bytes.Equal(res.File, x.src):
		x.c.right("no change")
	default:
		// Only words and dates that readers take differently are rewritten (editing.md I7).
		changed := lines(x.src)
		after := lines(res.File)
		ok := len(changed) == len(after)
		for i := 0; ok && i < len(after); i++ {
			if changed[i] != after[i] {
				ok = strings.ReplaceAll(after[i], `"`, "") == strings.ReplaceAll(changed[i], `"`, "") ||
					strings.ReplaceAll(after[i], `'`, "") == strings.ReplaceAll(changed[i], `'`, "")
			}
		}
		if !ok {
			x.c.t.Errorf("%s document %d: changed without a change", x.path, x.index)
		}
		x.c.right("no change")
	}
	return res
}

func (x *trial) ambiguities() []place {
	return x.places(func(p place) bool { return p.node.Ambiguous() })
}

// place is a node with its place in the document's value.
type place struct {
	node   *yamldoc.Node
	parent *yamldoc.Node
	i      int
	path   []string
}

// places lists the nodes below the root.
func (x *trial) places(want func(p place) bool) []place {
	var all []place
	var walk func(n *yamldoc.Node, path []string)
	walk = func(n *yamldoc.Node, path []string) {
		add := func(c *yamldoc.Node, i int, seg string) {
			p := place{c, n, i, append(slices.Clone(path), seg)}
			if want(p) {
				all = append(all, p)
			}
			walk(c, p.path)
		}
		for i, p := range n.Pairs {
			if !p.Merge() {
				add(p.Value, i, p.Key.Value)
			}
		}
		for i, it := range n.Items {
			add(it, i, strconv.Itoa(i))
		}
	}
	walk(x.root, nil)
	return all
}

// pick thins out a list of places, evenly.
func pick(list []place, n int) []place {
	if n *= *more; len(list) <= n {
		return list
	}
	var out []place
	for i := range n {
		out = append(out, list[i*len(list)/n+(len(list)/n)/2])
	}
	return out
}

// changed returns a copy of the document's value after f was applied to the container of the place.
func (x *trial) changed(path []string, f func(container any, last string) any) any {
	var walk func(v any, path []string) any
	walk = func(v any, path []string) any {
		if len(path) == 1 {
			return f(v, path[0])
		}
		switch v := v.(type) {
		case map[string]any:
			m := maps.Clone(v)
			m[path[0]] = walk(v[path[0]], path[1:])
			return m
		case []any:
			l := slices.Clone(v)
			i, _ := strconv.Atoi(path[0])
			l[i] = walk(v[i], path[1:])
			return l
		}
		return v
	}
	return walk(x.cur, path)
}

// try carries out one edit. allowed tells whether a changed stretch of lines is where the change is. With undo the
// edit is taken back and must give the original bytes.
func (x *trial) try(kind string, at place, want any, undo bool, allowed func(d lineDiff) string) {
	where := fmt.Sprintf("%s document %d at /%s", x.path, x.index, strings.Join(at.path, "/"))
	res, err := Edit(x.src, x.index, want, Options{})
	var un *UneditableError
	if errors.As(err, &un) {
		if un.Hazard == yamldoc.HazardUnmapped {
			x.c.notRight(kind, "refused", where)
		} else {
			x.c.hazard(kind)
		}
		return
	}
	if err != nil {
		x.c.t.Errorf("%s: %s: %v", kind, where, err)
		return
	}
	f := yamldoc.Split(res.File)
	got, err := decode(f.Body(res.File, x.index))
	if err != nil || !compare.Same(got, compare.Normalize(want, x.cur, compare.Options{})) {
		x.c.t.Errorf("%s: %s: the result does not mean the object: %v", kind, where, err)
		return
	}
	again, err := Edit(res.File, x.index, want, Options{})
	if err != nil || again.Outcome != NoChange {
		x.c.t.Errorf("%s: %s: the same object again: %s %v", kind, where, again.Outcome, err)
	}
	if len(res.Notes) > 0 {
		x.c.notRight(kind, "rung "+string(res.Notes[0].Rung)+": "+res.Notes[0].Reason, where)
		return
	}
	if cause := allowed(diffLines(x.src, res.File)); cause != "" {
		x.c.notRight(kind, cause, where+"\n"+showDiff(x.src, res.File))
		return
	}
	if undo {
		back, err := Edit(res.File, x.index, x.cur, Options{})
		if err != nil {
			x.c.notRight(kind, "undo refused", where)
			return
		}
		if !bytes.Equal(back.File, x.src) {
			x.c.notRight(kind, "undo is not exact", where+"\n"+showDiff(x.src, res.File)+"-- back\n"+showDiff(x.src, back.File))
			return
		}
	}
	x.c.right(kind)
}

func (x *trial) scalars() {
	list := x.places(func(p place) bool { return p.node.Kind == yamldoc.Scalar && p.node.Tag != "!!null" })
	for k, p := range pick(list, 3) {
		want := x.changed(p.path, func(c any, last string) any {
			return with(c, last, func(v any) any { return otherScalar(v, k) })
		})
		from, to := x.lines(p)
		x.try("scalar", p, want, true, func(d lineDiff) string {
			if d.from < from || d.to > to {
				return "lines outside the value differ"
			}
			return ""
		})
	}
}

// lines returns the 0-based lines of the file a place's own text covers, the line behind them excluded.
func (x *trial) lines(p place) (from, to int) {
	start, end := p.node.Start, p.node.End
	if p.parent.Kind == yamldoc.Map {
		start = min(start, p.parent.Pairs[p.i].Key.Start)
	} else if p.node.Mark >= 0 {
		start = p.node.Mark
	}
	base := x.f.Docs[x.index].Start
	return len(lines(x.src[:base+start])) - 1, len(lines(x.src[:base+max(end, start)]))
}

func otherScalar(v any, k int) any {
	switch v := v.(type) {
	case bool:
		return !v
	case int64:
		return v + 1
	case float64:
		return v + 1
	case string:
		switch {
		case strings.HasSuffix(v, "\n"):
			return strings.TrimRight(v, "\n") + "-changed" + v[len(strings.TrimRight(v, "\n")):]
		case k%2 == 0 && !strings.Contains(v, "\n"):
			return "changed"
		}
		return v + "-changed"
	}
	return "changed"
}

func with(c any, key string, f func(v any) any) any {
	switch c := c.(type) {
	case map[string]any:
		m := maps.Clone(c)
		m[key] = f(c[key])
		return m
	case []any:
		l := slices.Clone(c)
		i, _ := strconv.Atoi(key)
		l[i] = f(c[i])
		return l
	}
	return c
}

func (x *trial) label() {
	meta, _ := x.cur.(map[string]any)["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]any{}
	}
	labels["reverser.example.com/tier"] = "web"
	p := place{node: x.root.Get("metadata"), path: []string{"metadata", "labels"}}
	want := x.changed(p.path, func(c any, last string) any {
		m := maps.Clone(c.(map[string]any))
		m[last] = labels
		return m
	})
	undo := meta["labels"] != nil || x.root.Get("metadata", "labels") == nil
	x.try("label", p, want, undo, onlyInserted)
}

// onlyInserted allows new lines, and one changed line for a flow collection or a value that had none.
func onlyInserted(d lineDiff) string {
	if d.to-d.from > 1 {
		return "more than one line changed for an addition"
	}
	return ""
}

func (x *trial) fields() {
	list := x.places(func(p place) bool {
		return p.parent.Kind == yamldoc.Map && !slices.Contains([]string{"apiVersion", "kind", "metadata"}, p.path[0])
	})
	for _, p := range pick(list, 2) {
		want := x.changed(p.path, func(c any, last string) any {
			m := maps.Clone(c.(map[string]any))
			delete(m, last)
			return m
		})
		x.try("remove field", p, want, false, x.onlyIn(p))
	}
}

// onlyIn allows changes in the lines of a place and the comment lines right above and below them.
func (x *trial) onlyIn(p place) func(d lineDiff) string {
	from, to := x.lines(p)
	all := lines(x.src)
	for from > 0 && strings.HasPrefix(strings.TrimSpace(all[from-1]), "#") {
		from--
	}
	for to < len(all) && strings.HasPrefix(strings.TrimSpace(all[to]), "#") {
		to++
	}
	if first := entries(p.parent)[0]; p.i == 0 && p.parent.Style == yamldoc.Block && len(entries(p.parent)) > 1 &&
		strings.TrimSpace(string(x.body[yamldoc.LineStart(x.body, first.start):first.start])) != "" {
		to++ // behind a dash: the next entry moves up to that line
	}
	if p.parent.Style == yamldoc.Flow {
		from, to = x.brackets(p, from, to)
	}
	if len(p.parent.Pairs)+len(p.parent.Items) == 1 {
		if p.parent.Style == yamldoc.Flow {
			_, to = x.lines(place{node: p.parent, parent: &yamldoc.Node{}})
		}
		from-- // the key of the emptied collection
		for from > 0 && strings.HasPrefix(strings.TrimSpace(all[from]), "#") {
			from--
		}
	}
	return func(d lineDiff) string {
		for d.n == 0 && d.from > 0 && d.to > to && all[d.from-1] == all[d.to-1] {
			d.from, d.to = d.from-1, d.to-1 // equal lines around a deletion: it may as well lie higher
		}
		if d.from < from || d.to > to {
			return "lines outside the removed entry differ"
		}
		return ""
	}
}

// brackets widens the lines of an entry of a flow collection that shares a line with a bracket: what is before the last
// one loses its comma, what is behind the first one moves up to the bracket.
func (x *trial) brackets(p place, from, to int) (int, int) {
	list := entries(p.parent)
	line := func(offset int) int { return len(lines(x.src[:x.f.Docs[x.index].Start+offset])) - 1 }
	if last := len(list) - 1; last > 0 && p.i == last && line(p.parent.End-1) == line(list[last].end) {
		from = min(from, line(list[last-1].end))
	}
	if len(list) > 1 && p.i == 0 && line(p.parent.Content) == line(list[0].start) {
		to = max(to, line(list[1].start)+1)
	}
	return from, to
}

func (x *trial) items() {
	list := x.places(func(p place) bool { return p.parent.Kind == yamldoc.Seq })
	for k, p := range pick(list, 1) {
		added := x.changed(p.path, func(c any, last string) any {
			l := c.([]any)
			i, _ := strconv.Atoi(last)
			if (k+len(x.body))%2 == 0 {
				i = len(l) - 1
			}
			return slices.Insert(slices.Clone(l), i+1, otherItem(l[i]))
		})
		x.try("add item", p, added, true, onlyInserted)
		removed := x.changed(p.path, func(c any, last string) any {
			i, _ := strconv.Atoi(last)
			return slices.Delete(slices.Clone(c.([]any)), i, i+1)
		})
		x.try("remove item", p, removed, false, x.onlyIn(p))
	}
}

func otherItem(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		if _, isList := v.([]any); isList {
			return []any{"added"}
		}
		return otherScalar(v, 1)
	}
	m = maps.Clone(m)
	for _, k := range []string{"name", "key", "path", "host"} {
		if s, ok := m[k].(string); ok {
			m[k] = s + "-added"
			return m
		}
	}
	m["added"] = "yes"
	return m
}

// lineDiff is the stretch of old lines [from, to) that was replaced by n new ones.
type lineDiff struct{ from, to, n int }

func lines(b []byte) []string {
	if len(b) == 0 {
		return []string{""}
	}
	return strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
}

func diffLines(a, b []byte) lineDiff {
	x, y := lines(a), lines(b)
	from := 0
	for from < len(x) && from < len(y) && x[from] == y[from] {
		from++
	}
	n, m := len(x), len(y)
	for n > from && m > from && x[n-1] == y[m-1] {
		n--
		m--
	}
	return lineDiff{from, n, m - from}
}

func showDiff(a, b []byte) string {
	d := diffLines(a, b)
	x, y := lines(a), lines(b)
	var s strings.Builder
	for i := max(d.from-2, 0); i < d.from; i++ {
		fmt.Fprintf(&s, "  %s\n", x[i])
	}
	for _, l := range x[d.from:d.to] {
		fmt.Fprintf(&s, "- %s\n", l)
	}
	for _, l := range y[d.from : d.from+d.n] {
		fmt.Fprintf(&s, "+ %s\n", l)
	}
	for i := d.to; i < min(d.to+2, len(x)); i++ {
		fmt.Fprintf(&s, "  %s\n", x[i])
	}
	return s.String()
}
