// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	helper "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/events"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/fluxcd/pkg/runtime/object"
	"github.com/fluxcd/pkg/runtime/patch"
	"github.com/fluxcd/pkg/runtime/reconcile"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/internal/metrics"
)

// Object is what a reconciled kind offers.
type Object interface {
	client.Object
	conditions.Setter
	GetRequeueAfter() time.Duration
}

// ControllerName is the field owner of status patches and the source of events (decisions 1).
const ControllerName = "gitops-reverser"

// RequestAnnotation asks for a pass now; only a change of its value counts (api 1.2).
const RequestAnnotation = "reconcile.configbutler.ai/requestedAt"

// RekeyAnnotation asks a GitTarget to encrypt its folder anew; only a change of its value counts (decisions 55).
const RekeyAnnotation = "reconcile.configbutler.ai/rekeyRequestedAt"

const (
	// retryConverging is the pause between passes of an object that is not converged (api 6.3).
	retryConverging = 10 * time.Second
	// retryConflict is the pause after a lost race for the status (api 1.3).
	retryConflict = 100 * time.Millisecond
)

// Pass is what one pass found.
type Pass struct {
	Summary
	// RequeueAfter overrides the pause to the next pass; zero means the interval when converged, else 10 s.
	RequeueAfter time.Duration
	// Pending keeps the request annotation unanswered: what it asked for is not finished yet.
	Pending bool

	within time.Duration
}

// Within asks for the next pass after d at the latest. The shortest wish counts.
func (p *Pass) Within(d time.Duration) {
	if p.within == 0 || d < p.within {
		p.within = max(d, time.Millisecond)
	}
}

// Runner reconciles one kind.
type Runner struct {
	client.Client
	events.Recorder
	// Kind names the objects in metrics.
	Kind string
	// Owned are the condition types this reconciler writes besides the trio.
	Owned []string
	// Durations records gotk_reconcile_duration_seconds.
	Durations helper.Metrics
	// Metrics records conditions.
	Metrics *metrics.Metrics
	// Forget ends what belongs to an object that is gone. It is called more than once.
	Forget func(ctx context.Context, name types.NamespacedName)
}

// Run makes one pass over the named object. steps fills obj's status and returns what it found; its error means that
// something could not be read, and the pass is repeated with the queue's backoff.
func (r *Runner) Run(ctx context.Context, name types.NamespacedName, obj Object,
	steps func(context.Context) (Pass, error)) (ctrl.Result, error) {
	start := time.Now()
	if err := r.Get(ctx, name, obj); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(ctx, name)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("read %s %s: %w", r.Kind, name, err)
	}
	if !obj.GetDeletionTimestamp().IsZero() {
		// No finalizer is ours: whoever holds the object, its work ends now.
		r.forget(ctx, name)
		return ctrl.Result{}, nil
	}
	defer r.Durations.RecordDuration(ctx, obj, start)
	before := conditions.Get(obj, meta.ReadyCondition).DeepCopy()
	patcher := patch.NewSerialPatcher(obj, r.Client)
	pass, err := steps(ctx)
	result, err := r.finalize(obj, pass, err)
	shorten(obj)
	owned := append([]string{meta.ReadyCondition, meta.ReconcilingCondition, meta.StalledCondition}, r.Owned...)
	if perr := patcher.Patch(ctx, obj, reconcile.AddPatchOptions(obj, nil, owned, ControllerName)...); perr != nil {
		return r.notStored(ctx, name, perr)
	}
	r.report(obj, before)
	return result, err
}

// notStored says what follows a status that was not stored. A lost race is no error: the next pass reads afresh
// (api 1.3). An object that is gone has no status; its deletion brings the last pass.
func (r *Runner) notStored(ctx context.Context, name types.NamespacedName, err error) (ctrl.Result, error) {
	switch {
	case all(err, apierrors.IsNotFound):
		return ctrl.Result{}, nil
	case ctx.Err() == nil && all(err, lostRace):
		return ctrl.Result{RequeueAfter: retryConflict}, nil
	}
	return ctrl.Result{}, fmt.Errorf("store the status of %s %s: %w", r.Kind, name, err)
}

