// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"context"
	"strings"
)

// http fills in the credential of an http(s) URL: GitHub App, then bearer, then basic (decisions 56).
func (r *resolver) http(ctx context.Context, c *Credentials) error {
	s := r.in.Secret
	if s == nil {
		return nil
	}
	var err error
	if c.TLS, err = r.tls(); err != nil {
		return err
	}
	switch {
	case s.has(keysAppID), s.has(keysAppPrivateKey), s.has(keysAppClientID):
		if err := r.secure(); err != nil {
			return err
		}
		err = r.githubApp(ctx, c)
	case s.has(keysBearer):
		if c.BearerToken, err = r.text(s, keysBearer); err == nil && strings.ContainsAny(c.BearerToken, " \t") {
			err = r.malformed(`key "bearerToken" holds white space; store the token alone, without "Bearer"`)
		}
	case s.has(keysPassword), s.has(keysUsername):
		err = r.basic(c)
	default:
		// A Secret with nothing but trust material or a proxy is anonymous access, or access by client certificate.
		if s.has(keysSSHKey) || c.TLS == nil && !s.has(keysProxy) {
			return r.nothingFor(`"password" with "username", "bearerToken", or the keys "githubApp..." of a GitHub App`)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return r.secure()
}

// basic reads user name and password. The user name falls back to the URL's, then to git: hosts that take a token as
// password ignore it but many want one.
func (r *resolver) basic(c *Credentials) error {
	s := r.in.Secret
	var err error
	if c.Username, err = r.text(s, keysUsername); err != nil {
		return err
	}
	if c.Password, err = r.text(s, keysPassword); err != nil {
		return err
	}
	if c.Password == "" {
		return r.malformed(`has "username" and no "password"; add the password or a token as "password"`)
	}
	if strings.Contains(c.Username, ":") {
		return r.malformed(`key "username" holds a colon, which basic authentication does not allow`)
	}
	if c.Username == "" {
		c.Username = r.at.user
	}
	if c.Username == "" {
		c.Username = "git"
	}
	return nil
}

// secure refuses credentials in clear text over the network.
func (r *resolver) secure() error {
	if r.at.scheme == "http" && !r.in.AllowInsecureHTTP {
		return Errorf(InvalidConfig, "credentials are not sent over http://, where everybody on the way can read "+
			"them; use an https:// URL, or start the operator with --insecure-allow-git-http")
	}
	return nil
}
