// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/tls"
	"net/url"
	"time"

	"golang.org/x/crypto/ssh"
)

// Credentials are what a transport authenticates with. The zero value is anonymous.
type Credentials struct {
	// Username and Password are for HTTP basic authentication; a password without user name is allowed.
	Username, Password string
	// BearerToken is for HTTP and excludes basic.
	BearerToken string
	// SSHSigner and SSHUser (default: the URL's, else git) are for SSH, as is a Password without a signer.
	SSHSigner ssh.Signer
	SSHUser   string
	// HostKeyCallback decides about host keys; nil refuses every SSH connection.
	HostKeyCallback ssh.HostKeyCallback
	// HostKeyAlgorithms limits the algorithms to those the known hosts list.
	HostKeyAlgorithms []string
	// KexAlgorithms are the SSH key exchanges to use, the preferred first; empty means the library's secure ones.
	KexAlgorithms []string
	// TLS holds custom CAs and client certificates; nil = the system's.
	TLS *tls.Config
	// Proxy is used for every connection; nil = the environment's proxy for HTTP(S), none for SSH.
	Proxy *url.URL
	// Revision identifies this material: equal non-empty revisions share connections even when TLS differs by pointer.
	Revision string
}

// RoundTrip describes one network round trip for metrics.
type RoundTrip struct {
	// Op is look, fetch, push or probe.
	Op string
	// Sent and Received are body bytes.
	Sent, Received int64
	Duration       time.Duration
	Err            error
}
