// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
)

func TestCleanMakesServerWordsFit(t *testing.T) {
	g := NewWithT(t)
	g.Expect(transport.Clean("a\r\nb\n\n  c\t d  \n")).To(Equal("a\nb\nc d"))
	g.Expect(transport.Clean("Counting: 10%\rCounting: 100%, done.\nerror: no\n")).To(Equal("Counting: 100%, done.\nerror: no"))
	g.Expect(transport.Clean("\x1b[31mred\x1b[0m\u202eabc\x00")).To(Equal("[31mred[0mabc"))
	g.Expect(transport.Clean("see https://bot:pa%40ss@host/x and ssh://git@host/y")).To(Equal("see https://host/x and ssh://host/y"))
	g.Expect(transport.Clean("Authorization: Bearer abc.def, PRIVATE-TOKEN: glpat-1")).NotTo(Or(ContainSubstring("abc.def"), ContainSubstring("glpat-1")))
	g.Expect(transport.Clean("token hunter22 refused", "hunter22")).To(Equal("token *** refused"))
	g.Expect(transport.Clean("\xff\xfe")).To(Equal("\uFFFD"))
	long := transport.Clean(strings.Repeat("é", 5000))
	g.Expect(len(long)).To(BeNumerically("<=", transport.MaxText))
	g.Expect(long).To(HaveSuffix("..."))
}

func TestSecretsListEverythingThatAuthenticates(t *testing.T) {
	g := NewWithT(t)
	p, _ := url.Parse("http://u:proxypass@proxy:1")
	c := transport.Credentials{Username: "u", Password: "pass", BearerToken: "tok", Proxy: p}
	g.Expect(c.Secrets()).To(ConsistOf("dTpwYXNz", "pass", "tok", "proxypass"))
}

func TestParseURL(t *testing.T) {
	g := NewWithT(t)
	for raw, want := range map[string]transport.Location{
		"https://Host.Example/a/b.git":      {Scheme: "https", Host: "host.example", Path: "/a/b.git"},
		"HTTPS://u@host:443/a%20b":          {Scheme: "https", User: "u", Host: "host", Path: "/a%20b"},
		"http://host:8080/a":                {Scheme: "http", Host: "host:8080", Path: "/a"},
		"ssh://git@host:22/a":               {Scheme: "ssh", User: "git", Host: "host", Path: "/a"},
		"ssh://host:2222/~me/a.git":         {Scheme: "ssh", Host: "host:2222", Path: "/~me/a.git"},
		"git@host:a/b.git":                  {Scheme: "ssh", User: "git", Host: "host", Path: "a/b.git", Relative: true},
		"host:/abs/b":                       {Scheme: "ssh", Host: "host", Path: "/abs/b"},
		"git@[::1]:a/b":                     {Scheme: "ssh", User: "git", Host: "[::1]", Path: "a/b", Relative: true},
		"ssh://[fe80::1]:2222/a":            {Scheme: "ssh", Host: "[fe80::1]:2222", Path: "/a"},
		"git+ssh://git@host/a":              {Scheme: "ssh", User: "git", Host: "host", Path: "/a"},
		"org-1@vs-ssh.example:v3/org/p/r":   {Scheme: "ssh", User: "org-1", Host: "vs-ssh.example", Path: "v3/org/p/r", Relative: true},
		"https://org@dev.example/o/_git/r ": {Scheme: "https", User: "org", Host: "dev.example", Path: "/o/_git/r"},
	} {
		l, err := transport.ParseURL(raw)
		g.Expect(err).NotTo(HaveOccurred(), raw)
		g.Expect(l).To(Equal(want), raw)
	}
	for _, raw := range []string{
		"", " ", "host", "/local/path", "file:///x", "git://host/x", "https://host", "https:///x", "https://host/", "https://u:secretpw@host/x",
		"https://host/x?y=secretpw", "ssh://-oProxyCommand=x/y", "-x@host:y", "-host:y", "git@host:", "a b@host:c", "https://ho st/x", "https://u:secretpw@ho%zz/x",
	} {
		_, err := transport.ParseURL(raw)
		g.Expect(err).To(HaveOccurred(), raw)
		g.Expect(err.Error()).NotTo(ContainSubstring("secretpw"), raw)
	}
}
