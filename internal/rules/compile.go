// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Compiled is a rule whose gates are passed. It is immutable.
type Compiled struct {
	Rule  Rule
	items []compiledItem
}

// compiledItem is an item with its scope resolved and its selector in canonical form.
type compiledItem struct {
	Item
	// all: one watch over all namespaces (or a cluster-scoped type); else namespaces.
	all        bool
	namespaces []string
	selector   string
	operations []change.Operation
}

// Compile answers whether a rule may be planned and with which scopes (watch 5.1, source-namespace-gate). ns may be nil
// when no selector policy exists. A suspended rule is removed.
func Compile(r Rule, a Access, ns Namespaces) Result {
	if r.Suspended {
		return Result{Effect: Remove, Refused: Answer{
			Status: True, Reason: ReasonSuspended, Message: "The rule is suspended and selects nothing.",
		}}
	}
	c := &Compiled{Rule: r, items: make([]compiledItem, len(r.Items))}
	for i, item := range r.Items {
		sel, err := canonical(item.ObjectSelector)
		if err != nil {
			return Result{Effect: Remove, Refused: Answer{
				Status: False, Reason: ReasonObjectSelectorInvalid, Stalled: true,
				Message: fmt.Sprintf("rules[%d].objectSelector: %v", i, err),
			}}
		}
		c.items[i] = compiledItem{
			Item: item, selector: sel, operations: operations(item.Operations), all: r.Kind == ClusterWatchRule,
		}
	}
	if r.Kind == ClusterWatchRule {
		return Result{Effect: Replace, Compiled: c}
	}
	return gate(c, a, ns)
}

// operations resolves the words of a rule; none means all.
func operations(words []string) []change.Operation {
	all := []change.Operation{change.Create, change.Update, change.Delete}
	if len(words) == 0 || slices.Contains(words, All) {
		return all
	}
	return slices.DeleteFunc(all, func(o change.Operation) bool { return !slices.Contains(words, string(o)) })
}

// canonical returns the one text form of a selector; empty selects every object.
func canonical(s *Selector) (string, error) {
	if s == nil {
		return "", nil
	}
	sel, err := s.parse()
	if err != nil {
		return "", err
	}
	reqs, _ := sel.Requirements()
	parts := make([]string, 0, len(reqs))
	for _, r := range reqs {
		parts = append(parts, r.String())
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), ","), nil
}

func (s *Selector) parse() (labels.Selector, error) {
	ls := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, e := range s.MatchExpressions {
		ls.MatchExpressions = append(ls.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: e.Key, Operator: metav1.LabelSelectorOperator(e.Operator), Values: e.Values,
		})
	}
	return metav1.LabelSelectorAsSelector(ls)
}

// standing is the gate's answer for one item, in the order in which answers win.
type standing int

const (
	legacy standing = iota
	allowed
	pending
	undecided
	unavailable
	denied
)

// gate runs the source-namespace gate over the items of a WatchRule. The strictest answer is the rule's.
func gate(c *Compiled, a Access, ns Namespaces) Result {
	worst, message, count := legacy, "", 0
	for i := range c.items {
		it := &c.items[i]
		s, text := judge(it, c.Rule, a, ns)
		if s > worst {
			worst = s
			if text != "" {
				message = fmt.Sprintf("rules[%d] (%s): %s", i, strings.Join(it.Resources, ", "), text)
			}
		}
		count += len(it.namespaces)
	}
	switch worst {
	case denied:
		return Result{Effect: Remove, Authorized: Answer{
			Status: False, Reason: ReasonNamespaceNotAllowed, Message: message, Stalled: true,
		}}
	case unavailable:
		return Result{Effect: Remove, Authorized: Answer{
			Status: False, Reason: ReasonNamespacePolicyBad, Message: message, Stalled: true,
		}}
	case undecided:
		return Result{Effect: Keep, Authorized: Answer{
			Status: Unknown, Reason: ReasonNamespacePolicyPending, Message: message,
		}}
	case pending:
		return Result{Effect: Keep, Authorized: Answer{Status: Unknown, Reason: ReasonProgressing, Message: message}}
	case allowed:
		return Result{Effect: Replace, Compiled: c, Authorized: Answer{
			Status: True, Reason: ReasonNamespaceAllowed, Message: scopeText(c, count),
		}}
	default:
		return Result{Effect: Replace, Compiled: c, Authorized: Answer{
			Status: True, Reason: ReasonLegacySourceNamespace, Message: "The rule watches its own namespace.",
		}}
	}
}

