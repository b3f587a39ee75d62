// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/manifest/render/entry"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// Entry names one entry of images or replicas.
type Entry = entry.Ref

// Slot says which entries supply a rendered value. A nil entry means that none does.
type Slot struct {
	// Name, Tag and Digest belong to an image reference, Count to a replica count.
	Name, Tag, Digest, Count *Entry
}

// Trace is the answer of a marked render: per object, by pointer into its rendered value.
type Trace struct {
	slots map[*Object]map[string]Slot
}

// Slots returns what is known of an object; nil when the marked render could not show it.
func (t *Trace) Slots(o *Object) map[string]Slot { return t.slots[o] }

// Trace renders the given objects of a build once more with marks in place of every declared name, tag, digest and
// count, and reads from the result which entry wrote which value (git-writer 6.5). Only the files and patches of these
// objects take part. A failed render means that nothing is known, never a guess.
func (m *Memo) Trace(b *Build, objects []*Object) *Trace {
	t := &Trace{slots: map[*Object]map[string]Slot{}}
	marked, marks, err := mark(b.graph, objects)
	if err != nil {
		return t
	}
	m.stats.Builds++
	m.stats.Marked++
	res, err := krustyRun(marked, b.Root)
	if err != nil {
		return t
	}
	byKey := map[key]*Object{}
	for _, r := range res {
		o, err := object(b.Root, r)
		if err != nil {
			return t
		}
		byKey[key{o.Group, o.Kind, o.Namespace, o.Name}] = o
	}
	for _, o := range objects {
		mo := byKey[key{o.Group, o.Kind, o.Namespace, o.Name}]
		if mo == nil {
			continue
		}
		plain, err1 := o.Value()
		with, err2 := mo.Value()
		if err1 != nil || err2 != nil {
			continue
		}
		slots := map[string]Slot{}
		marks.read(plain, with, "", slots)
		t.slots[o] = slots
	}
	return t
}

// marks translates marked values back to entries.
type marks struct {
	tags, digests, names map[string]Entry
	counts               map[int64]Entry
	n                    int
}

// read walks a rendered object and its marked twin and notes every value that changed.
func (ms *marks) read(plain, with any, ptr string, out map[string]Slot) {
	switch p := plain.(type) {
	case map[string]any:
		w, _ := with.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(p)) {
			ms.read(p[k], w[k], ptr+"/"+EscapePointer(k), out)
		}
	case []any:
		w, _ := with.([]any)
		if len(w) != len(p) {
			return
		}
		for i := range p {
			ms.read(p[i], w[i], ptr+"/"+strconv.Itoa(i), out)
		}
	case string:
		if w, ok := with.(string); ok && w != p {
			if s := ms.image(ParseImage(w)); s != (Slot{}) {
				out[ptr] = s
			}
		}
	case int64:
		if w, ok := with.(int64); ok && w != p {
			if e, ok := ms.counts[w]; ok {
				out[ptr] = Slot{Count: &e}
			}
		}
	}
}

func (ms *marks) image(i Image) Slot {
	var s Slot
	if e, ok := ms.names[i.Name]; ok {
		s.Name = &e
	}
	if e, ok := ms.tags[i.Tag]; ok {
		s.Tag = &e
	}
	if e, ok := ms.digests[i.Digest]; ok {
		s.Digest = &e
	}
	return s
}

// mark builds the reduced, marked file set.
func mark(g *graph, objects []*Object) (map[string][]byte, *marks, error) {
	ms := &marks{tags: map[string]Entry{}, digests: map[string]Entry{}, names: map[string]Entry{}, counts: map[int64]Entry{}}
	r := &reducer{g: g, ms: ms, want: map[string]map[rawName]bool{}, names: map[rawName]bool{}, out: map[string][]byte{}}
	for _, o := range objects {
		if r.want[o.Origin] == nil {
			r.want[o.Origin] = map[rawName]bool{}
		}
		n := rawName{o.Kind, o.Name}
		r.want[o.Origin][n], r.names[n] = true, true
	}
	if _, err := r.kustomization(g.root); err != nil {
		return nil, nil, err
	}
	return r.out, ms, nil
}

type rawName struct{ kind, name string }

// reducer copies a graph with only the wanted documents, the patches that touch them, and marked entries.
type reducer struct {
	g     *graph
	ms    *marks
	want  map[string]map[rawName]bool
	names map[rawName]bool
	out   map[string][]byte
}

