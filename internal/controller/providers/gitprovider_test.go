// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

func gitServer(t *testing.T, o gitserver.Options) (*gitserver.Server, string) {
	t.Helper()
	s := gitserver.Start(t, o)
	if _, err := s.CreateRepo("live", gitserver.RepoOptions{Files: map[string]string{"README.md": "# Ours\n"}}); err != nil {
		t.Fatal(err)
	}
	return s, s.URL("live")
}

func sshKey(t *testing.T) string { return lockedWith(t, "") }

func lockedKey(t *testing.T) string { return lockedWith(t, "another passphrase") }

func lockedWith(t *testing.T, passphrase string) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

// TestReasonsOfAGitProvider: each reason of api 4.2 and whether a person must act (decisions 60).
func TestReasonsOfAGitProvider(t *testing.T) {
	login := map[string]string{"username": "ada", "password": "right"}
	for name, tt := range map[string]struct {
		server  gitserver.Options
		fault   *gitserver.Fault
		url     string
		sha256  bool
		change  []func(*v1alpha3.GitProvider)
		secrets []client.Object
		http    bool

		reason  string
		stalled bool
		text    string
	}{
		"it can be written": {reason: meta.SucceededReason, text: "for writing"},
		"with a credential": {server: gitserver.Options{Username: "ada", Password: "right"}, http: true,
			change: []func(*v1alpha3.GitProvider){withSecret("login")}, secrets: []client.Object{secret("shop", "login",
				login)}, reason: meta.SucceededReason},
		"an URL of another kind": {url: "ftp://git.example.org/a.git", reason: v1alpha3.InvalidConfigReason,
			stalled: true, text: "spec.url"},
		"a pattern that is none": {change: []func(*v1alpha3.GitProvider){func(p *v1alpha3.GitProvider) { p.Spec.AllowedBranches = []string{"[a"} }},
			reason: v1alpha3.InvalidConfigReason, stalled: true, text: "spec.allowedBranches"},
		"an accessFrom that does not parse": {change: []func(*v1alpha3.GitProvider){func(p *v1alpha3.GitProvider) {
			p.Spec.AccessFrom = &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nearly"}}}}
		}}, reason: v1alpha3.InvalidConfigReason, stalled: true, text: "spec.accessFrom.selector"},
		"a committer that Git refuses": {change: []func(*v1alpha3.GitProvider){func(p *v1alpha3.GitProvider) {
			p.Spec.Commit = &v1alpha3.GitProviderCommit{Committer: &v1alpha3.Committer{Name: "<>", Email: "a@example.org"}}
		}}, reason: v1alpha3.CommitConfigInvalidReason, stalled: true},
		"a signing Secret that is missing": {change: []func(*v1alpha3.GitProvider){signed("keys", false)},
			reason: v1alpha3.SecretNotFoundReason, stalled: true, text: "shop/keys"},
		"a signing key that is none": {change: []func(*v1alpha3.GitProvider){signed("keys", true)},
			secrets: []client.Object{secret("shop", "keys", map[string]string{"signing.key": "rubbish"})},
			reason:  v1alpha3.CommitConfigInvalidReason, stalled: true, text: "no private key in OpenSSH or PKCS#8 form"},
		"an SSH key with another passphrase": {url: "ssh://git@127.0.0.1:1/live.git", change: []func(*v1alpha3.GitProvider){withSecret("login")},
			secrets: []client.Object{secret("shop", "login", map[string]string{"identity": lockedKey(t), "password": "planted"})},
			reason:  v1alpha3.SecretMalformedReason, stalled: true, text: "store the key's own passphrase there"},
		"a repository that asks for a credential": {server: gitserver.Options{Username: "ada", Password: "other"}, reason: v1alpha3.AuthenticationFailedReason,
			stalled: true, text: "name a Secret with a credential in spec.secretRef"},
		"a repository that is not there": {url: "missing", http: true, change: []func(*v1alpha3.GitProvider){withSecret("login")},
			secrets: []client.Object{secret("shop", "login", login)}, reason: v1alpha3.ConnectionFailedReason, text: "check spec.url, and that the credential in Secret shop/login"},
		"a Secret that is missing": {change: []func(*v1alpha3.GitProvider){withSecret("login")},
			reason: v1alpha3.SecretNotFoundReason, stalled: true, text: "Secret shop/login does not exist"},
		"a Secret without a credential": {change: []func(*v1alpha3.GitProvider){withSecret("login")},
			secrets: []client.Object{secret("shop", "login", map[string]string{"user": "ada"})},
			http:    true, reason: v1alpha3.SecretMalformedReason, stalled: true, text: "shop/login"},
		"a credential over plain HTTP": {change: []func(*v1alpha3.GitProvider){withSecret("login")},
			secrets: []client.Object{secret("shop", "login", login)},
			reason:  v1alpha3.InvalidConfigReason, stalled: true, text: "--insecure-allow-git-http"},
		"a credential that the server refuses": {server: gitserver.Options{Username: "ada", Password: "other"}, http: true,
			change: []func(*v1alpha3.GitProvider){withSecret("login")}, secrets: []client.Object{secret("shop", "login", login)},
			reason: v1alpha3.AuthenticationFailedReason, stalled: true, text: "401: authentication required; renew the credential in Secret shop/login"},
		"a host without a known key": {url: "ssh://git@127.0.0.1:1/live.git",
			change: []func(*v1alpha3.GitProvider){withSecret("login")},
			secrets: []client.Object{secret("shop", "login",
				map[string]string{"identity": sshKey(t)})}, reason: v1alpha3.HostKeyUnavailableReason, stalled: true},
		"host keys that are missing": {url: "ssh://git@127.0.0.1:1/live.git",
			change: []func(*v1alpha3.GitProvider){func(p *v1alpha3.GitProvider) {
				p.Spec.KnownHostsRef = &v1alpha3.KnownHostsReference{Name: "hosts"}
			}}, reason: v1alpha3.SecretNotFoundReason, stalled: true, text: "ConfigMap shop/hosts"},
		"nobody listens": {url: "http://127.0.0.1:1/live.git", reason: v1alpha3.ConnectionFailedReason,
			text: "refused"},
		"a certificate of an unknown authority": {server: gitserver.Options{TLS: true}, reason: v1alpha3.ConnectionFailedReason,
			text: "ca.crt"},
		"no such repository": {fault: &gitserver.Fault{Status: http.StatusNotFound},
			reason: v1alpha3.ConnectionFailedReason, text: "404"},
		"the server is sick": {fault: &gitserver.Fault{Status: http.StatusInternalServerError,
			Body: "out of coffee"}, reason: v1alpha3.ConnectionFailedReason, text: "out of coffee"},
		"the host asks to wait": {fault: &gitserver.Fault{Status: http.StatusTooManyRequests,
			Header: map[string]string{"Retry-After": "60"}}, reason: v1alpha3.RateLimitedReason},
		"a SHA-256 repository": {sha256: true, reason: v1alpha3.UnsupportedObjectFormatReason, stalled: true,
			text: "SHA-1"},
		"a server that hangs": {fault: &gitserver.Fault{Hang: true},
			change: []func(*v1alpha3.GitProvider){func(p *v1alpha3.GitProvider) { p.Spec.Timeout = &metav1.Duration{Duration: 200 * time.Millisecond} }}, reason: v1alpha3.ConnectionFailedReason},
		"a suspended GitProvider": {url: "http://127.0.0.1:1/live.git",
			change: []func(*v1alpha3.GitProvider){func(p *v1alpha3.GitProvider) { p.Spec.Suspend = true }}, reason: meta.SuspendedReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, url := gitServer(t, tt.server)
			switch tt.url {
			case "":
			case "missing":
				url = server.URL("missing")
			default:
				url = tt.url
			}
			if tt.sha256 {
				if _, err := server.CreateRepo("sha256", gitserver.RepoOptions{ObjectFormat: "sha256"}); err != nil {
					t.Fatal(err)
				}
				url = server.URL("sha256")
			}
			if tt.fault != nil {
				server.SetFault(*tt.fault)
			}
			b := newBed(t, append(tt.secrets, repository(url, tt.change...))...)
			b.git.AllowInsecureHTTP = tt.http
			p, result := b.passGit("infra")
			status, reason, message := ready(p)
			b.Expect(reason).To(Equal(tt.reason), message)
			b.Expect(message).To(ContainSubstring(tt.text))
			b.Expect(message).NotTo(ContainSubstring("right"), "no credential is told")
			b.Expect(status == metav1.ConditionTrue).To(Equal(tt.reason == meta.SucceededReason || tt.reason == meta.SuspendedReason))
			b.Expect(conditions.IsStalled(p)).To(Equal(tt.stalled))
			b.Expect(p.Status.LastVerifiedAt != nil).To(Equal(tt.reason == meta.SucceededReason))
			b.Expect(result.RequeueAfter).To(BeNumerically(">", time.Second))
			b.Expect(result.RequeueAfter).To(BeNumerically("<=", 6*time.Minute))
		})
	}
}

