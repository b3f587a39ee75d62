// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"crypto/tls"
	"crypto/x509"
)

// tls reads custom CAs and the client certificate; nil when the Secret has neither. CAs are added to the system's.
func (r *resolver) tls() (*tls.Config, error) {
	ca, caKey := r.in.Secret.get(keysCA)
	cert, certKey := r.in.Secret.get(keysCertificate)
	key, keyKey := r.in.Secret.get(keysPrivateKey)
	if caKey == "" && certKey == "" && keyKey == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if caKey != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(ca) {
			return nil, r.malformed("key %q holds no PEM certificate", caKey)
		}
		c.RootCAs = pool
	}
	switch {
	case certKey != "" && keyKey == "":
		return nil, r.malformed(`has the client certificate %q without its key; add "tls.key"`, certKey)
	case certKey == "" && keyKey != "":
		return nil, r.malformed(`has %q without the client certificate; add "tls.crt"`, keyKey)
	case certKey != "":
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, r.malformed("the client certificate %q and its key %q do not work: %v", certKey, keyKey, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
