// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// laneWorld is one history of a worker with its real lane: plans, the store and git http-backend, in fake time.
type laneWorld struct {
	*bed
	rng     *rand.Rand
	sink    Sink
	live    map[string]int // what the cluster holds: the version of each object
	version int
	mu      sync.Mutex
	foreign []string
	// refusals: the server refuses content, too; then only a snapshot can tell that everything arrived.
	refusals bool
}

// TestHistoriesThroughTheRealLane is the slower simulation of design/architecture.md: random edits, snapshots, foreign
// pushes and faults of the server. In the end Git equals the cluster, every foreign commit is in the history, no object
// ever went back to an older version by our hand, and git finds nothing wrong. LANE_SEED and LANE_N choose histories.
func TestHistoriesThroughTheRealLane(t *testing.T) {
	seed, n := setting(t, "LANE_SEED", 1), setting(t, "LANE_N", 6)
	for i := range n {
		t.Run(fmt.Sprint("seed ", seed+i), func(t *testing.T) {
			w := &laneWorld{
				bed: newBed(t, core.Config{RetryMin: time.Second, RetryMax: 4 * time.Second, Cooldown: time.Second}),
				rng: rand.New(rand.NewPCG(seed+i, 7)), live: map[string]int{},
			}
			w.refusals = w.rng.IntN(2) == 0
			w.sink = w.set(w.target("live", func(t *Target) { t.Machine.Prune = core.PruneAlways }))
			for range 40 {
				w.act()
				w.clock.Step(time.Duration(w.rng.IntN(1500)) * time.Millisecond)
			}
			w.end()
		})
	}
}

func setting(t *testing.T, name string, def uint64) uint64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return def
	}
	n, err := strconv.ParseUint(v, 10, 64)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return n
}

func (w *laneWorld) act() {
	name := string(rune('a' + w.rng.IntN(5)))
	switch n := w.rng.IntN(20); {
	case n < 10:
		w.version++
		w.live[name] = w.version
		w.offer(edit(key("live"), name, fmt.Sprint("v", w.version)))
	case n < 12:
		if _, ok := w.live[name]; ok {
			delete(w.live, name)
			c := edit(key("live"), name, "")
			c.Operation, c.Desired = change.Delete, nil
			w.offer(c)
		}
	case n < 15:
		files := map[string]string{"other/" + name: fmt.Sprint(w.rng.Int())}
		if w.rng.IntN(3) == 0 {
			files["live/README.md"] = fmt.Sprint(w.rng.Int())
		}
		w.push(files)
	case n < 16:
		w.snapshot()
	default:
		w.server.SetFault(w.fault())
	}
}

// fault is one request that goes wrong.
func (w *laneWorld) fault() gitserver.Fault {
	content := fmt.Sprint(w.rng.Int())
	faults := []gitserver.Fault{
		{Status: http.StatusServiceUnavailable, Body: "maintenance"},
		{Close: true},
		{CloseAfter: 1 + w.rng.Int64N(80)},
		{Service: "git-receive-pack", Method: http.MethodPost, Backend: true, Close: true}, // the reply is lost
		{Service: "git-receive-pack", Before: func() { w.push(map[string]string{"other/fast": content}) }},
	}
	if w.refusals {
		faults = append(faults, gitserver.Fault{Service: "git-receive-pack", Method: http.MethodPost,
			Status: http.StatusRequestEntityTooLarge, Body: "too large"})
	}
	f := faults[w.rng.IntN(len(faults))]
	f.Times = 1
	return f
}

// push is another writer's push: a compare-and-swap on the present tip, as a server does it.
func (w *laneWorld) push(files map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		tip := w.repo.Tip("main")
		if _, err := w.repo.Git("update-ref", "refs/heads/theirs", tip); err != nil {
			w.t.Error(err)
			return
		}
		id, err := w.repo.Commit("theirs", "foreign", files)
		if err != nil {
			w.t.Error(err)
			return
		}
		if _, err := w.repo.Git("update-ref", "refs/heads/main", id, tip); err == nil {
			w.foreign = append(w.foreign, id)
			return
		}
	}
}

// offer gives a change to the worker as watch does: what is refused is offered again.
func (w *laneWorld) offer(c change.Change) {
	w.t.Helper()
	w.until(func() bool { return w.sink.Offer(w.t.Context(), c, false) == change.Accepted }, "the change is taken")
}

func (w *laneWorld) snapshot() {
	w.t.Helper()
	s := change.Snapshot{Target: key("live"), Cell: cell, Type: configMaps, ResourceVersion: "7"}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if v, ok := w.live[name]; ok {
			s.Items = append(s.Items, edit(key("live"), name, fmt.Sprint("v", v)).Item)
		}
	}
	w.until(func() bool {
		verdict, _ := w.sink.Snapshot(w.t.Context(), s, false, core.Stamp{Epoch: 1})
		return verdict == change.Accepted
	}, "the snapshot is taken")
}

// end lets the faults end, waits until all is published, and checks the branch.
func (w *laneWorld) end() {
	w.server.ClearFaults()
	if !w.refusals {
		w.drain()
		w.equal() // without a snapshot: no edit was lost on the way
	}
	w.manager.Recheck(key("live"), "the end")
	w.snapshot()
	w.drain()
	w.equal()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.foreign {
		w.Expect(w.repo.IsAncestor(id, "main")).To(BeTrue(), "a foreign commit is lost")
	}
	w.forward()
	w.Expect(w.repo.Fsck()).To(Succeed())
}

// drain waits until nothing is left to publish; the snapshots the machine asks for are taken.
func (w *laneWorld) drain() {
	w.t.Helper()
	w.until(func() bool {
		if len(w.requests.Take()) > 0 {
			w.snapshot()
			return false
		}
		s := w.status("live")
		return s.Queue == 0 && s.Target.Waiting == 0 && s.Bytes == 0 && s.Failing == nil && s.Target.PushRejected == nil &&
			s.Target.WriteFailed == nil
	}, "everything is published")
}

// equal compares Git with the cluster.
func (w *laneWorld) equal() {
	w.t.Helper()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		content, err := w.repo.ReadFile("main", file("live", name))
		if v, ok := w.live[name]; ok {
			w.Expect(err).NotTo(HaveOccurred(), name)
			w.Expect(string(content)).To(ContainSubstring(fmt.Sprintf("value: v%d\n", v)))
		} else {
			w.Expect(err).To(HaveOccurred(), "%s is deleted", name)
		}
	}
}

var value = regexp.MustCompile(`value: v(\d+)`)

// forward checks that the history is one line in which no object goes back to an older version.
func (w *laneWorld) forward() {
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	newest := map[string]int{}
	for _, c := range slices.Backward(log) {
		w.Expect(len(c.Parents)).To(BeNumerically("<=", 1), "linear")
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			content, err := w.repo.ReadFile(c.Hash, file("live", name))
			if m := value.FindSubmatch(content); err == nil && m != nil {
				v, _ := strconv.Atoi(string(m[1]))
				w.Expect(v).To(BeNumerically(">=", newest[name]), "%s in %s", name, c.Hash)
				newest[name] = v
			}
		}
	}
}
