// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// router decides which source takes a value.
type router struct{ *kustomize }

// route decides for every pending object which source holds each value that differs, and edits it there: declared
// images and replicas entries first, then patch files that speak about the field, then the document itself, or an
// overlay's own entries and patches when the document may not be written (git-writer 6.4 to 6.7).
func (k router) route() error {
	byBuild := map[*render.Build][]*render.Object{}
	for _, pd := range k.pending {
		byBuild[pd.build] = append(byBuild[pd.build], pd.object)
	}
	traces := map[*render.Build]*render.Trace{}
	for _, pd := range k.pending {
		if traces[pd.build] == nil {
			traces[pd.build] = k.memo.Trace(pd.build, byBuild[pd.build])
		}
	}
	for _, pd := range k.pending {
		if err := k.routeOne(pd, traces[pd.build].Slots(pd.object)); err != nil {
			return err
		}
		if pd.s.report.Outcome != Refused {
			k.expected = append(k.expected, expectation{subject: pd.s, root: pd.root, path: pd.object.Origin})
		}
	}
	return k.writeEntries()
}

func (k router) routeOne(pd *pending, slots map[string]render.Slot) error {
	pd.issues = len(k.p.res.Issues)
	src := k.source(pd)
	images := k.declared(pd, slots)
	if err := k.absorb(pd); err != nil {
		return err
	}
	if pd.why != "" {
		k.overlayEntries(pd, slots)
	}
	if reflect.DeepEqual(pd.rendered, pd.live) && len(images) == 0 {
		return k.written(pd)
	}
	if pd.why != "" {
		if err := k.patch(pd, src); err != nil {
			return err
		}
		return k.written(pd)
	}
	if err := k.editSource(pd, src, images); err != nil {
		return err
	}
	return k.written(pd)
}

// written carries out what was routed to other files than the source, and reports the object. A refused object leaves
// them alone.
func (k router) written(pd *pending) error {
	if pd.s.report.Outcome == Refused {
		return nil
	}
	for _, l := range pd.layers {
		if reflect.DeepEqual(l.next, l.value) {
			continue
		}
		if err := k.patcher().writePatch(pd, l); err != nil {
			return err
		}
	}
	for _, f := range pd.elsewhere {
		f()
	}
	if len(pd.written) == 0 && len(pd.elsewhere) == 0 && len(k.p.res.Issues) == pd.issues {
		k.nowhere(pd)
		return nil
	}
	if len(pd.written) > 0 && !slices.Contains(pd.written, pd.s.report.Path) {
		pd.s.report.Path = pd.written[0]
	}
	slices.Sort(pd.written)
	pd.s.report.Written = slices.Compact(pd.written)
	k.p.done(pd.s, Updated, nil)
	return nil
}

// nowhere ends an object whose difference no source of the build can take.
func (k router) nowhere(pd *pending) {
	if compare.Equal(pd.rendered, pd.want, pd.s.options) {
		k.p.done(pd.s, Unchanged, nil)
		return
	}
	fields := differences(pd.rendered, pd.want, 3)
	i := acceptance.New(acceptance.UnplaceableEdit, k.rel(pd.object.Origin),
		fmt.Sprintf("%s: no file of the folder can give %s the value it has in the cluster", pd.s.id, strings.Join(fields, ", ")))
	if len(fields) > 0 {
		i.Field = fields[0]
	}
	i.Cure = k.setElsewhere(pd.root, pd.object.Origin, i.Field)
	k.p.issue(i)
	k.p.done(pd.s, Updated, nil)
}

// source returns the value of the document the object comes from, in the folder or in a base; nil when unreadable.
func (k router) source(pd *pending) map[string]any {
	if pd.doc != nil {
		v, err := k.p.Value(pd.doc)
		if m, ok := v.(map[string]any); ok && err == nil {
			return m
		}
		return nil
	}
	b, err := k.p.Read(pd.object.Origin)
	if err != nil {
		return nil
	}
	return workspace.DocumentFor(b, pd.object).Value()
}

