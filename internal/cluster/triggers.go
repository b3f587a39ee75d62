// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"net/http"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// triggerTypes announce new and leaving types of the operator's own cluster before the next tick (watch 3.1).
var triggerTypes = []change.Type{
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Resource: "apiservices"},
}

// trigger is the state of one trigger watch.
type trigger struct {
	running bool
	// complained: its failure was said; it is not said again before it worked once.
	complained bool
}

// armTriggers starts the trigger watches of a local source that are served and do not run. It is called after each
// refresh, so a watch that ended or was forbidden is tried again at that pace and never in a loop.
func (s *Source) armTriggers(ctx context.Context, refresh func()) {
	for i, t := range triggerTypes {
		if v, _ := s.Catalog().Standing(t); v != Followable {
			continue
		}
		s.mu.Lock()
		start := !s.triggers[i].running && s.current != nil && s.current.config.Local
		s.triggers[i].running = s.triggers[i].running || start
		s.mu.Unlock()
		if start {
			s.watching.Add(1)
			go func() {
				defer s.watching.Done()
				s.runTrigger(ctx, i, t, refresh)
			}()
		}
	}
}

func (s *Source) runTrigger(ctx context.Context, i int, t change.Type, refresh func()) {
	err := s.followTrigger(ctx, i, t, refresh)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.triggers[i].running = false
	var refused *StatusError
	if errors.As(err, &refused) && !s.triggers[i].complained {
		s.triggers[i].complained = true
		hint := "new types are found at the next refresh"
		if refused.Code == http.StatusForbidden {
			hint += "; allow get, list and watch to find them at once"
		}
		s.log.Info("cannot watch for new types", "type", t.GroupResource(), "cause", refused.Error(), "hint", hint)
	}
}

func (s *Source) followTrigger(ctx context.Context, i int, t change.Type, refresh func()) error {
	col := Collection{Type: t}
	page, err := s.List(ctx, col, 1, "")
	if err != nil {
		return err
	}
	w, err := s.Open(ctx, col, Mark{ResourceVersion: page.ResourceVersion})
	if err != nil {
		return err
	}
	defer w.Close()
	s.mu.Lock()
	s.triggers[i].complained = false
	s.mu.Unlock()
	for {
		f, err := w.Next()
		if err != nil {
			return nil //nolint:nilerr // however it ended, the next refresh arms it again
		}
		switch f.Type {
		case Added, Modified, Deleted:
			refresh()
		case Failed:
			return nil
		}
	}
}
