// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"runtime/debug"
	"sync"
)

// thriftyPercent is GOGC while a large snapshot is on its way.
const thriftyPercent = 40

// thrift makes the garbage collector come earlier while large snapshots are planned and published. A plan of 20 000
// objects holds 60 MiB, and the usual setting lets as much garbage lie beside it. Small heaps keep the usual setting:
// there the collector would cost more than it saves. The setting belongs to the process, so all lanes share one thrift.
type thrift struct {
	mu    sync.Mutex
	lanes int
	usual int
}

func (t *thrift) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lanes++; t.lanes > 1 {
		return
	}
	if t.usual = debug.SetGCPercent(thriftyPercent); t.usual < thriftyPercent {
		debug.SetGCPercent(t.usual) // somebody asked for less already, or for none below GOMEMLIMIT
	}
}

func (t *thrift) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lanes--; t.lanes == 0 {
		debug.SetGCPercent(t.usual)
	}
}
