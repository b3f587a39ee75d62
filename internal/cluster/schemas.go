// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// maxOpenAPI bounds one OpenAPI document; the largest of Kubernetes has 1.6 MB.
const maxOpenAPI = 64 << 20

// builtInGroups are served by the API server itself. Groups of CRDs may end in k8s.io too, so a suffix does not tell.
var builtInGroups = map[string]bool{
	"": true, "apps": true, "batch": true, "autoscaling": true, "policy": true, "extensions": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
	"authentication.k8s.io": true, "authorization.k8s.io": true, "certificates.k8s.io": true,
	"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true,
	"flowcontrol.apiserver.k8s.io": true, "internal.apiserver.k8s.io": true, "networking.k8s.io": true,
	"node.k8s.io": true, "rbac.authorization.k8s.io": true, "resource.k8s.io": true, "scheduling.k8s.io": true,
	"storage.k8s.io": true, "storagemigration.k8s.io": true,
}

// schemas caches the field facts of a source. Documents are read when a type is first watched and again when the API
// server names another hash for them.
type schemas struct {
	source *Source
	// loading serialises reads: a document is large, and the next type is often in the same one.
	loading chan struct{}

	mu sync.Mutex
	// index maps "api/v1" and "apis/g/v" to the document's address, as of a catalog revision.
	index   map[string]string
	indexed uint64
	// read has the address each document was last read from.
	read  map[string]string
	kinds map[kindKey]*change.Schema
}

var _ change.Schemas = (*schemas)(nil)

func newSchemas(s *Source) *schemas {
	return &schemas{
		source: s, loading: make(chan struct{}, 1), read: map[string]string{}, kinds: map[kindKey]*change.Schema{},
	}
}

// Schema implements change.Schemas.
func (s *schemas) Schema(group, version, kind string) *change.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kinds[kindKey{group, version, kind}]
}

// BuiltIn implements change.Schemas.
func (s *schemas) BuiltIn(group string) bool { return builtInGroups[group] }

// reset forgets which editions were read; the facts stay until newer ones arrive.
func (s *schemas) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = nil
	clear(s.read)
}

func (s *schemas) load(ctx context.Context, t change.Type) error {
	select {
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	name := strings.TrimPrefix(collectionRoot(t), "/")
	address, err := s.address(ctx, name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	known := s.read[name] == address
	s.mu.Unlock()
	if known {
		return nil
	}
	b, err := s.get(ctx, address)
	if err != nil {
		return err
	}
	kinds, err := parseOpenAPI(b, builtInGroups[t.Group])
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, v := range kinds {
		s.kinds[k] = v
	}
	s.read[name] = address
	return nil
}

// collectionRoot is the path of a group version.
func collectionRoot(t change.Type) string {
	if t.Group == "" {
		return "/api/" + t.Version
	}
	return "/apis/" + t.Group + "/" + t.Version
}

// address returns where a group version's document is. The index is read once per catalog revision.
func (s *schemas) address(ctx context.Context, name string) (string, error) {
	revision := s.source.Catalog().Revision()
	s.mu.Lock()
	index := s.index
	stale := index == nil || s.indexed != revision
	s.mu.Unlock()
	if stale {
		b, err := s.get(ctx, "/openapi/v3")
		if err != nil {
			return "", err
		}
		var doc struct {
			Paths map[string]struct {
				URL string `json:"serverRelativeURL"`
			} `json:"paths"`
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			return "", fmt.Errorf("reading the index of OpenAPI documents: %w", err)
		}
		index = make(map[string]string, len(doc.Paths))
		for n, p := range doc.Paths {
			index[n] = p.URL
		}
		s.mu.Lock()
		s.index, s.indexed = index, revision
		s.mu.Unlock()
	}
	if index[name] == "" {
		return "", fmt.Errorf("the API server has no OpenAPI document for %s", name)
	}
	return index[name], nil
}

func (s *schemas) get(ctx context.Context, address string) ([]byte, error) {
	c, ctx, cancel, err := s.source.bind(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	rel, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("address of an OpenAPI document: %w", err)
	}
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + rel.Path
	u.RawQuery = rel.RawQuery
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, dropped(c, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, readStatus(resp)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxOpenAPI+1))
	if err == nil && len(b) > maxOpenAPI {
		err = fmt.Errorf("an OpenAPI document is larger than %d bytes", maxOpenAPI)
	}
	return b, err
}
