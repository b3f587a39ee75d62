// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
)

// authority issues certificates for tests.
type authority struct {
	cert    *x509.Certificate
	key     ed25519.PrivateKey
	certPEM []byte
}

func newCA(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.certPEM, a.key = issue(t, nil, "test authority")
	return a
}

func issue(t *testing.T, ca *authority, name string) (*x509.Certificate, []byte, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: ca == nil, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, key := tmpl, private
	if ca != nil {
		parent, key = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), private
}

func (a *authority) pair(t *testing.T, name string) (certPEM, keyPEM []byte) {
	t.Helper()
	_, c, k := issue(t, a, name)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return c, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// A server behind a private authority that wants a client certificate is reached with the keys of each dialect.
func TestClientCertificate(t *testing.T) {
	g := NewWithT(t)
	ca := newCA(t)
	serverCert, serverKey := ca.pair(t, "server")
	pair, err := tls.X509KeyPair(serverCert, serverKey)
	g.Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.TLS.PeerCertificates[0].Subject.CommonName))
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	defer s.Close()

	cert, key := ca.pair(t, "operator")
	for _, keys := range [][3]string{{"ca.crt", "tls.crt", "tls.key"}, {"caFile", "certFile", "keyFile"}, {"ca.crt", "tlsClientCertData", "tlsClientCertKey"}} {
		c, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: s.URL + "/r", Secret: gitauth.Secret{keys[0]: ca.certPEM, keys[1]: cert, keys[2]: key}})
		g.Expect(err).NotTo(HaveOccurred())
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: c.TLS}}
		resp, err := client.Get(s.URL)
		g.Expect(err).NotTo(HaveOccurred())
		var body bytes.Buffer
		_, _ = body.ReadFrom(resp.Body)
		g.Expect(resp.Body.Close()).To(Succeed())
		g.Expect(body.String()).To(Equal("operator"))
		client.CloseIdleConnections()
	}
}

func TestMalformedTLS(t *testing.T) {
	ca := newCA(t)
	cert, key := ca.pair(t, "a")
	_, other := ca.pair(t, "b")
	for _, c := range []struct {
		name   string
		secret gitauth.Secret
		says   string
	}{
		{"certificate without key", gitauth.Secret{"tls.crt": cert}, `add "tls.key"`},
		{"key without certificate", gitauth.Secret{"tls.key": key}, `add "tls.crt"`},
		{"another key", gitauth.Secret{"tls.crt": cert, "tls.key": other}, "do not work"},
		{"no certificate in ca.crt", secret("ca.crt", "hunter2!"), `"ca.crt" holds no PEM certificate`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: anyURL, Secret: c.secret})
			g.Expect(reason(err)).To(Equal(gitauth.SecretMalformed))
			g.Expect(err.Error()).To(ContainSubstring(c.says))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
		})
	}
}

func TestProxy(t *testing.T) {
	for _, c := range []struct {
		name          string
		url           string
		secret, proxy gitauth.Secret
		want, says    string
	}{
		{name: "Flux", proxy: secret("address", "http://proxy.example.com:3128"), want: "http://proxy.example.com:3128"},
		{name: "Flux with user", proxy: secret("address", "http://proxy.example.com:3128", "username", "u", "password", "p@ss/word\n"), want: "http://u:p%40ss%2Fword@proxy.example.com:3128"},
		{name: "socks", proxy: secret("address", "socks5://proxy.example.com:1080"), want: "socks5://proxy.example.com:1080"},
		{name: "Argo CD", secret: secret("password", "hunter2!", "proxy", "http://u:hunter3!@proxy.example.com:3128"), want: "http://u:hunter3%21@proxy.example.com:3128"},
		{name: "Argo CD, proxy only", secret: secret("proxy", "http://proxy.example.com:3128"), want: "http://proxy.example.com:3128"},
		{name: "Argo CD, exception", secret: secret("password", "hunter2!", "proxy", "http://proxy.example.com", "noProxy", "other,*.example.com"), want: ""},
		{name: "Argo CD, other exception", secret: secret("password", "hunter2!", "proxy", "http://proxy.example.com", "noProxy", "example.org"), want: "http://proxy.example.com"},
		{name: "proxySecretRef comes first", secret: secret("password", "hunter2!", "proxy", "http://a:1"), proxy: secret("address", "http://b:1"), want: "http://b:1"},
		{name: "no address", proxy: secret("username", "u"), says: `no "address"`},
		{name: "password alone", proxy: secret("address", "http://b:1", "password", "hunter2!"), says: `no "username"`},
		{name: "no URL", proxy: secret("address", "u:hunter2!@proxy"), says: "is not a URL"},
		{name: "scheme", proxy: secret("address", "ftp://u:hunter2!@proxy"), says: "not supported"},
		{name: "ssh", url: "git@git.example.com:r", proxy: secret("address", "http://b:1"), want: "http://b:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			if c.url == "" {
				c.url = anyURL
			}
			got, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: c.url, Secret: c.secret, ProxySecret: c.proxy, AllowMissingKnownHosts: true})
			if c.says != "" {
				g.Expect(reason(err)).To(Equal(gitauth.SecretMalformed))
				g.Expect(err.Error()).To(ContainSubstring(c.says))
				g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			text := ""
			if got.Proxy != nil {
				text = got.Proxy.String()
			}
			g.Expect(text).To(Equal(c.want))
		})
	}
}