// editSource writes the source form of the remaining difference into the folder's own document.
func (k router) editSource(pd *pending, src map[string]any, images map[string]render.Image) error {
	if src == nil {
		k.p.refused(pd.s, ReasonNotEditable, pd.doc.Path+": the document cannot be read; correct it")
		return nil
	}
	v, err := render.Form(src, pd.rendered, pd.live)
	desired, ok := v.(map[string]any)
	if err != nil || !ok {
		i := acceptance.New(acceptance.UnplaceableEdit, k.rel(pd.doc.Path), fmt.Sprintf("%s: %v", pd.s.id, err))
		i.Document, i.Line = int(pd.doc.Index), int(pd.doc.Line)
		k.p.issue(i)
		return nil
	}
	for ptr, im := range images {
		if at, ok := render.Counterpart(pd.rendered, desired, ptr); ok {
			desired, _ = render.SetAt(desired, at, im.String()).(map[string]any)
		}
	}
	if b := k.p.req.Policy.SerializeNamespace; b != nil {
		desired["metadata"] = maps1(desired["metadata"])
		k.p.settleNamespace(desired, pd.s.id, !*b)
	}
	file, i, err := k.p.Locate(pd.doc)
	if err != nil {
		return err
	}
	if i < 0 {
		k.p.refused(pd.s, ReasonNotEditable, pd.doc.Path+": the document is gone from the file")
		return nil
	}
	res, err := yamledit.Edit(file, i, desired, yamledit.Options{Options: pd.s.options, AllowReplace: true})
	if err != nil {
		k.p.notEditable(pd.s, pd.doc, err)
		return nil
	}
	if res.Outcome == yamledit.NoChange {
		return nil
	}
	if v := pd.s.item.Type.APIVersion(); pd.doc.APIVersion != v && desired["apiVersion"] == v {
		pd.s.report.Notes = append(pd.s.report.Notes, fmt.Sprintf("moved from %s to %s", pd.doc.APIVersion, v))
	}
	pd.written = append(pd.written, pd.doc.Path)
	return k.p.Write(pd.doc.Path, res.File)
}

// declared routes the parts of images and counts that writable entries supply. It takes them out of the difference,
// and returns the image references whose remaining parts belong into the source, by pointer into the render.
func (k router) declared(pd *pending, slots map[string]render.Slot) map[string]render.Image {
	rest := map[string]render.Image{}
	for _, ptr := range slices.Sorted(maps.Keys(slots)) {
		slot := slots[ptr]
		at, ok := render.Counterpart(pd.rendered, pd.live, ptr)
		if !ok {
			continue
		}
		have, _ := render.At(pd.rendered, ptr)
		want, _ := render.At(pd.live, at)
		if reflect.DeepEqual(have, want) {
			continue
		}
		if slot.Count != nil {
			n, ok := want.(int64)
			if ok && k.canEdit(slot.Count) {
				pd.wish(k, slot.Count.Dir, func() { k.entries.Count(*slot.Count, n, pd.s.id) })
				pd.live, _ = render.SetAt(pd.live, at, have).(map[string]any)
			}
			continue
		}
		h, ok1 := have.(string)
		w, ok2 := want.(string)
		if !ok1 || !ok2 {
			continue
		}
		left, routed := k.image(pd, slot, render.ParseImage(h), render.ParseImage(w))
		if left != (render.Image{}) && pd.why == "" {
			s, ok := k.sourceImage(pd, ptr, left)
			if !ok {
				continue
			}
			rest[ptr], routed = s, true
		}
		if routed {
			pd.live, _ = render.SetAt(pd.live, at, have).(map[string]any)
		}
	}
	return rest
}

// image asks the owning entries for the live parts. left holds the parts that belong to the source.
func (k router) image(pd *pending, slot render.Slot, have, want render.Image) (left render.Image, routed bool) {
	owner := cmp.Or(slot.Tag, slot.Digest)
	if have.Tag != want.Tag || have.Digest != want.Digest {
		switch {
		case k.canEdit(owner):
			if want.Tag == "" && want.Digest == "" {
				return left, false
			}
			pd.wish(k, owner.Dir, func() { k.entries.Version(*owner, want.Tag, want.Digest, pd.s.id) })
			routed = true
		case owner == nil && pd.why != "" && k.canEdit(slot.Name):
			pd.wish(k, slot.Name.Dir, func() { k.entries.Version(*slot.Name, want.Tag, want.Digest, pd.s.id) })
			routed = true
		default:
			left.Tag, left.Digest = want.Tag, want.Digest
		}
	}
	if have.Name != want.Name {
		at := slot.Name
		if at == nil && pd.why != "" {
			at = owner // the image has an entry in the overlay already
		}
		if k.canEdit(at) {
			pd.wish(k, at.Dir, func() { k.entries.Name(*at, want.Name, pd.s.id) })
			routed = true
		} else {
			left.Name = want.Name
		}
	}
	return left, routed
}

// sourceImage is the source's own reference with the parts of left put in.
func (k router) sourceImage(pd *pending, ptr string, left render.Image) (render.Image, bool) {
	src := k.source(pd)
	at, ok := render.Counterpart(pd.rendered, src, ptr)
	if src == nil || !ok {
		return render.Image{}, false
	}
	v, _ := render.At(src, at)
	s, ok := v.(string)
	if !ok {
		return render.Image{}, false
	}
	im := render.ParseImage(s)
	if left.Name != "" {
		im.Name = left.Name
	}
	if left.Tag != "" || left.Digest != "" {
		im.Tag, im.Digest = left.Tag, left.Digest
	}
	return im, true
}

// canEdit reports whether an entry stands in a kustomization the plan may write.
func (k router) canEdit(e *render.Entry) bool {
	if e == nil {
		return false
	}
	c := k.p.Layout.Kustomization(e.Dir)
	return c != nil && c.Writable
}

