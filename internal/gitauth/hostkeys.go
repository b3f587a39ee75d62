// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// hostKeys decides which host keys are accepted and which algorithms are asked for: those of the keys that are known,
// so that a server with several keys shows the known one.
func (r *resolver) hostKeys(c *Credentials) error {
	text, found := r.knownHostsText()
	if !found {
		if !r.in.AllowMissingKnownHosts {
			return Errorf(HostKeyUnavailable, `no SSH host key is known for %s: add "known_hosts" to %s or name a `+
				`ConfigMap in spec.knownHostsRef`, r.at.address(), r.secretName())
		}
		c.HostKeyCallback = ssh.InsecureIgnoreHostKey() //nolint:gosec // asked for by flag
		c.HostKeyAlgorithms = slices.Clone(r.in.HostKeyAlgorithms)
		return nil
	}
	r.knownHosts = text
	lines, bad := parseKnownHosts(text)
	if bad != nil {
		return bad
	}
	check := &hostCheck{at: r.at, now: r.in.Now}
	if check.now == nil {
		check.now = time.Now
	}
	for _, l := range lines {
		if l.matches(r.at.host, r.at.port) {
			check.lines = append(check.lines, l)
		}
	}
	algorithms := check.algorithms()
	if len(algorithms) == 0 {
		return Errorf(HostKeyUnavailable, "known_hosts has no usable entry for %s%s; "+
			"add the line that `ssh-keyscan%s %s` prints, once you trust it",
			check.name(), otherPort(lines, r.at), portFlag(r.at), r.at.host)
	}
	if len(r.in.HostKeyAlgorithms) > 0 {
		known := algorithms
		unknown := func(a string) bool { return !slices.Contains(known, a) }
		algorithms = slices.DeleteFunc(slices.Clone(r.in.HostKeyAlgorithms), unknown)
		if len(algorithms) == 0 {
			return Errorf(HostKeyUnavailable, "known_hosts has only %s for %s, and --ssh-hostkey-algos allows only %s",
				strings.Join(known, ", "), check.name(), strings.Join(r.in.HostKeyAlgorithms, ", "))
		}
	}
	c.HostKeyAlgorithms = algorithms
	c.HostKeyCallback = check.check
	return nil
}

// knownHostsText takes the first source that has host keys (git-writer 8.7).
func (r *resolver) knownHostsText() ([]byte, bool) {
	for _, s := range append([]Secret{r.in.Secret}, r.in.KnownHosts...) {
		if v, key := s.get(keysKnownHosts); key != "" {
			return bytes.TrimPrefix(v, []byte("\xef\xbb\xbf")), true
		}
	}
	return nil, false
}

// otherPort hints at an entry of the same host under another port, the usual slip.
func otherPort(lines []knownHost, at location) string {
	for _, l := range lines {
		if at.port != "22" && l.matches(at.host, "22") {
			return " (there is one for port 22; another port is written [host]:port)"
		}
	}
	return ""
}

func portFlag(at location) string {
	if at.port == "22" {
		return ""
	}
	return " -p " + at.port
}

// hostCheck holds the lines about one host.
type hostCheck struct {
	at    location
	lines []knownHost
	now   func() time.Time
}

// name is the host as known_hosts spells it.
func (h *hostCheck) name() string { return hostNames(h.at.host, h.at.port)[0] }

// hostKeyAlgorithms lists what is asked for, the preferred first, with the key type each belongs to. SHA-1 and DSA are
// left out, as in OpenSSH.
var hostKeyAlgorithms = []struct{ algorithm, keyType string }{
	{ssh.KeyAlgoED25519, ssh.KeyAlgoED25519},
	{ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKED25519},
	{ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA256},
	{ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA384},
	{ssh.KeyAlgoECDSA521, ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoSKECDSA256, ssh.KeyAlgoSKECDSA256},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSA},
	{ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSA},
}

// certAlgorithms are asked for when an authority is known for the host.
var certAlgorithms = []string{ssh.CertAlgoED25519v01, ssh.CertAlgoSKED25519v01, ssh.CertAlgoECDSA256v01,
	ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01, ssh.CertAlgoSKECDSA256v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01}

// algorithms lists the algorithms under which a known key can appear: certificates first when an authority is known.
func (h *hostCheck) algorithms() []string {
	var out []string
	if slices.ContainsFunc(h.lines, func(l knownHost) bool { return l.marker == "cert-authority" && !h.revoked(l.key) }) {
		out = append(out, certAlgorithms...)
	}
	for _, a := range hostKeyAlgorithms {
		if slices.ContainsFunc(h.lines, func(l knownHost) bool {
			return l.marker == "" && l.key.Type() == a.keyType && !h.revoked(l.key)
		}) {
			out = append(out, a.algorithm)
		}
	}
	return out
}

// check is the ssh.HostKeyCallback. The address that was dialled is the URL's own, so the name given is not needed.
func (h *hostCheck) check(_ string, _ net.Addr, key ssh.PublicKey) error {
	cert, isCert := key.(*ssh.Certificate)
	if !isCert {
		return h.plain(key)
	}
	if h.revoked(cert.Key) || h.revoked(cert.SignatureKey) {
		return h.revokedError(key)
	}
	checker := &ssh.CertChecker{
		Clock: h.now,
		IsHostAuthority: func(authority ssh.PublicKey, _ string) bool {
			return slices.ContainsFunc(h.lines, func(l knownHost) bool {
				return l.marker == "cert-authority" && equalKeys(l.key, authority)
			})
		},
	}
	err := checker.CheckHostKey(h.at.address(), nil, cert)
	if err == nil || h.plain(cert.Key) == nil { // as OpenSSH: a certificate that does not hold still proves its key
		return nil
	}
	return Errorf(HostKeyUnavailable, "the host certificate of %s is not accepted: %s (key %s, signed by %s); "+
		"check the @cert-authority lines of known_hosts and the certificate's names and dates",
		h.name(), strings.TrimPrefix(err.Error(), "ssh: "), describeKey(cert.Key), describeKey(cert.SignatureKey))
}

func (h *hostCheck) plain(key ssh.PublicKey) error {
	if h.revoked(key) {
		return h.revokedError(key)
	}
	var known []string
	for _, l := range h.lines {
		if l.marker != "" {
			continue
		}
		if equalKeys(l.key, key) {
			return nil
		}
		known = append(known, describeKey(l.key))
	}
	if len(known) == 0 {
		known = []string{"only certificate authorities"}
	}
	return Errorf(HostKeyUnavailable, "the SSH host key of %s is not the known one: offered %s, known %s; "+
		"if the server's key was changed on purpose, update known_hosts",
		h.name(), describeKey(key), strings.Join(known, ", "))
}

func (h *hostCheck) revokedError(key ssh.PublicKey) error {
	return Errorf(HostKeyUnavailable, "the SSH host key of %s is revoked in known_hosts: %s", h.name(), describeKey(key))
}

func (h *hostCheck) revoked(key ssh.PublicKey) bool {
	return slices.ContainsFunc(h.lines, func(l knownHost) bool { return l.marker == "revoked" && equalKeys(l.key, key) })
}

func equalKeys(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }

// describeKey shows type and fingerprint.
func describeKey(k ssh.PublicKey) string { return k.Type() + " " + ssh.FingerprintSHA256(k) }
