// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch"
	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

// declare hands a valid target to its branch worker and then to the watch.
func (r *Reconciler) declare(obj *v1alpha3.GitTarget, v validated, enc Encryption) error {
	key := access.Key(obj)
	gp, kp := v.grant.GitProvider, v.grant.KubeProvider
	provider := types.NamespacedName{Namespace: gp.Namespace, Name: gp.Name}
	committer := gp.GetCommitter()
	namespaces := rules.SourceNamespaces(r.Rules.ForTarget(types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}))
	frozen := &branch.Frozen{
		Name: obj.Name, Path: v.path, Templates: v.templates,
		Committer: message.Identity{Name: committer.Name, Email: committer.Email},
		Signer:    r.Git.Signer(gp), Sealer: enc.Sealer,
		Source: r.facts(kp.Name),
		Policy: plan.Policy{
			Placement: v.placement, SerializeNamespace: obj.Spec.SerializeNamespace, SourceNamespaces: namespaces,
			Sensitive: r.Encrypter.Sensitive, SOPSConfig: enc.SOPSConfig,
		},
	}
	sink, err := r.Branches.Set(branch.Target{
		Key: key,
		Repository: branch.Repository{
			URL: gp.Spec.URL, Identity: v.normal.Identity, HostPath: v.normal.HostPath, Branch: obj.Spec.Branch, ParentBranch: obj.Spec.ParentBranch,
			ProviderNamespace: gp.Namespace, ProviderName: gp.Name, Credentials: r.Git.Credentials(gp),
			Capabilities: r.Git.Capabilities(provider),
		},
		Machine: core.TargetConfig{
			IdleTimeout: obj.GetWindowIdleTimeout(), MaxDuration: obj.GetWindowMaxDuration(),
			Prune: core.PruneMode(obj.GetPruneMode()), Suspended: obj.Spec.Suspend, ProviderSuspended: gp.Spec.Suspend,
			RenderGate: true,
			Revision:   revision(obj.Spec, gp.Spec, r.Git.Revision(provider), enc.Revision, namespaces),
		},
		Frozen: frozen, SourceCluster: kp.Name,
	})
	if err != nil {
		return err
	}
	spec := watch.TargetSpec{
		Key: key, Source: kp.Name, Sink: sinkFor{sink}, Attributor: r.Attributor, PruneMode: string(obj.GetPruneMode()),
		Ignore: ignoreConfig(obj.Spec.Ignore),
		Stamp: func() watch.Stamp {
			s, _ := r.Branches.Status(key)
			return watch.Stamp{Applies: s.Target.Applies, Ahead: s.Target.Ahead}
		},
	}
	if !enc.Ready {
		spec.Withheld = []watch.Withheld{{Resource: "secrets", Reason: v1alpha3.EncryptionRequiredReason,
			Message: enc.Message}}
		for _, gr := range r.Encrypter.AdditionalSensitive() {
			group, resource := splitGroupResource(gr)
			spec.Withheld = append(spec.Withheld, watch.Withheld{Group: group, Resource: resource,
				Reason: v1alpha3.EncryptionRequiredReason, Message: enc.Message})
		}
	}
	r.Watch.Declare(spec)
	return nil
}

// ignoreConfig turns spec.ignore into plain values.
func ignoreConfig(in *v1alpha3.Ignore) sanitize.Config {
	var c sanitize.Config
	if in == nil {
		return c
	}
	for _, d := range in.DisableDefaults {
		c.DisableDefaults = append(c.DisableDefaults, string(d))
	}
	for _, r := range in.Rules {
		x := sanitize.Rule{Name: r.Name, Names: r.Names, FieldPaths: r.FieldPaths, FieldManagers: r.FieldManagers}
		for _, gr := range r.Resources {
			x.Resources = append(x.Resources, sanitize.GroupResource(gr))
		}
		c.Rules = append(c.Rules, x)
	}
	return c
}

// facts reads the source's catalog at the moment of planning. A source that nobody holds any more is remembered: what was
// decided while it was there is published with its facts.
func (r *Reconciler) facts(name string) func() (change.Kinds, change.Schemas) {
	var last atomic.Pointer[cluster.Source]
	look := func() *cluster.Source {
		if s, ok := r.Sources.Get(name); ok {
			last.Store(s)
		}
		return last.Load()
	}
	look()
	return func() (change.Kinds, change.Schemas) {
		s := look()
		if s == nil {
			return noFacts{}, nil
		}
		return s.Catalog(), s.Schemas()
	}
}

// noFacts knows no kind.
type noFacts struct{}

// Kind implements change.Kinds.
func (noFacts) Kind(string, string) (change.Type, bool) { return change.Type{}, false }

// revision is a digest of everything a person can change to cure a refusal.
func revision(parts ...any) string {
	h := sha256.New()
	// Encoding plain API structs cannot fail.
	_ = json.NewEncoder(h).Encode(parts)
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// sinkFor joins the words of watch and branch.
type sinkFor struct{ branch.Sink }

// Offer implements watch.Sink.
func (s sinkFor) Offer(ctx context.Context, c change.Change) change.Verdict {
	return s.Sink.Offer(ctx, c, false)
}

// Snapshot implements watch.Sink.
func (s sinkFor) Snapshot(ctx context.Context, snap change.Snapshot, initial bool,
	stamp watch.Stamp) (change.Verdict, <-chan change.Outcome) {
	return s.Sink.Snapshot(ctx, snap, initial, core.Stamp(stamp))
}

var _ watch.Sink = sinkFor{}
