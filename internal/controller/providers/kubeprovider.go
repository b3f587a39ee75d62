// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
)

// +kubebuilder:rbac:groups=configbutler.ai,resources=kubeproviders,verbs=get;list;watch
// +kubebuilder:rbac:groups=configbutler.ai,resources=kubeproviders/status,verbs=patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiregistration.k8s.io,resources=apiservices,verbs=get;list;watch

// KubeProviderReconciler validates the connection of a source cluster and hands it to the sources. It never dials:
// whether the cluster answers is shown per GitTarget (api 5.2).
type KubeProviderReconciler struct {
	*lifecycle.Runner
	// Secrets reads Secrets uncached.
	Secrets client.Reader
	Sources *cluster.Sources
	// Local is the operator's own cluster.
	Local *rest.Config
	// OperatorNamespace holds the kubeconfig Secrets.
	OperatorNamespace string
	KubeConfig        KubeConfigOptions
}

// SetupWithManager registers the controller.
func (r *KubeProviderReconciler) SetupWithManager(mgr ctrl.Manager, o controller.Options) error {
	r.Kind = v1alpha3.KubeProviderKind
	r.Owned = []string{v1alpha3.ValidatedCondition, v1alpha3.AttributionConfiguredCondition}
	r.Forget = r.forget
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha3.KubeProvider{}, builder.WithPredicates(lifecycle.Changed())).
		WithOptions(o).
		Complete(r)
}

func (r *KubeProviderReconciler) forget(_ context.Context, name types.NamespacedName) {
	r.Sources.Remove(name.Name)
	r.Metrics.ForgetSource(name.Name)
}

// Reconcile makes one pass.
func (r *KubeProviderReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &v1alpha3.KubeProvider{}
	return r.Run(ctx, req.NamespacedName, obj, func(ctx context.Context) (lifecycle.Pass,
		error) {
		return r.pass(ctx, obj)
	})
}

func (r *KubeProviderReconciler) pass(ctx context.Context, obj *v1alpha3.KubeProvider) (lifecycle.Pass, error) {
	var pass lifecycle.Pass
	reportAttribution(obj)
	config, refusal, err := r.connection(ctx, obj)
	if err != nil {
		return pass, err
	}
	if refusal == nil {
		if err := r.Sources.Set(obj.Name, config); err != nil {
			refusal = &Refusal{v1alpha3.KubeConfigInvalidReason, err.Error()}
		}
	}
	if refusal != nil {
		// The credential is gone or refused for good: fail closed. Git stays as it is.
		r.Sources.Remove(obj.Name)
		conditions.MarkFalse(obj, v1alpha3.ValidatedCondition, refusal.Reason, "%s", refusal.Message)
		pass.Stalled(refusal.Reason, refusal.Message)
		pass.RequeueAfter = obj.GetRequeueAfter()
		return pass, nil
	}
	if err := access.CheckAccessFrom(obj.Spec.AccessFrom); err != nil {
		// The streams of those who were admitted stay: nobody can say that they are not.
		conditions.MarkFalse(obj, v1alpha3.ValidatedCondition, v1alpha3.InvalidConfigReason, "%s", err.Error())
		pass.Stalled(v1alpha3.InvalidConfigReason, err.Error())
		pass.RequeueAfter = obj.GetRequeueAfter()
		return pass, nil
	}
	if config.Local {
		conditions.MarkTrue(obj, v1alpha3.ValidatedCondition, v1alpha3.InClusterReason, "the cluster this operator runs in")
	} else {
		conditions.MarkTrue(obj, v1alpha3.ValidatedCondition, meta.SucceededReason, "the kubeconfig can be used")
	}
	if token := obj.Annotations[lifecycle.RequestAnnotation]; token != "" && token != obj.Status.LastHandledReconcileAt {
		r.Sources.RequestRefresh(obj.Name)
	}
	switch from := obj.Spec.AccessFrom; {
	case obj.Spec.Suspend:
		pass.Converged(meta.SuspendedReason, "suspended: no stream is open, Git stays as it is")
	case from == nil || len(from.Names) == 0 && from.Selector == nil:
		pass.Converged(meta.SucceededReason, "no GitTarget may use this source: spec.accessFrom admits no namespace")
	default:
		pass.Converged(meta.SucceededReason, "GitTargets of the namespaces in spec.accessFrom may use this source")
	}
	return pass, nil
}

// reportAttribution says that senders of audit events are declared and not heard. It is an observation, no gate
// (api 5): changes are mirrored, with the committer as their author.
func reportAttribution(obj *v1alpha3.KubeProvider) {
	if obj.Spec.Attribution == nil {
		conditions.Delete(obj, v1alpha3.AttributionConfiguredCondition)
		return
	}
	conditions.MarkFalse(obj, v1alpha3.AttributionConfiguredCondition, v1alpha3.NotImplementedReason,
		"spec.attribution is refused: this version takes no audit events, so every change has the committer as its author; "+
			"remove the field")
}

// connection says how the source is reached, or why it must not be. The error is a read that failed.
func (r *KubeProviderReconciler) connection(ctx context.Context, obj *v1alpha3.KubeProvider) (cluster.Config,
	*Refusal, error) {
	c := cluster.Config{Interval: obj.GetRequeueAfter(), Suspended: obj.Spec.Suspend}
	if obj.Spec.KubeConfig == nil {
		c.REST, c.Local, c.Token = rest.CopyConfig(r.Local), true, "local"
		return c, nil, nil
	}
	if k := obj.Spec.Client; k != nil {
		if k.QPS != nil {
			c.QPS = float32(*k.QPS)
		}
		if k.Burst != nil {
			c.Burst = int(*k.Burst)
		}
	}
	ref := obj.Spec.KubeConfig.SecretRef
	if ref == nil {
		return c, &Refusal{v1alpha3.KubeConfigInvalidReason, "spec.kubeConfig names no secretRef"}, nil
	}
	secret := &corev1.Secret{}
	name := types.NamespacedName{Namespace: r.OperatorNamespace, Name: ref.Name}
	if err := r.Secrets.Get(ctx, name, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return c, &Refusal{v1alpha3.KubeConfigSecretNotFoundReason, fmt.Sprintf(
				"Secret %s does not exist; a kubeconfig Secret belongs into the operator's namespace", name)}, nil
		}
		return c, nil, err
	}
	data, key := kubeconfigData(secret.Data, ref.Key)
	if data == nil {
		return c, &Refusal{v1alpha3.KubeConfigKeyNotFoundReason, fmt.Sprintf("Secret %s has no key %s", name, key)}, nil
	}
	config, refusal := r.KubeConfig.Load(data)
	c.REST, c.Token = config, fmt.Sprintf("%d/%s/%s", obj.Generation, secret.UID, secret.ResourceVersion)
	return c, refusal, nil
}

// kubeconfigData reads the named key, or "value" and then "value.yaml".
func kubeconfigData(data map[string][]byte, key string) ([]byte, string) {
	if key != "" {
		return data[key], fmt.Sprintf("%q", key)
	}
	for _, k := range []string{"value", "value.yaml"} {
		if v, ok := data[k]; ok {
			return v, k
		}
	}
	return nil, `"value" or "value.yaml"`
}
