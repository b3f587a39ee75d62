// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

const (
	// settleTime is how long a new type must have been known before it is followed, so that a CRD that flaps during
	// its installation is taken up once.
	settleTime = 5 * time.Second
	// removalGrace is how long a type stays after it is gone from a scan that could see it.
	removalGrace = 60 * time.Second
)

// groupVersion names one served version of a group.
type groupVersion struct{ group, version string }

func (g groupVersion) String() string {
	return change.Type{Group: g.group, Version: g.version}.APIVersion()
}

// resource is one line of a scan. Subresources have a name with a slash.
type resource struct {
	name, kind string
	namespaced bool
	// noScope: the server does not say whether the resource is namespaced.
	noScope bool
	verbs   []string
}

// scan is what one look at discovery saw, without judgement (watch 3.1).
type scan struct {
	// served has an entry for every group version that was read.
	served map[groupVersion][]resource
	// failed has the cause for every group version that could not be read.
	failed map[groupVersion]string
	// preferred is each group's preferred version among those that were read.
	preferred map[string]string
	// complete: nothing failed and the list of groups itself was read whole.
	complete bool
}

// record is what is known of one served version of one resource.
type record struct {
	resource
	firstSeen time.Time
	// absentSince is zero while the resource is served.
	absentSince time.Time
	// twice: one scan listed the resource with two kinds.
	twice bool
	// subresourceOnly: only subresources of it are served.
	subresourceOnly bool
	// active: TypeActivated was reported. wobbling: TypeWobbling was.
	active, wobbling bool
}

type recordKey struct {
	groupVersion
	resource string
}

// registry merges scans into what is known (watch 3.2). It is pure but for its own state; its owner serialises access.
type registry struct {
	ready     bool
	records   map[recordKey]*record
	preferred map[string]string
	failed    map[groupVersion]string
	last      *Catalog
}

func newRegistry() *registry {
	return &registry{
		records: map[recordKey]*record{}, preferred: map[string]string{}, failed: map[groupVersion]string{},
		last: &Catalog{},
	}
}

// merge takes a scan over.
func (r *registry) merge(s scan, now time.Time) {
	first := !r.ready
	if len(s.served) > 0 {
		r.ready = true
	}
	r.failed = s.failed
	for gv, list := range s.served {
		r.mergeVersion(gv, list, now, first)
	}
	for k, rec := range r.records {
		_, served := s.served[k.groupVersion]
		_, failing := s.failed[k.groupVersion]
		switch {
		case failing:
			// Nothing is known about it now; an absence seen before has to be seen again.
			rec.absentSince = time.Time{}
		case s.complete && !served:
			rec.leave(now)
		}
	}
	r.mergePreferred(s)
}

func (r *registry) mergeVersion(gv groupVersion, list []resource, now time.Time, first bool) {
	seen := map[string]*record{}
	for _, res := range list {
		name, isSub := parent(res.name)
		if isSub {
			// A subresource without its parent still makes a record, so that a rule can be told why.
			if seen[name] == nil {
				seen[name] = &record{resource: resource{name: name}, subresourceOnly: true}
			}
			continue
		}
		if old := seen[name]; old != nil && !old.subresourceOnly {
			old.twice = old.twice || old.kind != res.kind
			continue
		}
		seen[name] = &record{resource: res}
	}
	for name, rec := range seen {
		k := recordKey{gv, name}
		if old := r.records[k]; old != nil {
			rec.firstSeen, rec.active, rec.wobbling = old.firstSeen, old.active, old.wobbling
		} else if !first {
			// What the very first scan finds was there before us: nothing flaps.
			rec.firstSeen = now
		}
		r.records[k] = rec
	}
	for k, rec := range r.records {
		if k.groupVersion == gv && seen[k.resource] == nil {
			rec.leave(now)
		}
	}
}

// mergePreferred keeps the preferred version of a group while any version of it fails: discovery names the first one it
// could read, and following that would restart streams for nothing.
func (r *registry) mergePreferred(s scan) {
	degraded := map[string]bool{}
	for gv := range s.failed {
		degraded[gv.group] = true
	}
	for group, version := range s.preferred {
		if old := r.preferred[group]; old == "" || !degraded[group] {
			r.preferred[group] = version
		}
	}
}

func (rec *record) leave(now time.Time) {
	if rec.absentSince.IsZero() {
		rec.absentSince = now
	}
}

// parent cuts a subresource's name.
func parent(name string) (string, bool) {
	for i := range len(name) {
		if name[i] == '/' {
			return name[:i], true
		}
	}
	return name, false
}

// Lifecycle is what happened to a type (watch 4.4).
type Lifecycle struct {
	Type  change.Type
	Event string
	// Reason is the funnel's reason code where there is one.
	Reason string
}

// The lifecycle events.
const (
	TypeActivated = "TypeActivated"
	TypeWobbling  = "TypeWobbling"
	TypeRecovered = "TypeRecovered"
	TypeRemoved   = "TypeRemoved"
	TypeRefused   = "TypeRefused"
)

