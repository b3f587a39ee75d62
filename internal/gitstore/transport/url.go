// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"
)

// Location is a parsed repository address.
type Location struct {
	// Scheme is http, https or ssh.
	Scheme string
	// User is the user name in the address; never a password.
	User string
	// Host is lower-case, with the port unless it is the scheme's own.
	Host string
	// Path is as written, with one leading slash; for the scp form it is relative to the user's home and Relative.
	Path     string
	Relative bool
}

// ParseURL reads http://, https:// and ssh:// addresses and the scp form user@host:path. Errors never hold a password.
func ParseURL(raw string) (Location, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return Location{}, errors.New("the repository URL is empty")
	}
	if strings.ContainsAny(raw, "\x00\r\n\t ") {
		return Location{}, errors.New("the repository URL holds white space or control characters")
	}
	if !strings.Contains(raw, "://") {
		return parseSCP(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // without the address, which may hold a password
		}
		return Location{}, fmt.Errorf("the repository URL cannot be read: %w", err)
	}
	l := Location{Scheme: strings.ToLower(u.Scheme), User: u.User.Username(), Path: u.EscapedPath()}
	switch l.Scheme {
	case "git+ssh", "ssh+git":
		l.Scheme = "ssh"
	case "http", "https", "ssh":
	default:
		return Location{}, fmt.Errorf("the scheme %q of the repository URL is none of https, http and ssh", l.Scheme)
	}
	if _, has := u.User.Password(); has {
		return Location{}, errors.New("the repository URL holds a password: put it into the Secret")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return Location{}, errors.New("the repository URL must not have a query or a fragment")
	}
	if u.Hostname() == "" {
		return Location{}, errors.New("the repository URL has no host")
	}
	if l.Scheme == "ssh" {
		l.Path = u.Path
	}
	if strings.Trim(l.Path, "/") == "" {
		return Location{}, errors.New("the repository URL has no path")
	}
	l.Host = host(u.Hostname(), u.Port(), l.Scheme)
	if strings.HasPrefix(l.User, "-") || strings.HasPrefix(l.Host, "-") {
		return Location{}, errors.New("user and host of the repository URL must not begin with a dash")
	}
	return l, nil
}

// parseSCP reads [user@]host:path.
func parseSCP(raw string) (Location, error) {
	const help = "the repository URL is neither https://host/path, ssh://user@host/path nor user@host:path"
	where, p, ok := strings.Cut(raw, ":")
	if strings.HasPrefix(raw[strings.IndexByte(raw, '@')+1:], "[") { // user@[::1]:path
		i := strings.Index(raw, "]:")
		if i < 0 {
			return Location{}, errors.New(help)
		}
		where, p, ok = raw[:i+1], raw[i+2:], true
	}
	if !ok || p == "" || strings.Contains(where, "/") {
		return Location{}, errors.New(help)
	}
	user, h, found := strings.Cut(where, "@")
	if !found {
		user, h = "", where
	}
	h = strings.Trim(h, "[]")
	if h == "" || strings.HasPrefix(h, "-") || strings.HasPrefix(user, "-") || strings.Trim(p, "/") == "" {
		return Location{}, errors.New(help)
	}
	l := Location{Scheme: "ssh", User: user, Host: host(h, "", "ssh"), Path: p}
	l.Relative = !strings.HasPrefix(p, "/")
	return l, nil
}

// ports are the schemes' own ports.
var ports = map[string]string{"http": "80", "https": "443", "ssh": "22"}

func host(name, port, scheme string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if port == "" || port == ports[scheme] {
		if strings.Contains(name, ":") {
			return "[" + name + "]"
		}
		return name
	}
	return net.JoinHostPort(name, port)
}

// HostPath is the normal form of host and path: one trailing .git, slashes at the ends and dot segments removed. The
// path stays case-sensitive.
func (l Location) HostPath() string {
	p := l.Path
	if l.Scheme != "ssh" {
		if u, err := url.PathUnescape(p); err == nil {
			p = u
		}
	}
	p = strings.Trim(path.Clean("/"+p), "/")
	p = strings.TrimRight(strings.TrimSuffix(p, ".git"), "/")
	return l.Host + "/" + p
}

// http is the address requests go to.
func (l Location) http() *url.URL {
	u := &url.URL{Scheme: l.Scheme, Host: l.Host}
	p := strings.TrimRight(l.Path, "/")
	if dec, err := url.PathUnescape(p); err == nil {
		u.Path, u.RawPath = dec, p
	} else {
		u.Path = p
	}
	return u
}

// address is host:port to dial.
func (l Location) address() string {
	if _, _, err := net.SplitHostPort(l.Host); err == nil {
		return l.Host
	}
	return net.JoinHostPort(strings.Trim(l.Host, "[]"), ports[l.Scheme])
}