// TestSecretsOfAGitProviderThatCannotBeRead: an answer of the API server is no answer of the repository.
func TestSecretsOfAGitProviderThatCannotBeRead(t *testing.T) {
	_, url := gitServer(t, gitserver.Options{})
	b := newBed(t, repository(url, withSecret("login")))
	b.fail = apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "login", errors.New("no get"))
	_, err := b.repos.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop",
		Name: "infra"}})
	b.Expect(err).To(MatchError(ContainSubstring("no get")))
	p := &v1alpha3.GitProvider{}
	b.Expect(b.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "infra"}, p)).To(Succeed())
	_, reason, _ := ready(p)
	b.Expect(reason).To(Equal(meta.FailedReason))
}

// TestWhenARepositoryIsAsked: at its interval, on request, after a change and while it fails; not because a GitTarget
// came.
func TestWhenARepositoryIsAsked(t *testing.T) {
	server, url := gitServer(t, gitserver.Options{})
	p := repository(url, withSecret("login"))
	b := newBed(t, p, secret("shop", "login", map[string]string{"username": "ada", "password": "x"}))
	b.git.AllowInsecureHTTP = true
	asked := func(why string, want bool) {
		t.Helper()
		server.Reset()
		b.reads = 0
		b.passGit("infra")
		b.Expect(len(server.Requests()) > 0).To(Equal(want), why)
		if !want {
			b.Expect(b.reads).To(BeZero(), why)
		}
	}
	asked("the first pass", true)
	b.Expect(server.Requests()).To(HaveLen(1), "one advertisement, never a clone")
	asked("nothing happened", false)
	b.Expect(b.Create(t.Context(), &v1alpha3.GitTarget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "live"},
		Spec: v1alpha3.GitTargetSpec{GitProviderRef: meta.NamespacedObjectReference{Name: "infra"},
			Branch: "main", Path: "a"},
	})).To(Succeed())
	asked("a GitTarget came", false)
	got, result := b.passGit("infra")
	b.Expect(got.Status.Branches).To(Equal([]v1alpha3.GitProviderBranch{{Name: "main", GitTargetCount: 1}}))
	b.Expect(result.RequeueAfter).To(BeNumerically("~", 5*time.Minute, 10*time.Second))

	b.Expect(b.Get(t.Context(), client.ObjectKeyFromObject(p), p)).To(Succeed())
	p.Annotations = map[string]string{lifecycle.RequestAnnotation: "now"}
	b.Expect(b.Update(t.Context(), p)).To(Succeed())
	asked("it was asked for", true)
	got, _ = b.passGit("infra")
	b.Expect(got.Status.LastHandledReconcileAt).To(Equal("now"))
	asked("that is done", false)

	b.change(p, func() { p.Spec.AllowedBranches = []string{"main", "dev"} })
	asked("the spec changed", true)
	server.SetFault(gitserver.Fault{Status: http.StatusBadGateway, Times: 1})
	b.change(p, func() { p.Spec.AllowedBranches = []string{"main"} })
	asked("the spec changed again", true)
	asked("the last answer was no success", true)
	asked("now it was", false)

	b.change(p, func() { p.Spec.Interval = &metav1.Duration{Duration: 30 * time.Second} })
	asked("the interval changed", true)
	b.Expect(b.Get(t.Context(), client.ObjectKeyFromObject(p), p)).To(Succeed())
	p.Status.LastVerifiedAt = &metav1.Time{Time: time.Now().Add(-time.Minute)}
	b.Expect(b.Status().Update(t.Context(), p)).To(Succeed())
	asked("the interval is over", true)

	b.change(p, func() { p.Spec.Suspend = true })
	asked("suspended", false)
	b.change(p, func() { p.Spec.Suspend = false })
	asked("resumed", true)
}

