// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
)

// maxPage bounds the answer to one list request.
const maxPage = 256 << 20

// Page is one page of a list. Items are raw objects with kind and apiVersion in place.
type Page struct {
	Items           [][]byte
	ResourceVersion string
	// Continue is empty on the last page.
	Continue string
}

// List reads one page of a collection, at most limit objects. All pages of one list show one resource version.
func (s *Source) List(ctx context.Context, col Collection, limit int, next string) (Page, error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if next != "" {
		q.Set("continue", next)
	}
	if col.Selector != "" {
		q.Set("labelSelector", col.Selector)
	}
	c, ctx, cancel, err := s.bind(ctx)
	if err != nil {
		return Page{}, err
	}
	defer cancel()
	resp, err := c.get(ctx, c.url(col, q), "")
	if err != nil {
		return Page{}, dropped(c, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err != nil {
		return Page{}, dropped(c, fmt.Errorf("reading a list of %s: %w", col.Type.GroupResource(), err))
	}
	if len(b) > maxPage {
		return Page{}, fmt.Errorf("a page of %s is larger than %d bytes", col.Type.GroupResource(), maxPage)
	}
	return parsePage(b, col)
}

var errNoList = errors.New("the answer to a list request is no list")

func parsePage(b []byte, col Collection) (Page, error) {
	var p Page
	var bad error
	_, ok := members(b, skipSpace(b, 0), func(key []byte, from, to int) bool {
		switch string(key) {
		case "metadata":
			members(b, from, func(key []byte, from, to int) bool {
				switch string(key) {
				case "resourceVersion":
					p.ResourceVersion = string(text(b[from:to]))
				case "continue":
					p.Continue, bad = strconv.Unquote(string(b[from:to]))
				}
				return true
			})
		case "items":
			p.Items, bad = items(b[from:to], col)
		}
		return bad == nil
	})
	if bad != nil {
		return Page{}, bad
	}
	if !ok || p.ResourceVersion == "" {
		return Page{}, errNoList
	}
	return p, nil
}

// items cuts the array of a list. Typed lists leave kind and apiVersion out of their items; they are put back where the
// API server writes them in a single object, so that the bytes equal those of a watch event.
func items(b []byte, col Collection) ([][]byte, error) {
	if string(b) == "null" {
		return nil, nil
	}
	head := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, col.Type.Kind, col.Type.APIVersion())
	var out [][]byte
	i := skipSpace(b, 1)
	for i < len(b) && b[i] != ']' {
		to, ok := skipValue(b, i)
		if !ok || b[i] != '{' {
			return nil, errNoList
		}
		obj := b[i:to]
		typed := false
		members(obj, 0, func(key []byte, _, _ int) bool {
			typed = string(key) == "kind"
			return !typed
		})
		if !typed {
			obj = append([]byte(head), obj[1:]...)
		}
		out = append(out, obj)
		if i = skipSpace(b, to); i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return out, nil
}
