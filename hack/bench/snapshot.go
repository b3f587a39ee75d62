// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

const (
	// cooldown is longer than the pause the operator makes after a push, so that the next push is not delayed.
	cooldown = 5500 * time.Millisecond
	// settleTime is what the operator needs after a large snapshot to tidy up.
	settleTime = 8 * time.Second
	// idleTime is how long the idle operator is watched: a look at what a source serves included.
	idleTime = 30 * time.Second
)

// snapshot measures the first snapshot of n ConfigMaps into an empty folder, and for the smallest and largest folders
// what follows: idling, single-object commits and latency. The canonical folder is one flat directory.
func snapshot(ctx context.Context, w *world, n, commits, samples int) error {
	o, err := w.operator(ctx)
	if err != nil {
		return err
	}
	defer o.stop()
	m, err := w.newMirror(ctx, o)
	if err != nil {
		return err
	}
	defer m.remove(ctx)
	if err := m.fill(ctx, n); err != nil {
		return err
	}
	if err := m.provide(ctx); err != nil {
		return err
	}
	if err := o.quiet(ctx); err != nil {
		return err
	}
	baseline := o.memory()
	name := fmt.Sprintf("snapshot/%d", n)
	collect := o.profile(name)
	highest, began, cpu := peak(o.PID()), time.Now(), o.cpu()
	if err := m.declare(ctx, nil); err != nil {
		return err
	}
	if err := m.watch(ctx); err != nil {
		return err
	}
	if err := m.holds(ctx, n); err != nil {
		return err
	}
	wall := time.Since(began)
	if err := m.ready(ctx, m.target); err != nil {
		return err
	}
	if err := o.quiet(ctx); err != nil {
		return err
	}
	used := o.cpu() - cpu
	collect()
	goal := ""
	if n == 1000 || n == 20000 {
		goal = "<= 0.3"
	}
	w.table.add(name+"/cpu", ms(used), "ms", "")
	w.table.add(name+"/cpu-per-object", ms(used)/float64(n), "ms", goal)
	replay, err := o.gauge(ctx, "gitopsreverser_watch_replay_duration_seconds_sum")
	if err != nil {
		return err
	}
	w.table.add(name+"/wall", ms(wall), "ms", "")
	w.table.add(name+"/wall-replay", 1000*replay, "ms", "")
	w.table.add(name+"/rss-peak", mib(highest()), "MiB", map[int]string{1000: "<= 60", 20000: "<= 120"}[n])
	if n == 5000 {
		return nil
	}
	o.profile("settled-" + name)()
	if err := m.idle(ctx, n); err != nil {
		return err
	}
	w.table.add(fmt.Sprintf("memory/%d/rss", n), o.memory(), "MiB", map[int]string{1000: "<= 60", 20000: "<= 120"}[n])
	w.table.add(fmt.Sprintf("memory/%d/rss-over-start", n), o.memory()-baseline, "MiB", "")
	if n == 200 || n == 20000 {
		goal := map[int]string{200: "<= 2", 20000: "<= 5"}[n]
		if err := m.single(ctx, fmt.Sprintf("commit/flat-%d", n), n, commits, goal); err != nil {
			return err
		}
		return m.latency(ctx, n, samples)
	}
	return nil
}

// holds waits until the folder has n documents on the branch.
func (m *mirror) holds(ctx context.Context, n int) error {
	seen := 0
	return m.o.until(ctx, fmt.Sprintf("%d documents in Git", n), 5*time.Millisecond, func() (bool, error) {
		// The git command is asked only when a push has been answered: it uses the CPU that is measured.
		pushes := len(m.w.pushes())
		if pushes == seen {
			return false, nil
		}
		seen = pushes
		have, err := m.files()
		return have == n, err
	})
}

// idle measures an operator that has nothing to do.
func (m *mirror) idle(ctx context.Context, n int) error {
	settle, watched := settleTime, idleTime
	if m.w.quick {
		settle, watched = time.Second, 5*time.Second
	}
	if err := sleep(ctx, settle); err != nil {
		return err
	}
	before, err := m.o.apiRequests(ctx)
	if err != nil {
		return err
	}
	if err := m.o.quiet(ctx); err != nil {
		return err
	}
	m.w.git.Reset()
	began, cpu := time.Now(), m.o.cpu()
	if err := sleep(ctx, watched); err != nil {
		return err
	}
	used, lasted := m.o.cpu()-cpu, time.Since(began)
	after, err := m.o.apiRequests(ctx)
	if err != nil {
		return err
	}
	prefix := fmt.Sprintf("idle/%d", n)
	m.w.table.add(prefix+"/cpu", ms(used)/lasted.Seconds(), "ms/s", "<= 1")
	m.w.table.add(prefix+"/git-requests", float64(len(m.w.git.Requests())), "requests", "0")
	if !m.w.quick {
		m.w.table.add(prefix+"/api-requests", after-before, "requests", "")
	}
	return nil
}

