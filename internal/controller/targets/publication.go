// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch"
	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
)

// reportParent stalls while neither the branch nor its named parent exists (git-writer 10.8).
func reportParent(obj *v1alpha3.GitTarget, b branch.Status, s *lifecycle.Summary) {
	if b.Parent == core.ParentMissing && !b.Exists {
		s.Stalled(v1alpha3.ParentBranchNotFoundReason, fmt.Sprintf(
			"branch %q does not exist, and neither does its parentBranch %q; nothing is written until one appears", obj.Spec.Branch, obj.Spec.ParentBranch))
	}
}

// reportPublication shows trouble of the branch on every target of it (decisions 32), after what concerns this target
// alone.
func reportPublication(b branch.Status, s *lifecycle.Summary) {
	if p := b.Target.PushRejected; p != nil {
		s.Stalled(v1alpha3.PushRejectedReason, trouble("not published", p, b))
	}
	if f := b.Target.WriteFailed; f != nil {
		s.Stalled(string(f.Reason), trouble("not written", f, b))
	}
	f := b.Failing
	switch {
	case f == nil:
	case f.Reason == core.ReasonParentBranchNotFound:
		// reportParent has said it while it lasted; from then on work goes on by itself.
		s.Progressing(v1alpha3.RecoveringParentBranchReason,
			"the parent branch is there again; the waiting writes are published next")
	case f.Reason.Stalled():
		s.Stalled(string(f.Reason), trouble("not published", f, b))
	default:
		s.Progressing(meta.ProgressingReason, trouble("not published", f, b))
	}
}

// trouble tells since when, why and what comes next, with absolute times only: the message moves with an attempt, not
// with the clock (decisions 67).
func trouble(what string, t *core.Trouble, b branch.Status) string {
	const layout = "2006-01-02T15:04:05Z"
	text := fmt.Sprintf("%s since %s: %s: %s", what, t.Since.UTC().Format(layout), t.Reason, t.Text)
	if t.Reason == core.ReasonAuthenticationFailed {
		text += "; renew the credential that the GitProvider's secretRef names, or let its owner write"
	}
	if !t.Next.IsZero() {
		text += "; next attempt at " + t.Next.UTC().Truncate(time.Second).Format(layout)
	}
	if b.IntakePaused {
		text += "; intake is paused until a publication lands"
	}
	return text
}

func reportSuspension(obj *v1alpha3.GitTarget, g access.Grant, b branch.Status, s *lifecycle.Summary) {
	switch {
	case !s.IsConverged():
	case obj.Spec.Suspend:
		s.Converged(meta.SuspendedReason, "suspended: nothing new is committed; status.preview shows what a resume would do")
	case g.KubeProvider.Spec.Suspend:
		s.Converged(meta.SuspendedReason, "the KubeProvider is suspended: no stream is open, Git stays as it is")
	case b.ProviderSuspended:
		s.Converged(meta.SuspendedReason, fmt.Sprintf("the GitProvider is suspended; %d writes wait", b.Target.Waiting))
	}
}