func scopeText(c *Compiled, count int) string {
	if slices.ContainsFunc(c.items, func(i compiledItem) bool { return i.all }) {
		return "The rule watches all namespaces of the source."
	}
	return fmt.Sprintf("The rule watches %d namespaces.", count)
}

// judge resolves the scope of one item. The first row that fits decides (source-namespace-gate).
func judge(it *compiledItem, r Rule, a Access, ns Namespaces) (standing, string) {
	name := it.SourceNamespace
	own := name == "" || name == r.Namespace
	if own {
		name = r.Namespace
	}
	if own && a.Policy == nil {
		it.namespaces = []string{name}
		return legacy, ""
	}
	if !own {
		switch {
		case a.Undecided != "":
			return pending, a.Undecided
		case !a.TargetAdmitted:
			return denied, fmt.Sprintf("the source namespace %q needs a KubeProvider that admits the GitTarget", name)
		case !a.AllowAnySourceNamespace:
			return denied, fmt.Sprintf(
				"the source namespace %q needs allowAnySourceNamespace on the KubeProvider", name)
		}
	}
	if a.Policy == nil {
		if name == All {
			it.all = true
		} else {
			it.namespaces = []string{name}
		}
		return allowed, ""
	}
	return bounded(it, name, a.Policy, ns)
}

// bounded applies the GitTarget's allowedSourceNamespaces.
func bounded(it *compiledItem, name string, p *NamespacePolicy, ns Namespaces) (standing, string) {
	for _, n := range p.Names {
		if errs := validation.IsDNS1123Label(n); len(errs) > 0 {
			return unavailable, fmt.Sprintf("allowedSourceNamespaces.names holds %q: %s", n, errs[0])
		}
	}
	var sel labels.Selector
	if p.Selector != nil {
		var err error
		if sel, err = p.Selector.parse(); err != nil {
			return unavailable, fmt.Sprintf("allowedSourceNamespaces.selector: %v", err)
		}
	}
	if name != All && slices.Contains(p.Names, name) {
		it.namespaces = []string{name}
		return allowed, ""
	}
	if sel == nil {
		if name == All {
			it.namespaces = slices.Sorted(slices.Values(p.Names))
			return allowed, ""
		}
		return denied, fmt.Sprintf("allowedSourceNamespaces does not name %q", name)
	}
	if s, text := usable(ns); text != "" {
		return s, text
	}
	if name == All {
		it.namespaces = slices.Clone(p.Names)
		for _, n := range ns.Names() {
			if l, _ := ns.Labels(n); sel.Matches(labels.Set(l)) {
				it.namespaces = append(it.namespaces, n)
			}
		}
		slices.Sort(it.namespaces)
		it.namespaces = slices.Compact(it.namespaces)
		return allowed, ""
	}
	l, ok := ns.Labels(name)
	switch {
	case !ok:
		return denied, fmt.Sprintf("the source has no namespace %q for allowedSourceNamespaces.selector to match", name)
	case !sel.Matches(labels.Set(l)):
		return denied, fmt.Sprintf("the labels of %q do not match allowedSourceNamespaces.selector", name)
	}
	it.namespaces = []string{name}
	return allowed, ""
}

// usable says whether the namespace snapshot can be asked; the text is empty when it can.
func usable(ns Namespaces) (standing, string) {
	if ns == nil {
		return undecided, "the namespaces of the source are not known yet"
	}
	synced, forbidden := ns.State()
	switch {
	case forbidden:
		return unavailable, "the source's credentials may not list namespaces, which allowedSourceNamespaces.selector needs"
	case !synced:
		return undecided, "the namespaces of the source are not known yet"
	}
	return allowed, ""
}