// TestScenario54_AGeneratedSigningKeyOutlivesItsProvider: it has no owner, is made once, and is never replaced.
func TestScenario54_AGeneratedSigningKeyOutlivesItsProvider(t *testing.T) {
	_, url := gitServer(t, gitserver.Options{})
	p := repository(url, signed("keys", true))
	b := newBed(t, p)
	got, _ := b.passGit("infra")
	b.Expect(got.Status.SigningPublicKey).To(HavePrefix("ssh-ed25519 "))
	s := &corev1.Secret{}
	b.Expect(b.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "keys"}, s)).To(Succeed())
	b.Expect(s.OwnerReferences).To(BeEmpty())
	b.Expect(s.Annotations[v1alpha3.SigningPublicKeyAnnotation]).To(HavePrefix(got.Status.SigningPublicKey),
		"the mark keeps it out of every mirror")
	key := string(s.Data["signing.key"])
	b.change(p, func() { p.Spec.AllowedBranches = []string{"main", "x"} })
	again, _ := b.passGit("infra")
	b.Expect(again.Status.SigningPublicKey).To(Equal(got.Status.SigningPublicKey))
	b.Expect(b.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "keys"}, s)).To(Succeed())
	b.Expect(string(s.Data["signing.key"])).To(Equal(key))
	b.Expect(b.Delete(t.Context(), p)).To(Succeed())
	_, err := b.repos.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(p)})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "keys"}, s)).To(Succeed())
}

