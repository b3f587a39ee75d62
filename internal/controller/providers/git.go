// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/cache"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/gitauth"
	"github.com/configbutler/gitops-reverser/internal/gitauth/signing"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get

// GitOptions are the flags that concern credentials.
type GitOptions struct {
	AllowInsecureHTTP      bool
	AllowMissingKnownHosts bool
	// DefaultKnownHosts names a ConfigMap in the operator's namespace; empty means none.
	DefaultKnownHosts string
	// HostKeyAlgorithms and KexAlgorithms limit what SSH uses; empty means the library's secure ones.
	HostKeyAlgorithms []string
	KexAlgorithms     []string
	OperatorNamespace string
}

// Git reads the credentials and keys of GitProviders, each time anew and uncached, so that a rotated Secret is used at
// once and no Secret stays in memory.
type Git struct {
	GitOptions
	// Cached reads GitProviders, Secrets reads Secrets and ConfigMaps uncached; Writer creates a generated key.
	Cached, Secrets client.Reader
	Writer          client.Writer
	Tokens          *cache.TokenCache
	// Hosts keeps the pauses Git hosts asked for; may be nil.
	Hosts *gitstore.Hosts

	// Opening a key with a passphrase is slow by design, so an opened key is remembered for as long as its bytes stay.
	sshKeys gitauth.Memo[ssh.Signer]
	signers gitauth.Memo[*signing.Signer]

	mu    sync.Mutex
	known map[types.NamespacedName]known
}

// tokenOperation names the use of a token in the cache's metrics.
const tokenOperation = "reconcile"

// known is what was last learnt of a provider; neither part is a secret.
type known struct {
	revision     string
	capabilities []string
}

// Credentials returns what a store calls once per network call. It follows changes of the GitProvider's spec, and stays
// with the last spec of this incarnation when the GitProvider is deleted, so that its worker can publish once more. A
// GitProvider created anew under the same name may point elsewhere: the old repository never sees its credentials.
func (g *Git) Credentials(p *v1alpha3.GitProvider) func(context.Context) (gitstore.Credentials, error) {
	last := p.DeepCopy()
	return func(ctx context.Context) (gitstore.Credentials, error) {
		now, err := g.present(ctx, last)
		if err != nil {
			return gitstore.Credentials{}, err
		}
		c, err := g.resolve(ctx, now)
		if err == nil && now != last {
			g.remember(now, func(k *known) { k.revision = c.Revision })
		}
		return c, err
	}
}

func (g *Git) resolve(ctx context.Context, p *v1alpha3.GitProvider) (gitstore.Credentials, error) {
	in := gitauth.Input{
		URL: p.Spec.URL, AllowInsecureHTTP: g.AllowInsecureHTTP, AllowMissingKnownHosts: g.AllowMissingKnownHosts,
		HostKeyAlgorithms: g.HostKeyAlgorithms, KexAlgorithms: g.KexAlgorithms, Tokens: g.Tokens, SSHKeys: &g.sshKeys,
		Object: gitauth.Object{Kind: v1alpha3.GitProviderKind, Namespace: p.Namespace, Name: p.Name,
			Operation: tokenOperation},
	}
	var err error
	if ref := p.Spec.SecretRef; ref != nil {
		in.SecretName = p.Namespace + "/" + ref.Name
		if in.Secret, err = g.secret(ctx, p.Namespace, ref.Name); err != nil {
			return gitstore.Credentials{}, err
		}
	}
	if ref := p.Spec.ProxySecretRef; ref != nil {
		if in.ProxySecret, err = g.secret(ctx, p.Namespace, ref.Name); err != nil {
			return gitstore.Credentials{}, err
		}
	}
	if in.KnownHosts, err = g.knownHosts(ctx, p); err != nil {
		return gitstore.Credentials{}, err
	}
	c, err := gitauth.Resolve(ctx, in)
	return gitstore.Credentials(c), err
}

// knownHosts gathers the sources after the credential Secret. A default that is missing is no error: it is used only
// for SSH, and then its absence is told in full.
func (g *Git) knownHosts(ctx context.Context, p *v1alpha3.GitProvider) ([]gitauth.Secret, error) {
	var out []gitauth.Secret
	if ref := p.Spec.KnownHostsRef; ref != nil {
		read := g.configMap
		if ref.GetKind() == "Secret" {
			read = g.secret
		}
		s, err := read(ctx, p.Namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if g.DefaultKnownHosts != "" {
		s, err := g.configMap(ctx, g.OperatorNamespace, g.DefaultKnownHosts)
		if err == nil {
			out = append(out, s)
		} else if !isNotFound(err) {
			return nil, err
		}
	}
	return out, nil
}

func (g *Git) secret(ctx context.Context, namespace, name string) (gitauth.Secret, error) {
	s := &corev1.Secret{}
	if err := g.Secrets.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, s); err != nil {
		return nil, missing(err, "Secret", namespace, name)
	}
	if s.Data == nil {
		return gitauth.Secret{}, nil
	}
	return s.Data, nil
}

func (g *Git) configMap(ctx context.Context, namespace, name string) (gitauth.Secret, error) {
	c := &corev1.ConfigMap{}
	if err := g.Secrets.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, c); err != nil {
		return nil, missing(err, "ConfigMap", namespace, name)
	}
	out := gitauth.Secret{}
	for k, v := range c.Data {
		out[k] = []byte(v)
	}
	return out, nil
}