// lostRace reports a conflict; the patcher gives up on one with the end of its own backoff.
func lostRace(err error) bool { return apierrors.IsConflict(err) || wait.Interrupted(err) }

// all reports whether match holds for an error and for each error of an aggregate, which errors.As does not look into.
func all(err error, match func(error) bool) bool {
	var many kerrors.Aggregate
	if !errors.As(err, &many) {
		return match(err)
	}
	return !slices.ContainsFunc(many.Errors(), func(e error) bool { return !all(e, match) })
}

func (r *Runner) forget(ctx context.Context, name types.NamespacedName) {
	r.Metrics.ForgetObject(r.Kind, name.Namespace, name.Name)
	if d := r.Durations.MetricsRecorder; d != nil {
		d.DeleteDuration(corev1.ObjectReference{Kind: r.Kind, Namespace: name.Namespace, Name: name.Name})
	}
	if r.Forget != nil {
		r.Forget(ctx, name)
	}
}

// finalize is the one place that turns a pass into the trio, the echo of the request and the next pass.
func (r *Runner) finalize(obj Object, pass Pass, err error) (ctrl.Result, error) {
	handled, _ := object.GetStatusLastHandledReconcileAt(obj)
	result := ctrl.Result{RequeueAfter: pass.Pause(obj.GetRequeueAfter())}
	if err == nil {
		pass.Apply(obj)
	} else {
		// Nothing was found out: the finalizer makes Ready=False of it, which heals without a person.
		conditions.MarkUnknown(obj, meta.ReadyCondition, meta.FailedReason, "%s", err.Error())
		conditions.MarkReconciling(obj, meta.ProgressingWithRetryReason, "%s", err.Error())
	}
	success := func(_ ctrl.Result, err error) bool { return err == nil && pass.severity != progressing }
	err = reconcile.NewResultFinalizer(success, "Reconciliation succeeded").Finalize(obj, result, err)
	// The finalizer echoes Flux's annotation, which means nothing here.
	if token, ok := obj.GetAnnotations()[RequestAnnotation]; ok && err == nil && !pass.Pending {
		handled = token
	}
	if serr := object.SetStatusLastHandledReconcileAt(obj, handled); serr != nil && err == nil {
		err = serr
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return result, nil
}

// maxMessage bounds the message of a condition, in bytes. The API server refuses a status with a longer one than 32 KiB,
// and an event with more than 1 KiB.
const maxMessage = 1024

// shorten cuts the messages that are too long to be stored.
func shorten(obj Object) {
	const more = " ..."
	list := obj.GetConditions()
	for i := range list {
		if m := list[i].Message; len(m) > maxMessage {
			list[i].Message = strings.ToValidUTF8(m[:maxMessage-len(more)], "") + more
		}
	}
	obj.SetConditions(list)
}

// Pause is the time to the next pass.
func (p *Pass) Pause(interval time.Duration) time.Duration {
	pause := p.RequeueAfter
	switch {
	case pause != 0:
	case p.IsConverged():
		pause = jitter.JitteredIntervalDuration(interval)
	default:
		pause = retryConverging
	}
	if p.within != 0 {
		pause = min(pause, p.within)
	}
	return pause
}

// report makes one event per stored change of Ready's status or reason, and the condition metrics.
func (r *Runner) report(obj Object, before *metav1.Condition) {
	var list []metrics.Condition
	for _, c := range obj.GetConditions() {
		list = append(list, metrics.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason})
	}
	r.Metrics.SetConditions(r.Kind, obj.GetNamespace(), obj.GetName(), list)
	now := conditions.Get(obj, meta.ReadyCondition)
	if now == nil || before != nil && before.Status == now.Status && before.Reason == now.Reason {
		return
	}
	kind := corev1.EventTypeWarning
	if now.Status == metav1.ConditionTrue {
		kind = corev1.EventTypeNormal
	}
	r.Eventf(obj, nil, kind, now.Reason, "Reconcile", "%s", now.Message)
}
