// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/claims"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

// Destination answers whether repository, branch and folder of a GitTarget are well formed and allowed. Who owns them is
// Conflict's question.
func Destination(t *v1alpha3.GitTarget, gp *v1alpha3.GitProvider) Refusal {
	refuse := func(reason, format string, args ...any) Refusal { return Refusal{reason, fmt.Sprintf(format, args...)} }
	if _, err := gitstore.NormalizeURL(gp.Spec.URL); err != nil {
		return refuse(v1alpha3.InvalidConfigReason, "the URL of GitProvider %s cannot be used: %v", gp.Name, err)
	}
	if _, err := claims.CleanPath(t.Spec.Path); err != nil {
		return refuse(v1alpha3.InvalidConfigReason, "spec.path: %v", err)
	}
	for _, b := range []struct{ field, name string }{{"spec.branch", t.Spec.Branch}, {"spec.parentBranch",
		t.Spec.ParentBranch}} {
		if b.name == "" {
			continue
		}
		if err := checkBranch(b.name); err != nil {
			return refuse(v1alpha3.InvalidConfigReason, "%s %q is no branch name: %v", b.field, b.name, err)
		}
	}
	if !branchAllowed(gp.Spec.AllowedBranches, t.Spec.Branch) {
		return refuse(v1alpha3.BranchNotAllowedReason, "branch %q matches none of the allowedBranches of GitProvider %s: %s",
			t.Spec.Branch, gp.Name, strings.Join(gp.Spec.AllowedBranches, ", "))
	}
	return Refusal{}
}

// checkBranch applies git-check-ref-format's rules to a branch name.
func checkBranch(b string) error {
	switch {
	case b == "@" || b == "HEAD":
		return errors.New("the name has a meaning of its own in Git")
	case strings.HasPrefix(b, "-"):
		return errors.New("it begins with a dash")
	case strings.HasPrefix(b, "refs/"):
		return errors.New("name the branch without refs/heads/")
	case strings.HasPrefix(b, "/"), strings.HasSuffix(b, "/"), strings.Contains(b, "//"):
		return errors.New("it has an empty segment")
	case strings.Contains(b, ".."), strings.Contains(b, "@{"), strings.HasSuffix(b, "."):
		return errors.New(`it holds "..", "@{" or a final dot`)
	case strings.ContainsFunc(b, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }):
		return errors.New(`it holds a space, a control character or one of ~^:?*[\`)
	}
	for seg := range strings.SplitSeq(b, "/") {
		if strings.HasPrefix(seg, ".") || strings.HasSuffix(seg, ".lock") {
			return errors.New(`a segment begins with "." or ends in ".lock"`)
		}
	}
	return nil
}

// CheckPatterns returns what is wrong with spec.allowedBranches. A pattern that is none admits nothing.
func CheckPatterns(globs []string) error {
	for _, g := range globs {
		if _, err := path.Match(g, ""); err != nil {
			return fmt.Errorf("spec.allowedBranches holds %q, which is no pattern; write a name or a glob such as live/*", g)
		}
	}
	return nil
}

// branchAllowed matches globs whose * stops at a slash (api 4.1).
func branchAllowed(globs []string, branch string) bool {
	for _, g := range globs {
		if ok, err := path.Match(g, branch); err == nil && ok {
			return true
		}
	}
	return false
}
