// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"fmt"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
)

// Normal is the normal form of a repository URL.
type Normal struct {
	// Identity names the worker's repository: https and ssh spellings differ (decisions 31).
	Identity string
	// HostPath is compared for ownership and for appliers: https and ssh spellings are equal (decisions 63, apply 1.4).
	HostPath string
	// Scheme is http, https or ssh; Host is lower-case, with the port unless it is the scheme's own.
	Scheme, Host string
}

// NormalizeURL brings a repository URL into its normal form: scheme and host in lower case, user and default port
// dropped, one trailing .git and slashes ignored, user@host:path read as ssh (git-writer 10.1, apply 1.4).
func NormalizeURL(raw string) (Normal, error) {
	l, err := transport.ParseURL(raw)
	if err != nil {
		return Normal{}, err
	}
	hp := l.HostPath()
	return Normal{Identity: l.Scheme + "://" + hp, HostPath: hp, Scheme: l.Scheme, Host: l.Host}, nil
}

// checkBranch applies git's rules for branch names (git check-ref-format --branch).
func checkBranch(name string) error {
	bad := func(why string) error { return fmt.Errorf("branch %q: %s", name, why) }
	switch {
	case name == "":
		return bad("the name is empty")
	case strings.HasPrefix(name, "-"):
		return bad("a leading dash")
	case name == "HEAD" || name == "@":
		return bad("the name is reserved")
	case strings.HasPrefix(name, "refs/"):
		return bad("write the name without refs/heads/")
	case strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.Contains(name, "..") || strings.Contains(name, "@{"):
		return bad("characters Git does not allow")
	case strings.HasSuffix(name, "."):
		return bad("a trailing dot")
	}
	for _, r := range name {
		if r < ' ' {
			return bad("control characters")
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return bad("a part that is empty, begins with a dot or ends in .lock")
		}
	}
	return nil
}