func TestSigningKeyIsAddedToASecretThatHoldsOtherThings(t *testing.T) {
	_, url := gitServer(t, gitserver.Options{})
	b := newBed(t, repository(url, signed("keys", true)), secret("shop", "keys", map[string]string{"other": "thing"}))
	got, _ := b.passGit("infra")
	b.Expect(got.Status.SigningPublicKey).NotTo(BeEmpty())
	s := &corev1.Secret{}
	b.Expect(b.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "keys"}, s)).To(Succeed())
	b.Expect(s.Data).To(And(HaveKey("other"), HaveKey("signing.key")))
	b.Expect(s.Annotations[v1alpha3.SigningPublicKeyAnnotation]).To(HavePrefix("ssh-ed25519 "))
}

func TestReceiverIsNotServed(t *testing.T) {
	_, url := gitServer(t, gitserver.Options{})
	p := repository(url, func(p *v1alpha3.GitProvider) {
		p.Spec.Receiver = &v1alpha3.PushReceiverSpec{Type: "gitea", SecretRef: meta.LocalObjectReference{Name: "token"}}
	})
	b := newBed(t, p)
	got, _ := b.passGit("infra")
	b.Expect(conditions.IsReady(got)).To(BeTrue(), "it is an observation")
	b.Expect(conditions.GetReason(got, v1alpha3.ReceiverReadyCondition)).To(Equal(v1alpha3.NotImplementedReason))
	b.change(p, func() { p.Spec.Receiver = nil })
	got, _ = b.passGit("infra")
	b.Expect(conditions.Has(got, v1alpha3.ReceiverReadyCondition)).To(BeFalse())
}

// TestCredentialsOfAProviderMadeAnew: what a new GitProvider of the same name holds never goes to the old repository,
// and a deleted one is still good for a last publication.
func TestCredentialsOfAProviderMadeAnew(t *testing.T) {
	p := repository("https://old.example.org/a.git", withSecret("old"))
	b := newBed(t, p, secret("shop", "old", map[string]string{"username": "ada", "password": "old"}),
		secret("shop", "new", map[string]string{"username": "ada", "password": "new"}))
	credentials := b.git.Credentials(p)
	password := func() string {
		t.Helper()
		c, err := credentials(t.Context())
		b.Expect(err).NotTo(HaveOccurred())
		return c.Password
	}
	b.Expect(password()).To(Equal("old"))
	s := secret("shop", "old", map[string]string{"username": "ada", "password": "rotated"})
	b.Expect(b.Update(t.Context(), s)).To(Succeed())
	b.Expect(password()).To(Equal("rotated"), "each call reads anew")
	revision := b.git.Revision(client.ObjectKeyFromObject(p))
	b.Expect(revision).NotTo(BeEmpty())

	b.Expect(b.Delete(t.Context(), p)).To(Succeed())
	b.Expect(password()).To(Equal("rotated"))
	b.Expect(b.Create(t.Context(), repository("https://new.example.org/b.git", withSecret("new"),
		func(p *v1alpha3.GitProvider) { p.UID = "2" }))).To(Succeed())
	b.Expect(password()).To(Equal("rotated"))
	b.Expect(b.git.Revision(client.ObjectKeyFromObject(p))).To(Equal(revision), "it is not the new one's")
}

// TestCaseG16_SignerFollowsTheSpec: a commit that is made again later is signed with the key of that moment, so that a
// retained write neither stays unsigned nor waits for a key that is gone.
func TestCaseG16_SignerFollowsTheSpec(t *testing.T) {
	key := func(name string) *corev1.Secret {
		return secret("shop", name, map[string]string{"signing.key": sshKey(t)})
	}
	p := repository("https://git.example.org/live.git")
	one, two := key("one"), key("two")
	b := newBed(t, p, one, two)
	sign := b.git.Signer(p)
	public := func() string {
		t.Helper()
		s, err := sign(t.Context())
		b.Expect(err).NotTo(HaveOccurred())
		if s == nil {
			return ""
		}
		return s.(interface{ PublicKey() string }).PublicKey()
	}
	b.Expect(public()).To(BeEmpty())
	b.change(p, func() { signed("one", false)(p) })
	first := public()
	b.Expect(first).To(HavePrefix("ssh-ed25519 "))
	b.change(p, func() { signed("two", false)(p) })
	b.Expect(b.Delete(t.Context(), one)).To(Succeed())
	b.Expect(public()).To(And(HavePrefix("ssh-ed25519 "), Not(Equal(first))))
	b.Expect(b.Delete(t.Context(), two)).To(Succeed())
	_, err := sign(t.Context())
	b.Expect(err).To(MatchError(ContainSubstring("Secret shop/two does not exist")), "no key, no commit")
}