// project derives the catalog of a moment, and what happened since the last one. The catalog is the same value when
// nothing changed.
func (r *registry) project(now time.Time) (*Catalog, []Lifecycle) {
	var events []Lifecycle
	emit := func(t change.Type, event, reason string) {
		events = append(events, Lifecycle{Type: t, Event: event, Reason: reason})
	}
	kinds := r.kindCounts(now, emit)
	next := &Catalog{ready: r.ready, kinds: map[[2]string]change.Type{}}
	for gv := range r.failed {
		next.degraded = append(next.degraded, gv.String())
	}
	slices.Sort(next.degraded)
	for k, rec := range r.records {
		e := r.judge(k, rec, kinds, now)
		next.entries = append(next.entries, e)
		rec.lifecycle(e, emit)
	}
	slices.SortFunc(next.entries, func(a, b entry) int { return compareTypes(a.Type, b.Type) })
	for _, e := range next.entries {
		key := [2]string{e.Type.Group, e.Type.Kind}
		if e.Type.Kind == "" {
			continue
		}
		if _, ok := next.kinds[key]; !ok || e.Preferred {
			next.kinds[key] = e.Type
		}
	}
	slices.SortFunc(events, func(a, b Lifecycle) int { return compareTypes(a.Type, b.Type) })
	if next.ready == r.last.ready && slices.Equal(next.entries, r.last.entries) &&
		slices.Equal(next.degraded, r.last.degraded) {
		return r.last, events
	}
	next.revision = r.last.revision + 1
	r.last = next
	return next, events
}

// kindCounts drops records whose grace is over and counts the resources per kind.
func (r *registry) kindCounts(now time.Time, emit func(change.Type, string, string)) map[[3]string]int {
	kinds := map[[3]string]int{}
	for _, k := range slices.SortedFunc(maps.Keys(r.records), compareKeys) {
		rec := r.records[k]
		if _, failing := r.failed[k.groupVersion]; !failing && !rec.absentSince.IsZero() &&
			now.Sub(rec.absentSince) >= removalGrace {
			delete(r.records, k)
			if rec.active {
				emit(r.typeOf(k, rec), TypeRemoved, "absence-expired")
			}
			continue
		}
		if !rec.subresourceOnly {
			kinds[[3]string{k.group, k.version, rec.kind}]++
		}
	}
	return kinds
}

func compareKeys(a, b recordKey) int {
	return compareTypes(
		change.Type{Group: a.group, Version: a.version, Resource: a.resource},
		change.Type{Group: b.group, Version: b.version, Resource: b.resource})
}

func (r *registry) typeOf(k recordKey, rec *record) change.Type {
	return change.Type{
		Group: k.group, Version: k.version, Kind: rec.kind, Resource: k.resource, Namespaced: rec.namespaced,
	}
}

// judge runs the funnel: the first gate that fails names the reason (watch 4.1).
func (r *registry) judge(k recordKey, rec *record, kinds map[[3]string]int, now time.Time) entry {
	e := entry{Type: r.typeOf(k, rec), Preferred: r.preferred[k.group] == k.version}
	e.Verdict, e.Reason = r.funnel(k, rec, kinds, now)
	return e
}

func (r *registry) funnel(k recordKey, rec *record, kinds map[[3]string]int, now time.Time) (Verdict, string) {
	_, failing := r.failed[k.groupVersion]
	unsteady := Retained
	if !rec.active {
		// A type nobody could follow yet has no stream to keep.
		unsteady = Pending
	}
	name := [2]string{k.group, k.resource}
	switch {
	case failing && !rec.subresourceOnly && !deniedResources[name]:
		return unsteady, ReasonDiscoveryDegraded
	case !rec.absentSince.IsZero():
		return unsteady, ReasonNotServed
	case rec.subresourceOnly:
		return Refused, ReasonSubresourceOnly
	case !rec.firstSeen.IsZero() && now.Sub(rec.firstSeen) < settleTime:
		return Pending, ReasonSettling
	case kinds[[3]string{k.group, k.version, rec.kind}] > 1:
		return Refused, ReasonGVKNotUnique
	case rec.twice:
		return Refused, ReasonGVRNotUnique
	case rec.noScope:
		return Refused, ReasonScopeUnknown
	case !hasVerbs(rec.verbs):
		return Refused, ReasonMissingVerb
	case deniedResources[name]:
		return Refused, ReasonDeniedByPolicy
	case namedOnlyResources[name]:
		return Followable, ReasonNamedOnly
	}
	return Followable, ""
}

func hasVerbs(verbs []string) bool {
	return slices.Contains(verbs, "get") && slices.Contains(verbs, "list") && slices.Contains(verbs, "watch")
}

// lifecycle reports what a verdict means for a type that was or becomes active.
func (rec *record) lifecycle(e entry, emit func(change.Type, string, string)) {
	switch {
	case e.Verdict == Followable && !rec.active:
		rec.active = true
		emit(e.Type, TypeActivated, "")
	case e.Verdict == Followable && rec.wobbling:
		rec.wobbling = false
		emit(e.Type, TypeRecovered, "")
	case e.Verdict == Retained && !rec.wobbling:
		rec.wobbling = true
		emit(e.Type, TypeWobbling, e.Reason)
	case e.Verdict == Refused && rec.active:
		rec.active, rec.wobbling = false, false
		emit(e.Type, TypeRefused, e.Reason)
	}
}

// due returns when time alone changes the catalog next; zero when it does not.
func (r *registry) due(now time.Time) time.Time {
	var due time.Time
	consider := func(t time.Time) {
		if t.After(now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for k, rec := range r.records {
		if !rec.firstSeen.IsZero() {
			consider(rec.firstSeen.Add(settleTime))
		}
		if _, failing := r.failed[k.groupVersion]; !failing && !rec.absentSince.IsZero() {
			consider(rec.absentSince.Add(removalGrace))
		}
	}
	return due
}
