// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// maxProxyURL bounds a proxy's address, in bytes, as Flux does.
const maxProxyURL = 2048

// proxy reads spec.proxySecretRef, else Argo CD's keys proxy and noProxy of the credential Secret.
func (r *resolver) proxy() (*url.URL, error) {
	if p := r.in.ProxySecret; p != nil {
		address, err := r.proxyText(p, "address")
		if err != nil {
			return nil, err
		}
		if address == "" {
			return nil, Errorf(SecretMalformed, `the proxy Secret has no "address"; set it to the proxy's URL`)
		}
		u, err := parseProxy(address, `the proxy Secret's "address"`)
		if err != nil {
			return nil, err
		}
		return r.proxyUser(u, p)
	}
	address, err := r.text(r.in.Secret, keysProxy)
	if err != nil || address == "" {
		return nil, err
	}
	u, err := parseProxy(address, `key "proxy" of `+r.secretName())
	if err != nil {
		return nil, err
	}
	no, err := r.text(r.in.Secret, keysNoProxy)
	if err != nil {
		return nil, err
	}
	// The URL asked about is https even for ssh: what counts is the host.
	to, _ := (&httpproxy.Config{HTTPSProxy: u.String(), NoProxy: no}).ProxyFunc()(&url.URL{Scheme: "https",
		Host: r.at.address()})
	if to == nil {
		return nil, nil
	}
	return u, nil
}

func (r *resolver) proxyUser(u *url.URL, p Secret) (*url.URL, error) {
	user, err := r.proxyText(p, "username")
	if err != nil {
		return nil, err
	}
	password, err := r.proxyText(p, "password")
	if err != nil {
		return nil, err
	}
	switch {
	case user != "" && password != "":
		u.User = url.UserPassword(user, password)
	case user != "":
		u.User = url.User(user)
	case password != "":
		return nil, Errorf(SecretMalformed, `the proxy Secret has "password" and no "username"; add the user name`)
	}
	return u, nil
}

func (r *resolver) proxyText(p Secret, key string) (string, error) {
	t, err := r.text(p, []string{key})
	if err != nil {
		return "", Errorf(SecretMalformed, "the proxy Secret's %q holds a control character or several lines", key)
	}
	return t, nil
}

// parseProxy reads a proxy's URL. Errors never show it, since it may hold a password.
func parseProxy(address, where string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case len(address) > maxProxyURL:
		return nil, Errorf(SecretMalformed, "%s is longer than %d bytes", where, maxProxyURL)
	case err != nil, u.Hostname() == "":
		return nil, Errorf(SecretMalformed, "%s is not a URL such as http://proxy.example.com:3128", where)
	case !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme):
		return nil, Errorf(SecretMalformed, "%s has a scheme that is not supported; use http, https or socks5", where)
	}
	return u, nil
}
