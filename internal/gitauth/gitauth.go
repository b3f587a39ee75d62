// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"context"
	"crypto/tls"
	"net/url"
	"time"

	"github.com/fluxcd/pkg/cache"
	"golang.org/x/crypto/ssh"
)

// Secret is the data of a Secret or a ConfigMap. An empty value counts as absent.
type Secret map[string][]byte

// Input is what Resolve works from. Maps are only read.
type Input struct {
	// URL of the repository: http(s)://, ssh:// or the scp form.
	URL string
	// Secret is the data of spec.secretRef; nil means anonymous.
	Secret Secret
	// SecretName is how messages name it, as namespace/name; empty means "the credential Secret".
	SecretName string
	// KnownHosts are the sources of host keys after the Secret's own, in order: spec.knownHostsRef, the default
	// ConfigMap. The first with a non-empty key known_hosts, else ssh_known_hosts, is the one used.
	KnownHosts []Secret
	// ProxySecret is the data of spec.proxySecretRef: address, username, password. It precedes the Secret's own proxy.
	ProxySecret Secret
	// AllowInsecureHTTP permits credentials over http:// (--insecure-allow-git-http).
	AllowInsecureHTTP bool
	// AllowMissingKnownHosts accepts any SSH host key when no source holds one (--insecure-allow-missing-known-hosts).
	AllowMissingKnownHosts bool
	// HostKeyAlgorithms limits the SSH host key algorithms (--ssh-hostkey-algos); empty means the library's secure ones.
	HostKeyAlgorithms []string
	// KexAlgorithms limits the SSH key exchanges (--ssh-kex-algos); empty means the library's secure ones.
	KexAlgorithms []string
	// Tokens caches GitHub App tokens; nil asks for one each time.
	Tokens *cache.TokenCache
	// SSHKeys remembers opened SSH keys, so that a passphrase is not tried at every call; nil opens the key each time.
	SSHKeys *Memo[ssh.Signer]
	// Object is who the tokens are for, for the cache's metrics.
	Object Object
	// Now is the clock of host certificates; nil means time.Now.
	Now func() time.Time
}

// Object names the object that needs a token.
type Object struct{ Kind, Namespace, Name, Operation string }

// Credentials are what a transport authenticates with, in the shape of gitstore's own type, so that one converts into
// the other. The zero value is anonymous.
type Credentials struct {
	// Username and Password are for HTTP basic authentication.
	Username, Password string
	// BearerToken is for HTTP and excludes basic.
	BearerToken string
	// SSHSigner and SSHUser are for SSH.
	SSHSigner ssh.Signer
	SSHUser   string
	// HostKeyCallback decides about host keys. It is set for every SSH URL.
	HostKeyCallback ssh.HostKeyCallback
	// HostKeyAlgorithms are those the known hosts list for this host, the preferred first.
	HostKeyAlgorithms []string
	// KexAlgorithms are the SSH key exchanges to use, the preferred first; empty means the library's secure ones.
	KexAlgorithms []string
	// TLS holds custom CAs and client certificates; nil = the system's.
	TLS *tls.Config
	// Proxy is used for every connection; nil = the environment's proxy for HTTP(S), none for SSH.
	Proxy *url.URL
	// Revision identifies this material within the process: it is equal exactly when all of it is, and tells nothing
	// about the values.
	Revision string
}

// Resolve finds the credential of a repository. Errors are *Error. Only a GitHub App needs the network.
func Resolve(ctx context.Context, in Input) (Credentials, error) {
	at, err := parseLocation(in.URL)
	if err != nil {
		return Credentials{}, err
	}
	r := &resolver{in: in, at: at}
	return r.resolve(ctx)
}
