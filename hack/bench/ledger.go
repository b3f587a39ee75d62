// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// ledger counts the requests and bytes of each operation, as the Git server sees them.
func ledger(ctx context.Context, w *world) error {
	o, err := w.operator(ctx)
	if err != nil {
		return err
	}
	defer o.stop()
	empty, err := w.newMirror(ctx, o)
	if err != nil {
		return err
	}
	defer empty.remove(ctx)
	if empty.repo, err = w.git.Wipe(empty.repo.Name, gitserver.RepoOptions{}); err != nil {
		return err
	}
	m, err := w.newMirror(ctx, o)
	if err != nil {
		return err
	}
	defer m.remove(ctx)
	for _, step := range []struct {
		mirror    *mirror
		row, goal string
		slow      bool
		do        func() error
	}{
		{empty, "first-base-empty", "<= 3", false, func() error { return empty.first(ctx) }},
		{m, "first-base-populated", "<= 3", false, func() error { return m.first(ctx) }},
		{m, "one-object", "1", false, func() error { return m.editAndPush(ctx, 1) }},
		{m, "rejected-once", "3", false, func() error { return m.contended(ctx, 1) }},
		{m, "rejected-twice", "5", true, func() error { return m.contended(ctx, 2) }},
		{m, "snapshot-with-commit", "2", false, func() error { return m.another(ctx) }},
		{m, "recheck-unchanged", "1", true, func() error { return m.request(ctx) }},
		{m, "rule-adds-type", "", true, func() error { return m.second(ctx) }},
	} {
		if w.quick && step.slow {
			continue
		}
		if err := step.mirror.counted(ctx, step.row, step.goal, step.do); err != nil {
			return fmt.Errorf("%s: %w", step.row, err)
		}
	}
	return nil
}

// counted runs one operation on a quiet worker and adds its requests and bytes.
func (m *mirror) counted(ctx context.Context, row, goal string, do func() error) error {
	if m.target == nil {
		if err := m.provide(ctx); err != nil {
			return err
		}
	} else if err := sleep(ctx, cooldown); err != nil {
		return err
	}
	if err := m.o.quiet(ctx); err != nil {
		return err
	}
	m.w.git.Reset()
	if err := do(); err != nil {
		return err
	}
	if err := m.o.quiet(ctx); err != nil {
		return err
	}
	var sent, received int64
	requests := m.w.git.Requests()
	for _, r := range requests {
		sent, received = sent+r.In, received+r.Out
		fmt.Printf("   %s %s: %d bytes sent, %d received\n", r.Method, r.Service, r.In, r.Out)
	}
	m.w.table.add("ledger/"+row+"/requests", float64(len(requests)), "requests", goal)
	bytesGoal := ""
	switch row {
	case "one-object":
		bytesGoal = "<= 2048"
	case "look-unchanged":
		bytesGoal = "<= 1024"
	}
	m.w.table.add("ledger/"+row+"/bytes", float64(sent+received), "bytes", bytesGoal)
	return nil
}

// first makes the first commit of a mirror of three objects.
func (m *mirror) first(ctx context.Context) error {
	if err := m.fill(ctx, 3); err != nil {
		return err
	}
	if err := m.declare(ctx, nil); err != nil {
		return err
	}
	if err := m.watch(ctx); err != nil {
		return err
	}
	if err := m.holds(ctx, 3); err != nil {
		return err
	}
	return m.ready(ctx, m.target)
}

func (m *mirror) editAndPush(ctx context.Context, i int) error {
	if err := m.edit(ctx, i, m.w.unique("edit")); err != nil {
		return err
	}
	return m.pushed(ctx, 1)
}

// contended edits one object while somebody else pushes before each of the first attempts.
func (m *mirror) contended(ctx context.Context, times int) error {
	var failed error
	m.w.git.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: "POST", Times: times, Before: func() {
		_, err := m.repo.Commit("main", "Somebody else", map[string]string{"NOTES.md": m.w.unique("note")})
		if err != nil {
			failed = err
		}
	}})
	defer m.w.git.ClearFaults()
	if err := m.edit(ctx, 2, m.w.unique("contended")); err != nil {
		return err
	}
	if err := m.pushed(ctx, times+1); err != nil {
		return err
	}
	return failed
}

// request asks for a recheck by annotation and waits until it is answered.
func (m *mirror) request(ctx context.Context) error {
	key := client.ObjectKeyFromObject(m.target)
	if err := m.w.kube.Get(ctx, key, m.target); err != nil {
		return err
	}
	token := m.w.unique("now")
	patch := client.MergeFrom(m.target.DeepCopy())
	m.target.SetAnnotations(map[string]string{v1alpha3.ReconcileRequestAnnotation: token})
	if err := m.w.kube.Patch(ctx, m.target, patch); err != nil {
		return err
	}
	return m.o.until(ctx, "the recheck", 50*time.Millisecond, func() (bool, error) {
		err := m.w.kube.Get(ctx, key, m.target)
		return err == nil && m.target.Status.LastHandledReconcileAt == token, err
	})
}

// another adds a GitTarget to the branch: a snapshot with a commit on a base that is known.
func (m *mirror) another(ctx context.Context) error {
	t := m.target.DeepCopy()
	t.ObjectMeta = metav1.ObjectMeta{Namespace: m.namespace, Name: "another"}
	t.Spec.Path, t.Status = "clusters/another", v1alpha3.GitTargetStatus{}
	if err := m.w.kube.Create(ctx, t); err != nil {
		return err
	}
	rule := &v1alpha3.WatchRule{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "another"}}
	rule.Spec.GitTargetRef.Name, rule.Spec.Rules = t.Name, []v1alpha3.WatchRuleItem{selection("", "configmaps")}
	if err := m.w.kube.Create(ctx, rule); err != nil {
		return err
	}
	return m.pushed(ctx, 1)
}

// refresh measures the look that an idle branch makes from time to time.
func refresh(ctx context.Context, w *world) error {
	o, err := w.operator(ctx, "--git-refresh-interval=5s")
	if err != nil {
		return err
	}
	defer o.stop()
	m, err := w.newMirror(ctx, o)
	if err != nil {
		return err
	}
	defer m.remove(ctx)
	if err := m.provide(ctx); err != nil {
		return err
	}
	err = m.declare(ctx, func(t *v1alpha3.GitTarget) { t.Spec.Interval = &metav1.Duration{Duration: 30 * time.Second} })
	if err != nil {
		return err
	}
	if err := m.watch(ctx); err != nil {
		return err
	}
	if err := m.ready(ctx, m.target); err != nil {
		return err
	}
	return m.counted(ctx, "look-unchanged", "1", func() error {
		return o.until(ctx, "a refresh", 50*time.Millisecond, func() (bool, error) { return len(w.git.Requests()) > 0, nil })
	})
}

// second adds a type to the rules.
func (m *mirror) second(ctx context.Context) error {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "web"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if err := m.w.kube.Create(ctx, service); err != nil {
		return err
	}
	rule := &v1alpha3.WatchRule{}
	if err := m.w.kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "rule"}, rule); err != nil {
		return err
	}
	rule.Spec.Rules = append(rule.Spec.Rules, selection("", "services"))
	if err := m.w.kube.Update(ctx, rule); err != nil {
		return err
	}
	return m.holds(ctx, 4)
}
