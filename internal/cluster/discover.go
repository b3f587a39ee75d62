// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// discover looks at the whole of discovery once: two requests where the server aggregates it. The error is for a look
// that showed nothing; single group versions that fail are part of the scan.
func discover(ctx context.Context, d discovery.DiscoveryInterfaceWithContext) (scan, error) {
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, d)
	s := scan{
		served: map[groupVersion][]resource{}, failed: map[groupVersion]string{}, preferred: map[string]string{},
	}
	var partial *discovery.ErrGroupDiscoveryFailed
	switch {
	case errors.As(err, &partial):
		for gv, cause := range partial.Groups {
			s.failed[groupVersion{gv.Group, gv.Version}] = PlainCause(cause)
		}
	case err != nil:
		return scan{}, err
	default:
		s.complete = true
	}
	for _, g := range groups {
		s.preferred[g.Name] = g.PreferredVersion.Version
	}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return scan{}, fmt.Errorf("discovery names the group version %q: %w", l.GroupVersion, err)
		}
		key := groupVersion{gv.Group, gv.Version}
		if _, failed := s.failed[key]; failed {
			continue
		}
		s.served[key] = resources(l)
	}
	return s, nil
}

func resources(l *metav1.APIResourceList) []resource {
	out := make([]resource, 0, len(l.APIResources))
	for _, r := range l.APIResources {
		out = append(out, resource{name: r.Name, kind: r.Kind, namespaced: r.Namespaced, verbs: r.Verbs})
	}
	return out
}

// unreachable turns an error of discovery into an observation (watch 2).
func unreachable(err error) Reachability {
	r := Reachability{Status: "False", Reason: ReasonUnreachable, Message: "Discovery failed: " + PlainCause(err)}
	switch {
	case apierrors.IsUnauthorized(err):
		r.Reason = ReasonAuthenticationFailed
	case apierrors.IsForbidden(err):
		r.Reason = ReasonAccessDenied
	}
	return r
}

// PlainCause gives the words of an error without what differs from attempt to attempt, such as local ports.
func PlainCause(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		if op.Addr != nil {
			return fmt.Sprintf("%s %s: %v", op.Op, op.Addr, op.Err)
		}
		return fmt.Sprintf("%s: %v", op.Op, op.Err)
	}
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return "timeout"
		}
		return u.Err.Error()
	}
	return err.Error()
}