// single measures the CPU of commits that change one object each. They come faster than the cooldown, so that their
// pushes are few; the latency rows add a push to each.
func (m *mirror) single(ctx context.Context, name string, n, commits int, goal string) error {
	if err := m.o.quiet(ctx); err != nil {
		return err
	}
	before, err := m.commits()
	if err != nil {
		return err
	}
	collect := m.o.profile(name)
	cpu := m.o.cpu()
	pace := time.NewTicker(25 * time.Millisecond)
	defer pace.Stop()
	for i := range commits {
		<-pace.C
		if err := m.edit(ctx, i*max(1, n/commits)%n, fmt.Sprintf("%s-%d", name, i)); err != nil {
			return err
		}
	}
	err = m.o.until(ctx, fmt.Sprintf("%d commits", commits), 100*time.Millisecond, func() (bool, error) {
		have, err := m.commits()
		return have == before+commits, err
	})
	if err != nil {
		return err
	}
	if err := m.o.quiet(ctx); err != nil {
		return err
	}
	used := m.o.cpu() - cpu
	collect()
	m.w.table.add(name+"/cpu", ms(used)/float64(commits), "ms", goal)
	return nil
}

// latency measures single edits on a quiet worker: from the API server's answer to the moment the push arrives at the
// Git server, with the shares of both servers beside it.
func (m *mirror) latency(ctx context.Context, n, samples int) error {
	var own, api, git, cpu []float64
	for i := range samples {
		if err := sleep(ctx, cooldown); err != nil {
			return err
		}
		if err := m.o.quiet(ctx); err != nil {
			return err
		}
		m.w.git.Reset()
		before, sent := m.o.cpu(), time.Now()
		if err := m.edit(ctx, i, "latency-"+strconv.Itoa(i)); err != nil {
			return err
		}
		answered := time.Now()
		if err := m.pushed(ctx, 1); err != nil {
			return err
		}
		push := m.w.pushes()[0]
		if err := m.o.quiet(ctx); err != nil {
			return err
		}
		own = append(own, ms(push.Began.Sub(answered)))
		api = append(api, ms(answered.Sub(sent)))
		git = append(git, ms(push.Took))
		cpu = append(cpu, ms(m.o.cpu()-before))
	}
	prefix := fmt.Sprintf("latency/%d", n)
	m.w.table.add(prefix+"/event-to-push", median(own), "ms", "<= 5")
	m.w.table.add(prefix+"/api-server", median(api), "ms", "")
	m.w.table.add(prefix+"/git-server", median(git), "ms", "")
	m.w.table.add(prefix+"/cpu-with-push", median(cpu), "ms", "")
	return nil
}

// spread measures commits in a folder whose directories hold at most 1000 documents. Somebody put them there before:
// their content equals the live objects, so the first snapshot changes nothing.
func spread(ctx context.Context, w *world, n, commits int) error {
	o, err := w.operator(ctx)
	if err != nil {
		return err
	}
	defer o.stop()
	m, err := w.newMirror(ctx, o)
	if err != nil {
		return err
	}
	defer m.remove(ctx)
	files := make(map[string]string, n)
	for i := range n {
		files[fmt.Sprintf("%s/part-%02d/%s.yaml", folder, i/1000, objectName(i))] = m.document(i, "first")
	}
	if _, err := m.repo.Commit("main", "Before the operator", files); err != nil {
		return err
	}
	if err := m.fill(ctx, n); err != nil {
		return err
	}
	before, err := m.commits()
	if err != nil {
		return err
	}
	cpu := o.cpu()
	collect := o.profile(fmt.Sprintf("adopt/%d", n))
	if err := m.mirrored(ctx); err != nil {
		return err
	}
	used := o.cpu() - cpu
	collect()
	if after, err := m.commits(); err != nil || after != before {
		return fmt.Errorf("the snapshot of an equal folder made %d commits: %w", after-before, err)
	}
	w.table.add(fmt.Sprintf("adopt/%d/cpu-per-object", n), ms(used)/float64(n), "ms", "")
	if err := sleep(ctx, settleTime); err != nil {
		return err
	}
	if err := m.single(ctx, fmt.Sprintf("commit/spread-%d", n), n, commits, "<= 2"); err != nil {
		return err
	}
	w.git.Reset()
	return m.foreign(ctx, n)
}

// foreign measures what the operator reads when somebody else pushes one changed file of n.
func (m *mirror) foreign(ctx context.Context, n int) error {
	file := fmt.Sprintf("%s/part-00/%s.yaml", folder, objectName(1))
	if _, err := m.repo.Commit("main", "Edit by hand", map[string]string{file: "# ours\n" + m.document(1, "first")}); err != nil {
		return err
	}
	m.w.git.Reset()
	if err := m.request(ctx); err != nil {
		return err
	}
	if err := m.o.quiet(ctx); err != nil {
		return err
	}
	var received int64
	for _, r := range m.w.git.Requests() {
		if r.Service == "git-upload-pack" {
			received += r.Out
		}
	}
	m.w.table.add(fmt.Sprintf("ledger/foreign-push-of-1-in-%d/received", n), float64(received), "bytes", "<= 51200")
	return nil
}

// remove deletes the mirror's GitTargets, so that the next operator does not take them up.
func (m *mirror) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	_ = m.w.kube.DeleteAllOf(ctx, &v1alpha3.GitTarget{}, client.InNamespace(m.namespace))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