// absorb gives the patch files of the folder the values they supply.
func (k router) absorb(pd *pending) error {
	var err error
	if pd.layers, err = k.patcher().patchLayers(pd.root, pd.object); err != nil {
		return err
	}
	version := pd.live["apiVersion"]
	for i := range pd.layers {
		l := &pd.layers[i]
		l.next, pd.live = render.Absorb(l.value, pd.rendered, pd.live)
		// A patch finds its object by the version too, so both move together (decision 36).
		pd.live["apiVersion"] = version
	}
	return nil
}

// overlayEntries adds images and replicas entries for what neither an entry nor a patch supplies, when the source may
// not be written (git-writer 6.6, 6.7).
func (k router) overlayEntries(pd *pending, slots map[string]render.Slot) {
	chain := k.chain(pd.root, pd.object.Origin)
	c, _ := k.writable(chain)
	if c == nil {
		return
	}
	for _, ptr := range render.Slots(pd.rendered) {
		at, ok := render.Counterpart(pd.rendered, pd.live, ptr)
		have, _ := render.At(pd.rendered, ptr)
		h, ok1 := have.(string)
		want, _ := render.At(pd.live, at)
		w, ok2 := want.(string)
		if !ok || !ok1 || !ok2 || h == w || k.ownedHere(slots[ptr]) {
			continue
		}
		hi, wi := render.ParseImage(h), render.ParseImage(w)
		if wi.Tag == "" && wi.Digest == "" && (hi.Tag != "" || hi.Digest != "") {
			continue
		}
		pd.wish(k, c.Dir, func() {
			e := k.entries.AddImage(c.Dir, hi.Name)
			if hi.Tag != wi.Tag || hi.Digest != wi.Digest {
				k.entries.Version(e, wi.Tag, wi.Digest, pd.s.id)
			}
			if hi.Name != wi.Name {
				k.entries.Name(e, wi.Name, pd.s.id)
			}
		})
		pd.live, _ = render.SetAt(pd.live, at, have).(map[string]any)
	}
	const ptr = "/spec/replicas"
	have, ok1 := render.At(pd.rendered, ptr)
	want, ok2 := render.At(pd.live, ptr)
	n, ok3 := want.(int64)
	if !ok1 || !ok2 || !ok3 || reflect.DeepEqual(have, want) || !replicated(pd.object) || slots[ptr].Count != nil {
		return
	}
	pd.wish(k, c.Dir, func() { k.entries.Count(k.entries.AddCount(c.Dir, pd.object.Name), n, pd.s.id) })
	pd.live, _ = render.SetAt(pd.live, ptr, have).(map[string]any)
}

// ownedHere reports that a writable entry supplies a part of the image; what could be routed to it was.
func (k router) ownedHere(s render.Slot) bool {
	return k.canEdit(s.Tag) || k.canEdit(s.Digest) || k.canEdit(s.Name)
}

func replicated(o *render.Object) bool {
	switch o.Kind {
	case "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController":
		return o.Group == "apps" || o.Group == ""
	}
	return false
}

// patch puts the remaining difference of an object whose source may not be written into a strategic merge patch of the
// overlay: the one it has for the object, or a new one where the policy allows that.
func (k router) patch(pd *pending, src map[string]any) error {
	chain := k.chain(pd.root, pd.object.Origin)
	c, at := k.writable(chain)
	if len(pd.layers) == 0 {
		if c == nil || !k.p.req.Policy.Placement.UseKustomize {
			k.p.issue(k.refuseSource(pd))
			return nil
		}
		l, err := k.patcher().newPatch(pd, c, chain, at)
		if err != nil {
			return err
		}
		pd.layers = append(pd.layers, l)
	}
	l := &pd.layers[0]
	next, err := render.Extend(l.next, src, pd.rendered, pd.live)
	if err != nil {
		k.p.issue(acceptance.New(acceptance.UnplaceableEdit, k.rel(pd.object.Origin), fmt.Sprintf("%s: %v", pd.s.id, err)))
		return nil
	}
	l.next = next
	return nil
}

// refuseSource says why a field of a base cannot be written, which fields these are, and what would help.
func (k router) refuseSource(pd *pending) acceptance.Issue {
	fields := differences(pd.rendered, pd.live, 3)
	msg := fmt.Sprintf("%s: %s comes from %s, ", pd.s.id, strings.Join(fields, ", "), pd.object.Origin)
	if pd.why == acceptance.WriteFanIn {
		msg += "which several builds read"
	} else {
		msg += "which lies outside the folder"
	}
	i := acceptance.New(pd.why, k.rel(pd.object.Origin), msg)
	i.Cure = "give the overlay a strategic merge patch file for this object, or set placement.useKustomize, which lets the " +
		"operator create one"
	if len(fields) > 0 {
		i.Field = fields[0]
	}
	return i
}
