// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"bytes"
	"slices"
	"strings"
)

// The keys of the three dialects. Of several spellings the first that is present counts.
var (
	keysSSHKey        = []string{"ssh-privatekey", "identity", "sshPrivateKey"}
	keysPassphrase    = []string{"ssh-password", "password"}
	keysKnownHosts    = []string{"known_hosts", "ssh_known_hosts"}
	keysUsername      = []string{"username"}
	keysPassword      = []string{"password"}
	keysBearer        = []string{"bearerToken"}
	keysCA            = []string{"ca.crt", "caFile"}
	keysCertificate   = []string{"tls.crt", "certFile", "tlsClientCertData"}
	keysPrivateKey    = []string{"tls.key", "keyFile", "tlsClientCertKey"}
	keysProxy         = []string{"proxy"}
	keysNoProxy       = []string{"noProxy"}
	keysAppID         = []string{"githubAppID"}
	keysAppClientID   = []string{"githubAppClientID"}
	keysAppInstall    = []string{"githubAppInstallationID"}
	keysAppOwner      = []string{"githubAppInstallationOwner"}
	keysAppPrivateKey = []string{"githubAppPrivateKey"}
	keysAppBaseURL    = []string{"githubAppBaseURL", "githubAppEnterpriseBaseUrl"}
)

// harmless are keys whose values are no secrets; everything else in a Secret is redacted.
var harmless = slices.Concat(keysKnownHosts, keysUsername, keysCA, keysCertificate, keysNoProxy, keysAppID,
	keysAppClientID, keysAppInstall, keysAppOwner, keysAppBaseURL,
	[]string{"identity.pub", "ssh-publickey", "signing.pub", "url", "type", "project", "name", "insecure", "enableLfs",
		"insecureIgnoreHostKey", "forceHttpBasicAuth", "enableOCI"})

// get returns the first value that is not blank, and its key.
func (s Secret) get(keys []string) (value []byte, key string) {
	for _, k := range keys {
		if v := s[k]; len(bytes.TrimSpace(v)) > 0 {
			return v, k
		}
	}
	return nil, ""
}

// has reports whether one of the keys has a value.
func (s Secret) has(keys []string) bool {
	_, k := s.get(keys)
	return k != ""
}

// text returns a value that must be one line. A line break at its end, as files have, does not belong to it.
func (r *resolver) text(s Secret, keys []string) (string, error) {
	v, key := s.get(keys)
	t := strings.TrimRight(string(v), "\r\n")
	if i := strings.IndexFunc(t, func(c rune) bool { return c < ' ' || c == 0x7f }); i >= 0 {
		return "", r.malformed("key %q holds a control character or several lines; store exactly the value", key)
	}
	return t, nil
}

// present lists which families a Secret holds, for messages.
func (s Secret) present() []string {
	var out []string
	for _, f := range []struct {
		name string
		keys []string
	}{
		{"an SSH key", keysSSHKey},
		{"a GitHub App", slices.Concat(keysAppID, keysAppPrivateKey, keysAppClientID)},
		{"a bearer token", keysBearer},
		{"a password", keysPassword},
		{"a user name", keysUsername},
		{"known hosts", keysKnownHosts},
	} {
		if s.has(f.keys) {
			out = append(out, f.name)
		}
	}
	return out
}
