// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Resolve turns the compiled rules of one GitTarget into the collections to watch and one answer per rule (watch 5.2,
// 5.3, decisions 68, 71). It is deterministic; the order of rules does not matter.
func Resolve(rules []*Compiled, c Catalog) Resolution {
	rules = slices.SortedFunc(slices.Values(rules), older)
	var out Resolution
	if !c.Ready() {
		for _, r := range rules {
			out.Rules = append(out.Rules, RuleAnswer{Key: r.Rule.Key, Resolved: Answer{
				Status: Unknown, Reason: ReasonCatalogNotReady, Message: "The source's types are not known yet.",
			}})
		}
		return out
	}
	ix := newIndex(c)
	claimed := map[change.Cell]*cellClaims{}
	retained := map[string]bool{}
	for _, r := range rules {
		f := ix.find(r)
		answer := RuleAnswer{Key: r.Rule.Key, Unresolved: f.unresolved}
		if refusal, overlaps := overlap(r, f, claimed); overlaps {
			answer.Resolved = refusal
			out.Rules = append(out.Rules, answer)
			continue
		}
		for _, cl := range f.claims {
			if claimed[cl.cell()] == nil {
				claimed[cl.cell()] = &cellClaims{rule: r.Rule.Key}
			}
			claimed[cl.cell()].claims = append(claimed[cl.cell()].claims, cl)
			answer.Cells = append(answer.Cells, cl.cell())
		}
		slices.SortFunc(answer.Cells, compareCells)
		answer.Cells = slices.Compact(answer.Cells)
		for _, gr := range f.retained {
			retained[gr] = true
		}
		answer.Resolved = f.answer(answer.Cells)
		out.Rules = append(out.Rules, answer)
	}
	for _, cell := range slices.SortedFunc(maps.Keys(claimed), compareCells) {
		out.Collections = append(out.Collections, claimed[cell].unite(cell))
	}
	out.Retained = slices.Sorted(maps.Keys(retained))
	return out
}

// claim is one item's wish for one cell.
type claim struct {
	typ        change.Type
	preferred  bool
	namespace  string
	selector   string
	operations []change.Operation
	named      bool
}

func (c claim) cell() change.Cell {
	return change.Cell{Group: c.typ.Group, Resource: c.typ.Resource, Namespace: c.namespace}
}

// cellClaims are all claims of one cell; rule is the oldest that claims it.
type cellClaims struct {
	rule   Key
	claims []claim
}

// unite makes one collection of the claims of a cell. The API server selects when all claims agree on the selector;
// else the clauses do, in process.
func (c *cellClaims) unite(cell change.Cell) Collection {
	col := Collection{Namespace: cell.Namespace}
	bySelector := map[string][]change.Operation{}
	best := c.claims[0]
	for _, cl := range c.claims {
		if cl.preferred && !best.preferred || cl.preferred == best.preferred && cl.typ.Version < best.typ.Version {
			best = cl
		}
		bySelector[cl.selector] = union(bySelector[cl.selector], cl.operations)
		col.Operations = union(col.Operations, cl.operations)
		col.Named = col.Named || cl.named
	}
	col.Type = best.typ
	if everything, ok := bySelector[""]; ok && len(everything) == len(col.Operations) {
		return col
	}
	if len(bySelector) == 1 {
		col.Selector = c.claims[0].selector
		return col
	}
	for _, sel := range slices.Sorted(maps.Keys(bySelector)) {
		col.Clauses = append(col.Clauses, Clause{Selector: sel, Operations: bySelector[sel]})
	}
	return col
}

// union joins two sets of operations in their fixed order.
func union(a, b []change.Operation) []change.Operation {
	var out []change.Operation
	for _, o := range []change.Operation{change.Create, change.Update, change.Delete} {
		if slices.Contains(a, o) || slices.Contains(b, o) {
			out = append(out, o)
		}
	}
	return out
}

// overlap refuses a rule as a whole when one of its collections is all namespaces and another claim of the type a named
// one, or the other way round: an object would arrive on two streams (watch 5.3, decision 68).
func overlap(r *Compiled, f *findings, claimed map[change.Cell]*cellClaims) (Answer, bool) {
	own := map[change.Cell]*cellClaims{}
	for _, cl := range f.claims {
		if own[cl.cell()] == nil {
			own[cl.cell()] = &cellClaims{rule: r.Rule.Key}
		}
	}
	for _, cl := range f.claims {
		if !cl.typ.Namespaced {
			continue
		}
		for _, others := range []map[change.Cell]*cellClaims{claimed, own} {
			for _, cell := range slices.SortedFunc(maps.Keys(others), compareCells) {
				if cell.Group == cl.typ.Group && cell.Resource == cl.typ.Resource &&
					(cell.Namespace == "") != (cl.namespace == "") {
					other := fmt.Sprintf("of %s, which is older", others[cell].rule)
					if others[cell].rule == r.Rule.Key {
						other = "of the same rule"
					}
					return Answer{
						Status: False, Reason: ReasonCollectionOverlap, Stalled: true,
						Message: fmt.Sprintf("%s of %s overlaps %s %s. An object would be watched twice.",
							scopeName(cl.cell()), r.Rule.Key, scopeName(cell), other),
					}, true
				}
			}
		}
	}
	return Answer{}, false
}

func scopeName(c change.Cell) string {
	gr := change.Type{Group: c.Group, Resource: c.Resource}.GroupResource()
	if c.Namespace == "" {
		return gr + " in all namespaces"
	}
	return gr + " in namespace " + c.Namespace
}

func compareCells(a, b change.Cell) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Namespace, b.Namespace))
}

// findings are what one rule selects.
type findings struct {
	claims     []claim
	retained   []string
	unresolved []string
	// The texts say what keeps a named resource from being watched, by kind of cause.
	ambiguous, excluded, notServed, notReady []string
}

// answer is the rule's ResourcesResolved; what needs a person comes first.
func (f *findings) answer(cells []change.Cell) Answer {
	text := func(list []string) string {
		slices.Sort(list)
		return strings.Join(slices.Compact(list), " ")
	}
	switch {
	case len(f.ambiguous) > 0:
		return Answer{Status: False, Reason: ReasonAmbiguousResource, Message: text(f.ambiguous), Stalled: true}
	case len(f.excluded) > 0:
		return Answer{Status: False, Reason: ReasonResourceExcluded, Message: text(f.excluded), Stalled: true}
	case len(f.notServed) > 0:
		return Answer{Status: False, Reason: ReasonResourceNotServed, Message: text(f.notServed)}
	case len(f.notReady) > 0:
		return Answer{Status: Unknown, Reason: ReasonCatalogNotReady, Message: text(f.notReady)}
	}
	types := map[[2]string]bool{}
	for _, c := range cells {
		types[[2]string{c.Group, c.Resource}] = true
	}
	return Answer{
		Status: True, Reason: ReasonSucceeded, Message: fmt.Sprintf("watching %d resource type(s)", len(types)),
	}
}
