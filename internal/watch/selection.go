// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// selection decides in process which objects and operations a stream's rules want (decision 68).
type selection struct {
	clauses []clause
	all     operations
}

type clause struct {
	selector labels.Selector
	ops      operations
}

// operations is a set of operations.
type operations uint8

const (
	opCreate operations = 1 << iota
	opUpdate
	opDelete
)

func bit(o change.Operation) operations {
	switch o {
	case change.Create:
		return opCreate
	case change.Update:
		return opUpdate
	case change.Delete:
		return opDelete
	}
	return 0
}

func setOf(list []change.Operation) operations {
	var s operations
	for _, o := range list {
		s |= bit(o)
	}
	return s
}

func newSelection(c Collection) (*selection, error) {
	s := &selection{all: setOf(c.Operations)}
	for _, cl := range c.Clauses {
		sel, err := labels.Parse(cl.Selector)
		if err != nil {
			return nil, fmt.Errorf("the selector %q of %s: %w", cl.Selector, c.Cell(), err)
		}
		s.clauses = append(s.clauses, clause{selector: sel, ops: setOf(cl.Operations)})
	}
	return s, nil
}

// wanted returns the operations the rules want of an object with these labels; false when no rule selects it.
func (s *selection) wanted(rawLabels []byte) (operations, bool) {
	if len(s.clauses) == 0 {
		return s.all, true
	}
	set := labels.Set{}
	// Labels that are no map of strings select nothing; the API server never sends such.
	if len(rawLabels) > 0 && json.Unmarshal(rawLabels, &set) != nil {
		return 0, false
	}
	var ops operations
	found := false
	for _, c := range s.clauses {
		if c.selector.Matches(set) {
			ops |= c.ops
			found = true
		}
	}
	return ops, found
}

// bounded reports whether a snapshot of the collection may miss objects of its scope because of labels.
func (c Collection) bounded() bool {
	return c.Selector != "" || len(c.Clauses) > 0 &&
		!slices.ContainsFunc(c.Clauses, func(c Clause) bool { return c.Selector == "" })
}
