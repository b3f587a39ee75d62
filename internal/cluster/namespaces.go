// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Namespaces are the labels of a source's namespaces, as last read. It is authorization data only, never object state,
// and implements rules.Namespaces. It is immutable.
type Namespaces struct {
	synced, forbidden bool
	labels            map[string]map[string]string
}

// State says whether the snapshot can be used: synced, or forbidden by the source.
func (n *Namespaces) State() (synced, forbidden bool) { return n.synced, n.forbidden }

// Labels returns a namespace's labels; false when it does not exist.
func (n *Namespaces) Labels(namespace string) (map[string]string, bool) {
	l, ok := n.labels[namespace]
	return l, ok
}

// Names returns the names of all namespaces, sorted.
func (n *Namespaces) Names() []string { return slices.Sorted(maps.Keys(n.labels)) }

func (n *Namespaces) equal(o *Namespaces) bool {
	return n.synced == o.synced && n.forbidden == o.forbidden &&
		maps.EqualFunc(n.labels, o.labels, func(a, b map[string]string) bool { return maps.Equal(a, b) })
}

// Namespaces returns the label snapshot. The first call asks for it; from then on every refresh keeps it current, and
// Sources.Changed tells when it differs. Never nil.
func (s *Source) Namespaces() *Namespaces {
	n, first := s.namespaces.get()
	if first {
		s.hooks.refresh()
	}
	return n
}

// forbiddenPause is the wait after a 403. New credentials end it; a role that was extended shows no other way.
const forbiddenPause = 10 * time.Minute

// namespaceKeeper keeps the snapshot of a source once somebody needs it.
type namespaceKeeper struct {
	mu      sync.Mutex
	needed  bool
	current *Namespaces
	// refused is when the source forbade the list last.
	refused time.Time
}

func (k *namespaceKeeper) get() (n *Namespaces, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	first = !k.needed
	k.needed = true
	return k.current, first
}

// reset forgets what other credentials could read.
func (k *namespaceKeeper) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current = &Namespaces{}
}

// refresh reads the snapshot when somebody needs it and reports a difference. A 403 stands until the credentials change
// or the pause is over; any other failure keeps the previous snapshot.
func (k *namespaceKeeper) refresh(ctx context.Context, c *conn, now time.Time) (changed bool, err error) {
	k.mu.Lock()
	old := k.current
	skip := !k.needed || old.forbidden && now.Sub(k.refused) < forbiddenPause
	k.mu.Unlock()
	if skip {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	next, err := readNamespaces(ctx, c)
	var refused *StatusError
	switch {
	case err == nil:
	case errors.As(err, &refused) && refused.Code == http.StatusForbidden:
		next = &Namespaces{forbidden: true}
	default:
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == old && next.forbidden {
		k.refused = now
	}
	if k.current != old || old.equal(next) {
		return false, nil
	}
	k.current = next
	return true, nil
}

func readNamespaces(ctx context.Context, c *conn) (*Namespaces, error) {
	out := &Namespaces{synced: true, labels: map[string]map[string]string{}}
	next := ""
	for {
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []struct {
				Metadata struct {
					Name   string            `json:"name"`
					Labels map[string]string `json:"labels"`
				} `json:"metadata"`
			} `json:"items"`
		}
		q := url.Values{"limit": {strconv.Itoa(500)}}
		if next != "" {
			q.Set("continue", next)
		}
		resp, err := c.get(ctx, c.url(Collection{Type: change.Type{Version: "v1", Resource: "namespaces"}}, q), "")
		if err != nil {
			return nil, err
		}
		err = json.NewDecoder(io.LimitReader(resp.Body, maxPage)).Decode(&page)
		_ = resp.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("reading the namespaces: %w", err)
		}
		for _, i := range page.Items {
			out.labels[i.Metadata.Name] = i.Metadata.Labels
		}
		if next = page.Metadata.Continue; next == "" {
			return out, nil
		}
	}
}
