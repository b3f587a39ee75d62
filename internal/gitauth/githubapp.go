// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/auth/githubapp"
)

// githubApp asks for an installation token, or takes it from the cache.
func (r *resolver) githubApp(ctx context.Context, c *Credentials) error {
	data, err := r.appData()
	if err != nil {
		return err
	}
	opts := []githubapp.OptFunc{githubapp.WithAppData(data)}
	if c.TLS != nil {
		opts = append(opts, githubapp.WithTLSConfig(c.TLS.Clone()))
	}
	if c.Proxy != nil {
		opts = append(opts, githubapp.WithProxyURL(c.Proxy))
	}
	if r.in.Tokens != nil {
		o := r.in.Object
		opts = append(opts, githubapp.WithCache(r.in.Tokens, o.Kind, o.Name, o.Namespace, o.Operation))
	}
	client, err := githubapp.New(opts...)
	if err != nil {
		return r.malformed(`the GitHub App cannot be used: key "githubAppPrivateKey" must hold the app's RSA key as PEM`)
	}
	token, err := client.GetToken(ctx)
	if err != nil {
		return r.appError(ctx, err)
	}
	c.Username, c.Password = githubapp.AccessTokenUsername, token.Token
	return nil
}

// appData checks the keys of a GitHub App and translates Argo CD's spelling.
func (r *resolver) appData() (map[string][]byte, error) {
	s := r.in.Secret
	if !s.has(keysAppID) && s.has(keysAppClientID) {
		return nil, r.malformed(`"githubAppClientID" is not supported yet; set "githubAppID" to the numeric ID of the app`)
	}
	data := map[string][]byte{}
	for key, spellings := range map[string][]string{
		githubapp.KeyAppID:                keysAppID,
		githubapp.KeyAppInstallationID:    keysAppInstall,
		githubapp.KeyAppInstallationOwner: keysAppOwner,
		githubapp.KeyAppBaseURL:           keysAppBaseURL,
	} {
		v, err := r.text(s, spellings)
		if err != nil {
			return nil, err
		}
		if v = strings.TrimSpace(v); v != "" {
			data[key] = []byte(v)
		}
	}
	for _, key := range []string{githubapp.KeyAppID, githubapp.KeyAppInstallationID} {
		if v, ok := data[key]; ok {
			if n, err := strconv.ParseInt(string(v), 10, 64); err != nil || n <= 0 {
				return nil, r.malformed("key %q must be a number", key)
			}
		}
	}
	key, found := s.get(keysAppPrivateKey)
	_, byID := data[githubapp.KeyAppInstallationID]
	_, byOwner := data[githubapp.KeyAppInstallationOwner]
	switch {
	case data[githubapp.KeyAppID] == nil:
		return nil, r.malformed(`has a GitHub App's key and no "githubAppID"`)
	case found == "":
		return nil, r.malformed(`has "githubAppID" and no "githubAppPrivateKey"`)
	case byID == byOwner:
		return nil, r.malformed(`a GitHub App needs exactly one of "githubAppInstallationID" and "githubAppInstallationOwner"`)
	}
	data[githubapp.KeyAppPrivateKey] = key
	return data, nil
}

// status finds the HTTP status in the text of GitHub's client, "<method> <url>: <status> <text>".
var status = regexp.MustCompile(`: ([1-5][0-9]{2}) `)

func (r *resolver) appError(ctx context.Context, err error) *Error {
	text := r.in.Secret.Redact(err.Error())
	if ctx.Err() != nil {
		return &Error{Reason: ConnectionFailed, Message: "no token for the GitHub App in time: " + text, Err: ctx.Err()}
	}
	code := ""
	if m := status.FindStringSubmatch(text); m != nil {
		code = m[1]
	}
	switch {
	case strings.Contains(text, "rate limit"), code == "429":
		return Errorf(RateLimited, "GitHub asks to wait before it issues a token for the app: %s", text)
	case code == "401":
		return Errorf(AuthenticationFailed, `GitHub refused the app's key: %s; check "githubAppID" and `+
			`"githubAppPrivateKey" in %s, and this machine's clock`, text, r.secretName())
	case code == "403", code == "404", code == "422":
		return Errorf(AuthenticationFailed, `GitHub knows no such installation of the app, or it is suspended: %s; `+
			`check the installation in %s`, text, r.secretName())
	}
	return Errorf(ConnectionFailed, "no token for the GitHub App: %s", text)
}
