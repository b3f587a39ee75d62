// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watchrules

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/rules"
)

// ruleOf turns a WatchRule into the plain values the compiler takes.
func ruleOf(o *v1alpha3.WatchRule) rules.Rule {
	r := rules.Rule{
		Key: rules.Key{Kind: rules.WatchRule, Namespace: o.Namespace,
			Name: o.Name}, UID: string(o.UID), Generation: o.Generation,
		Created: o.CreationTimestamp.Time, Suspended: o.Spec.Suspend,
		Target: types.NamespacedName{Namespace: o.Namespace, Name: o.Spec.GitTargetRef.Name},
	}
	for _, item := range o.Spec.Rules {
		x := rules.Item{
			APIGroups: item.APIGroups, APIVersions: item.APIVersions, Resources: item.Resources,
			SourceNamespace: item.SourceNamespace, ObjectSelector: objectSelector(item.ObjectSelector),
		}
		for _, op := range item.Operations {
			x.Operations = append(x.Operations, string(op))
		}
		r.Items = append(r.Items, x)
	}
	return r
}

func objectSelector(s *v1alpha3.ObjectSelector) *rules.Selector {
	return selector(s.LabelSelector())
}

func selector(s *metav1.LabelSelector) *rules.Selector {
	if s == nil {
		return nil
	}
	out := &rules.Selector{MatchLabels: s.MatchLabels}
	for _, e := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, rules.Requirement{Key: e.Key,
			Operator: string(e.Operator), Values: e.Values})
	}
	return out
}

// policy turns GitTarget.spec.allowedSourceNamespaces into plain values; nil when the target declares none.
func policy(t *v1alpha3.GitTarget) *rules.NamespacePolicy {
	p := t.Spec.AllowedSourceNamespaces
	if p == nil {
		return nil
	}
	return &rules.NamespacePolicy{Names: p.Names, Selector: selector(p.Selector)}
}
