// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"

	"github.com/fluxcd/pkg/runtime/events"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Warnings takes events from the data plane. Recording one can last as long as the events receiver takes to answer, so
// they pass through a queue; a full one drops, because the log has them, too. Create it with NewWarnings.
type Warnings struct {
	recorder events.Recorder
	queue    chan func()
}

// NewWarnings returns an empty queue; nothing is recorded before Start.
func NewWarnings(recorder events.Recorder) *Warnings {
	return &Warnings{recorder: recorder, queue: make(chan func(), 256)}
}

// OfTarget warns about a GitTarget. It never blocks.
func (w *Warnings) OfTarget(k change.TargetKey, reason, message string) {
	t := &v1alpha3.GitTarget{}
	t.SetGroupVersionKind(v1alpha3.GroupVersion.WithKind(v1alpha3.GitTargetKind))
	t.Namespace, t.Name, t.UID = k.Namespace, k.Name, types.UID(k.UID)
	select {
	case w.queue <- func() { w.recorder.Eventf(t, nil, corev1.EventTypeWarning, reason, "Publish", "%s", message) }:
	default:
	}
}

// Start records until the context ends. It is a manager.Runnable.
func (w *Warnings) Start(ctx context.Context) error {
	for {
		select {
		case send := <-w.queue:
			send()
		case <-ctx.Done():
			return nil
		}
	}
}
