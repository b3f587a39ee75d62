// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// manyTypes are eighteen namespaced types that every API server has.
var manyTypes = []v1alpha3.WatchRuleItem{
	selection("", "configmaps", "services", "serviceaccounts", "limitranges", "podtemplates",
		"replicationcontrollers", "resourcequotas", "persistentvolumeclaims"),
	selection("apps", "deployments", "daemonsets", "replicasets", "statefulsets"),
	selection("batch", "cronjobs"),
	selection("networking.k8s.io", "ingresses", "networkpolicies"),
	selection("policy", "poddisruptionbudgets"),
	selection("rbac.authorization.k8s.io", "roles", "rolebindings"),
}

// idleStreams measures the memory of 504 streams: 28 GitTargets with 18 types each, on one branch.
func idleStreams(ctx context.Context, w *world) error {
	o, err := w.operator(ctx)
	if err != nil {
		return err
	}
	defer o.stop()
	const targets = 28
	mirrors, err := w.shared(ctx, o, targets)
	if err != nil {
		return err
	}
	defer func() {
		for _, m := range mirrors {
			m.remove(ctx)
		}
	}()
	before, err := o.held(ctx)
	if err != nil {
		return err
	}
	rss := o.memory()
	for _, m := range mirrors {
		if err := m.watch(ctx, manyTypes...); err != nil {
			return err
		}
	}
	const want = targets * 18
	open := 0.0
	err = o.until(ctx, "the streams", time.Second, func() (ok bool, err error) {
		open, err = o.gauge(ctx, "gitopsreverser_watch_streams_open")
		return open == want, err
	})
	if err != nil {
		return fmt.Errorf("%v streams are open, not %d: %w", open, want, err)
	}
	after, err := o.held(ctx)
	if err != nil {
		return err
	}
	w.table.add("streams/idle/held", after-before, "MiB", "<= 30")
	w.table.add("streams/idle/rss", o.memory()-rss, "MiB", "")
	defer o.profile("streams")()
	cpu, began := o.cpu(), time.Now()
	if err := sleep(ctx, idleTime); err != nil {
		return err
	}
	w.table.add("streams/idle/cpu", ms(o.cpu()-cpu)/time.Since(began).Seconds(), "ms/s", "")
	return nil
}

// stalledStreams measures the memory of 50 streams nobody reads: their branch takes no more because its remote is away.
func stalledStreams(ctx context.Context, w *world) error {
	o, err := w.operator(ctx, "--branch-buffer-max-size=16Ki")
	if err != nil {
		return err
	}
	defer o.stop()
	const targets, edits, size = 50, 40, 16 << 10
	mirrors, err := w.shared(ctx, o, targets)
	if err != nil {
		return err
	}
	defer func() {
		for _, m := range mirrors {
			m.remove(ctx)
		}
	}()
	for _, m := range mirrors {
		if err := m.watch(ctx); err != nil {
			return err
		}
	}
	for _, m := range mirrors {
		if err := m.ready(ctx, m.target); err != nil {
			return err
		}
	}
	before, err := o.held(ctx)
	if err != nil {
		return err
	}
	rss := o.memory()
	w.git.SetFault(gitserver.Fault{Status: 503, Body: "down for maintenance"})
	defer w.git.ClearFaults()
	errs := make([]error, len(mirrors))
	var wg sync.WaitGroup
	for i, m := range mirrors {
		wg.Go(func() { errs[i] = m.flood(ctx, edits, size) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	defer o.profile("stalled")()
	after, err := o.held(ctx)
	if err != nil {
		return err
	}
	w.table.add("streams/stalled/held", after-before, "MiB", "<= 20")
	w.table.add("streams/stalled/rss", o.memory()-rss, "MiB", "")
	return nil
}

// flood creates one object and edits it many times, as large as it is.
func (m *mirror) flood(ctx context.Context, edits, size int) error {
	c := m.w.objects.CoreV1().ConfigMaps(m.namespace)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "large"}}
	object, err := c.Create(ctx, object, metav1.CreateOptions{})
	for i := 0; i < edits && err == nil; i++ {
		object.Data = map[string]string{"text": strings.Repeat(fmt.Sprintf("%07d\n", i), size/8)}
		object, err = c.Update(ctx, object, metav1.UpdateOptions{})
	}
	return err
}

// shared makes GitTargets of several namespaces that write into folders of one branch, through one GitProvider.
func (w *world) shared(ctx context.Context, o *operator, n int) ([]*mirror, error) {
	first, err := w.newMirror(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := first.provide(ctx); err != nil {
		return nil, err
	}
	out := []*mirror{first}
	for len(out) < n {
		m, err := w.newMirror(ctx, o)
		if err != nil {
			return nil, err
		}
		m.repo = first.repo
		out = append(out, m)
	}
	for i, m := range out {
		err := m.declare(ctx, func(t *v1alpha3.GitTarget) {
			t.Spec.Path = fmt.Sprintf("clusters/%02d", i)
			t.Spec.GitProviderRef.Namespace = first.namespace
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