func missing(err error, kind, namespace, name string) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	return &gitauth.Error{Reason: gitauth.SecretNotFound, Err: err, Message: fmt.Sprintf(
		"%s %s/%s does not exist; create it, or name another one", kind, namespace, name)}
}

func isNotFound(err error) bool {
	e, ok := err.(*gitauth.Error)
	return ok && e.Reason == gitauth.SecretNotFound
}

func (g *Git) remember(p *v1alpha3.GitProvider, learn func(*known)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil {
		g.known = map[types.NamespacedName]known{}
	}
	k := g.known[client.ObjectKeyFromObject(p)]
	learn(&k)
	g.known[client.ObjectKeyFromObject(p)] = k
}

// Revision changes when the credential last read for a provider changed.
func (g *Git) Revision(provider types.NamespacedName) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[provider].revision
}

// Capabilities are what the server offered at the last probe.
func (g *Git) Capabilities(provider types.NamespacedName) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[provider].capabilities
}

func (g *Git) forget(provider types.NamespacedName) {
	if g.Tokens != nil {
		g.Tokens.DeleteEventsForObject(v1alpha3.GitProviderKind, provider.Name, provider.Namespace, tokenOperation)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.known, provider)
}

// Signer returns what a worker calls once per commit; it gives nil while commits are not signed. As with Credentials the
// present spec counts: a commit that is made again, because the branch moved, has today's key.
func (g *Git) Signer(p *v1alpha3.GitProvider) func(context.Context) (gitstore.Signer, error) {
	last := p.DeepCopy()
	return func(ctx context.Context) (gitstore.Signer, error) {
		now, err := g.present(ctx, last)
		if err != nil || now.GetSigning() == nil {
			return nil, err
		}
		name := now.GetSigning().SecretRef.Name
		data, err := g.secret(ctx, now.Namespace, name)
		if err != nil {
			return nil, err
		}
		signer, err := signing.LoadCached(&g.signers, data, now.Namespace+"/"+name)
		if err != nil {
			return nil, err
		}
		return signer, nil
	}
}

// present is the GitProvider as it is, or as it was when it is gone or another one took its name.
func (g *Git) present(ctx context.Context, last *v1alpha3.GitProvider) (*v1alpha3.GitProvider, error) {
	now := &v1alpha3.GitProvider{}
	err := g.Cached.Get(ctx, client.ObjectKeyFromObject(last), now)
	switch {
	case apierrors.IsNotFound(err), err == nil && now.UID != last.UID:
		return last, nil
	case err != nil:
		return nil, err
	}
	return now, nil
}

// signingKey returns the signer of a provider, creating the key when the spec asks for it and none is there. A key
// that is present is never replaced.
func (g *Git) signingKey(ctx context.Context, p *v1alpha3.GitProvider) (*signing.Signer, error) {
	config := p.GetSigning()
	name := p.Namespace + "/" + config.SecretRef.Name
	data, err := g.secret(ctx, p.Namespace, config.SecretRef.Name)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	absent := err != nil
	if !signing.Missing(data) || !config.GenerateWhenMissing {
		if absent {
			return nil, err
		}
		return signing.LoadCached(&g.signers, data, name)
	}
	generated, err := signing.Generate(data, "gitops-reverser "+p.Namespace+"/"+p.Name)
	if err != nil {
		return nil, err
	}
	if err := g.writeKey(ctx, p.Namespace, config.SecretRef.Name, absent, generated); err != nil {
		return nil, err
	}
	// Read back: when somebody else created the key first, theirs is used.
	if data, err = g.secret(ctx, p.Namespace, config.SecretRef.Name); err != nil {
		return nil, err
	}
	return signing.LoadCached(&g.signers, data, name)
}

// signingMark keeps a Secret with a generated key out of every mirror, and shows the key to register.
func signingMark(data map[string][]byte) map[string]string {
	return map[string]string{v1alpha3.SigningPublicKeyAnnotation: strings.TrimSpace(string(data[signing.KeyPublic]))}
}

func (g *Git) writeKey(ctx context.Context, namespace, name string, absent bool, data map[string][]byte) error {
	if absent {
		s := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: data}
		s.Namespace, s.Name, s.Annotations = namespace, name, signingMark(data)
		if err := g.Writer.Create(ctx, s); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create the signing Secret %s/%s: %w", namespace, name, err)
		}
		return nil
	}
	s := &corev1.Secret{}
	if err := g.Secrets.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, s); err != nil {
		return err
	}
	if !signing.Missing(s.Data) {
		return nil
	}
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for k, v := range data {
		s.Data[k] = v
	}
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	maps.Copy(s.Annotations, signingMark(data))
	if err := g.Writer.Update(ctx, s); err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("add a signing key to Secret %s/%s: %w", namespace, name, err)
	}
	return nil
}