// kustomization writes the reduced file of a directory; false when nothing of it is wanted.
func (r *reducer) kustomization(dir string) (bool, error) {
	k := r.g.kusts[dir]
	spec := k.spec
	spec.Resources = nil
	at, dirAt := 0, 0
	for _, entry := range k.spec.Resources {
		keep := false
		var err error
		// The entries were resolved in order, files and directories apart.
		if at < len(k.files) && clean("/"+dir+"/"+entry) == k.files[at] {
			keep, err = r.file(k.files[at], r.want[k.files[at]])
			at++
		} else if dirAt < len(k.dirs) {
			keep, err = r.kustomization(k.dirs[dirAt])
			dirAt++
		}
		if err != nil {
			return false, err
		}
		if keep {
			spec.Resources = append(spec.Resources, entry)
		}
	}
	if len(spec.Resources) == 0 {
		return false, nil
	}
	if err := r.patches(k, &spec); err != nil {
		return false, err
	}
	r.images(dir, &spec)
	r.replicas(dir, &spec)
	if dir == r.g.root && !slices.Contains(spec.BuildMetadata, types.OriginAnnotations) {
		spec.BuildMetadata = append(slices.Clone(spec.BuildMetadata), types.OriginAnnotations)
	}
	b, err := yaml.Marshal(spec)
	if err != nil {
		return false, err
	}
	r.out[k.file] = b
	return true, nil
}

// file copies the wanted documents of a file.
func (r *reducer) file(name string, want map[rawName]bool) (bool, error) {
	if len(want) == 0 {
		return false, nil
	}
	if _, done := r.out[name]; done {
		return true, nil
	}
	b, err := selectDocuments(r.g.files[name], func(n rawName) bool { return want[n] })
	if err != nil || b == nil {
		return false, err
	}
	r.out[name] = b
	return true, nil
}

// patches keeps the patches of wanted objects; a patch without a matching object would fail the build.
func (r *reducer) patches(k *kustomization, spec *types.Kustomization) error {
	spec.Patches = nil
	for i, p := range k.spec.Patches {
		name := k.patches[i]
		if p.Target != nil {
			spec.Patches = append(spec.Patches, p)
			r.out[name] = r.g.files[name]
			continue
		}
		b, err := selectDocuments(r.g.files[name], func(n rawName) bool { return r.names[n] })
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		spec.Patches = append(spec.Patches, p)
		r.out[name] = b
	}
	return nil
}

func (r *reducer) images(dir string, spec *types.Kustomization) {
	spec.Images = slices.Clone(spec.Images)
	for i := range spec.Images {
		im, e := &spec.Images[i], Entry{Dir: dir, Index: i}
		r.ms.n++
		if im.NewTag != "" {
			im.NewTag = fmt.Sprintf("gr%05dt", r.ms.n)
			r.ms.tags[im.NewTag] = e
		}
		if im.Digest != "" {
			im.Digest = fmt.Sprintf("sha256:%064x", r.ms.n)
			r.ms.digests[im.Digest] = e
		}
		if im.NewName != "" && !r.chained(im.NewName, e) {
			im.NewName = fmt.Sprintf("gr.invalid/m%05d", r.ms.n)
			r.ms.names[im.NewName] = e
		}
	}
}

// chained reports that another entry matches the new name, so that marking it would break a chain of renames.
func (r *reducer) chained(newName string, self Entry) bool {
	for dir, k := range r.g.kusts {
		for i, im := range k.spec.Images {
			if (Entry{Dir: dir, Index: i}) != self && Matches(newName, im.Name) {
				return true
			}
		}
	}
	return false
}

// markedCount is far above any real replica count and below the largest int32.
const markedCount = 1_900_000_000

var replicaKinds = regexp.MustCompile(`^(Deployment|ReplicaSet|StatefulSet|ReplicationController)$`)

func (r *reducer) replicas(dir string, spec *types.Kustomization) {
	old := spec.Replicas
	spec.Replicas = nil
	for i, rep := range old {
		wanted := false
		for n := range r.names {
			wanted = wanted || n.name == rep.Name && replicaKinds.MatchString(n.kind)
		}
		if !wanted {
			continue
		}
		r.ms.n++
		rep.Count = markedCount + int64(r.ms.n)
		r.ms.counts[rep.Count] = Entry{Dir: dir, Index: i}
		spec.Replicas = append(spec.Replicas, rep)
	}
}

// selectDocuments keeps the documents of a file whose kind and name are wanted; nil when there are none.
func selectDocuments(b []byte, want func(rawName) bool) ([]byte, error) {
	f := yamldoc.Split(b)
	var out []byte
	for i, d := range f.Docs {
		if d.Empty {
			continue
		}
		body := f.Body(b, i)
		n, err := yamldoc.Parse(body)
		if err != nil {
			return nil, err
		}
		h := yamldoc.ReadHead(n)
		if !want(rawName{h.Kind, h.Name}) {
			continue
		}
		out = append(out, "---\n"...)
		out = append(out, body...)
		if len(body) > 0 && body[len(body)-1] != '\n' {
			out = append(out, '\n')
		}
	}
	return out, nil
}
