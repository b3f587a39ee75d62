// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"net"
	"net/url"
	"strings"
)

// location is what authentication needs to know of a repository URL.
type location struct {
	// scheme is http, https or ssh.
	scheme string
	// user is the user name in the URL.
	user string
	// host has no port and no brackets; port is always set.
	host, port string
	url        *url.URL
}

// parseLocation reads http(s)://, ssh:// and user@host:path. Errors never show the URL, which may hold a password.
func parseLocation(raw string) (location, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		return parseSCP(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return location{}, Errorf(InvalidConfig, "spec.url cannot be read; write it as https://host/path, "+
			"ssh://user@host/path or user@host:path")
	}
	l := location{scheme: strings.ToLower(u.Scheme), user: u.User.Username(), host: u.Hostname(), port: u.Port(), url: u}
	if _, has := u.User.Password(); has {
		return location{}, Errorf(InvalidConfig, "spec.url holds a password; remove it and put it into the Secret "+
			"of spec.secretRef")
	}
	switch l.scheme {
	case "git+ssh", "ssh+git":
		l.scheme = "ssh"
	case "http", "https", "ssh":
	default:
		return location{}, Errorf(InvalidConfig, "the scheme %q of spec.url is not supported; use https, http or ssh",
			u.Scheme)
	}
	if l.port == "" {
		l.port = map[string]string{"http": "80", "https": "443", "ssh": "22"}[l.scheme]
	}
	return l.check()
}

// parseSCP reads [user@]host:path and [user@][v6address]:path.
func parseSCP(raw string) (location, error) {
	l := location{scheme: "ssh", port: "22"}
	rest := raw
	if user, after, ok := strings.Cut(raw, "@"); ok && !strings.ContainsAny(user, ":/") {
		l.user, rest = user, after
	}
	if strings.HasPrefix(rest, "[") {
		host, _, ok := strings.Cut(rest[1:], "]:")
		if !ok {
			host = ""
		}
		l.host = host
	} else if host, path, ok := strings.Cut(rest, ":"); ok && path != "" && !strings.Contains(host, "/") {
		l.host = host
	}
	return l.check()
}

func (l location) check() (location, error) {
	l.host = strings.TrimSuffix(strings.ToLower(l.host), ".")
	if l.host == "" {
		return location{}, Errorf(InvalidConfig, "spec.url has no host; write it as https://host/path, "+
			"ssh://user@host/path or user@host:path")
	}
	return l, nil
}

func (l location) ssh() bool { return l.scheme == "ssh" }

// address is host:port, as it is dialled.
func (l location) address() string { return net.JoinHostPort(l.host, l.port) }
