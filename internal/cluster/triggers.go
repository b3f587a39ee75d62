// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// triggerTypes announce new and leaving types of the operator's own cluster before the next tick (watch 3.1).
var triggerTypes = []change.Type{
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Resource: "apiservices"},
}

// triggers are the trigger watches of a local source.
type triggers struct {
	source *Source
	// watching counts the running ones.
	watching sync.WaitGroup

	mu     sync.Mutex
	states [2]struct {
		running bool
		// complained: its failure was said; it is not said again before it worked once.
		complained bool
	}
}

// arm starts the watches that are served and do not run. It is called after each refresh, so a watch that ended or was
// forbidden is tried again at that pace and never in a loop.
func (g *triggers) arm(ctx context.Context) {
	c := g.source.conn()
	if c == nil || !c.config.Local {
		return
	}
	for i, t := range triggerTypes {
		if v, _ := g.source.Catalog().Standing(t); v != Followable {
			continue
		}
		g.mu.Lock()
		start := !g.states[i].running
		g.states[i].running = true
		g.mu.Unlock()
		if start {
			g.watching.Add(1)
			go func() {
				defer g.watching.Done()
				g.run(ctx, i, t)
			}()
		}
	}
}

func (g *triggers) run(ctx context.Context, i int, t change.Type) {
	err := g.follow(ctx, i, t)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.states[i].running = false
	var refused *StatusError
	if errors.As(err, &refused) && !g.states[i].complained {
		g.states[i].complained = true
		hint := "new types are found at the next refresh"
		if refused.Code == http.StatusForbidden {
			hint += "; allow get, list and watch to find them at once"
		}
		g.source.log.Info("cannot watch for new types", "type", t.GroupResource(), "cause", refused.Error(), "hint", hint)
	}
}

func (g *triggers) follow(ctx context.Context, i int, t change.Type) error {
	col := Collection{Type: t}
	page, err := g.source.List(ctx, col, 1, "")
	if err != nil {
		return err
	}
	w, err := g.source.Open(ctx, col, Mark{ResourceVersion: page.ResourceVersion})
	if err != nil {
		return err
	}
	defer w.Close()
	g.mu.Lock()
	g.states[i].complained = false
	g.mu.Unlock()
	for {
		f, err := w.Next()
		if err != nil {
			return nil //nolint:nilerr // however it ended, the next refresh arms it again
		}
		switch f.Type {
		case Added, Modified, Deleted:
			g.source.hooks.refresh()
		case Failed:
			return nil
		}
	}
}
