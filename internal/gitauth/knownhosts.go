// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the format of hashed known_hosts entries
	"encoding/base64"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
)

// knownHost is one line of a known_hosts file.
type knownHost struct {
	line int
	// marker is "", cert-authority or revoked.
	marker   string
	patterns []string
	key      ssh.PublicKey
}

// parseKnownHosts reads a known_hosts file. A line that cannot be read is an error with its number: leaving it out could
// leave out a revocation.
func parseKnownHosts(text []byte) ([]knownHost, *Error) {
	var out []knownHost
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fail := func(why string) ([]knownHost, *Error) {
			return nil, Errorf(HostKeyUnavailable, "known_hosts line %d cannot be read: %s; a line is: host "+
				"key-type base64-key", number, why)
		}
		if len(strings.Fields(line)) < 3 {
			return fail("it has fewer than three fields")
		}
		// OpenSSH takes everything behind the key as a comment, the library at most one word of it.
		marker, hosts, key, _, _, err := ssh.ParseKnownHosts([]byte(withoutComment(line)))
		if err != nil {
			return fail(strings.TrimPrefix(err.Error(), "ssh: "))
		}
		if marker != "" && marker != "cert-authority" && marker != "revoked" {
			return fail("the marker @" + marker + " is unknown")
		}
		for _, h := range hosts {
			if err := checkPattern(h); err != "" {
				return fail(err)
			}
		}
		out = append(out, knownHost{line: number, marker: marker, patterns: hosts, key: key})
	}
	return out, nil
}

// withoutComment keeps the fields up to the key.
func withoutComment(line string) string {
	f := strings.Fields(line)
	n := 3
	if strings.HasPrefix(f[0], "@") {
		n = 4
	}
	return strings.Join(f[:min(n, len(f))], " ")
}

func checkPattern(p string) string {
	if strings.HasPrefix(p, "|") {
		f := strings.Split(p, "|")
		if len(f) != 4 || f[1] != "1" {
			return "the hashed host name has an unknown form"
		}
		for _, x := range f[2:] {
			if _, err := base64.StdEncoding.DecodeString(x); err != nil {
				return "the hashed host name is not base64"
			}
		}
	}
	return ""
}

// matches reports whether the line is about the host. A negated pattern that matches excludes it.
func (k knownHost) matches(host, port string) bool {
	found := false
	for _, p := range k.patterns {
		negated := strings.HasPrefix(p, "!")
		for _, name := range hostNames(host, port) {
			if !matchPattern(strings.TrimPrefix(p, "!"), name) {
				continue
			}
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

// hostNames lists how known_hosts may spell a host: without port for 22, else [host]:port.
func hostNames(host, port string) []string {
	switch {
	case port != "22":
		return []string{"[" + host + "]:" + port}
	case net.ParseIP(host) != nil && strings.Contains(host, ":"):
		return []string{host, "[" + host + "]", "[" + host + "]:22"}
	default:
		return []string{host, "[" + host + "]:22"}
	}
}

func matchPattern(pattern, name string) bool {
	if strings.HasPrefix(pattern, "|1|") {
		f := strings.Split(pattern, "|")
		salt, _ := base64.StdEncoding.DecodeString(f[2])
		want, _ := base64.StdEncoding.DecodeString(f[3])
		h := hmac.New(sha1.New, salt)
		h.Write([]byte(name))
		return hmac.Equal(h.Sum(nil), want)
	}
	return wildcard(strings.ToLower(pattern), name)
}

// wildcard matches * and ? as OpenSSH does; brackets stand for themselves. It is linear in the product of the lengths.
func wildcard(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
