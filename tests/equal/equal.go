// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package equal answers the question most tests end with: does the folder hold exactly what is live?
package equal

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// Folder is a mirrored folder.
type Folder struct {
	Repo   *gitserver.Repo
	Branch string
	// Path is the GitTarget's spec.path.
	Path string
}

// Files returns the manifests of the folder by path.
func (f Folder) Files() (map[string]string, error) {
	if f.Repo.Tip(f.Branch) == gitserver.Zero {
		return map[string]string{}, nil
	}
	all, err := f.Repo.Files(f.Branch)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for p, entry := range all {
		if strings.HasPrefix(p, f.Path+"/") && strings.HasSuffix(p, ".yaml") && path.Base(p) != ".sops.yaml" {
			_, ids[p], _ = strings.Cut(entry, " ")
		}
	}
	out := make(map[string]string, len(ids))
	for p := range ids {
		b, err := f.Repo.ReadFile(f.Branch, p)
		if err != nil {
			return nil, err
		}
		out[p] = string(b)
	}
	return out, nil
}

// Canonical is the canonical place of an object.
func (f Folder) Canonical(group, resource, namespace, name string) string {
	return path.Join(f.Path, namespace, group, resource, name+".yaml")
}

// Check compares the objects of one kind in a namespace with the folder's files at their canonical places. The error
// names the first differences.
func (f Folder) Check(ctx context.Context, c client.Client, kind schema.GroupVersionKind, resource,
	namespace string) error {
	var live unstructured.UnstructuredList
	live.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.List(ctx, &live, client.InNamespace(namespace)); err != nil {
		return err
	}
	want := map[string]string{}
	for i := range live.Items {
		b, err := json.Marshal(live.Items[i].Object)
		if err != nil {
			return err
		}
		if want[f.Canonical(kind.Group, resource, namespace, live.Items[i].GetName())], err = Neat(b); err != nil {
			return err
		}
	}
	files, err := f.Files()
	if err != nil {
		return err
	}
	var differences []string
	for p, text := range files {
		b, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		got, err := Neat(b)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", p, err)
		case want[p] == "":
			differences = append(differences, p+" has no live object")
		case want[p] != got:
			differences = append(differences, fmt.Sprintf("%s holds %s, live is %s", p, got, want[p]))
		}
		delete(want, p)
	}
	for p := range want {
		differences = append(differences, p+" is missing")
	}
	if len(differences) == 0 {
		return nil
	}
	slices.Sort(differences)
	return fmt.Errorf("%d differences: %s", len(differences), strings.Join(differences[:min(3, len(differences))], "; "))
}

// Neat is the form in which both sides are compared: sanitized (decisions 38) and canonical.
func Neat(object []byte) (string, error) {
	s, err := sanitize.New(sanitize.Config{})
	if err != nil {
		return "", err
	}
	b, err := s.Neat(object)
	if err != nil {
		return "", err
	}
	v, err := compare.Decode(b)
	if err != nil {
		return "", err
	}
	return string(compare.Canonical(v)), nil
}

// Duplicates returns the transitions of a file that two commits of one committer make alike (decisions 90).
func (f Folder) Duplicates(committer string) ([]string, error) {
	out, err := f.Repo.Git("log", "--raw", "--no-abbrev", "--no-renames", "--format=commit %ce", f.Branch)
	if err != nil {
		return nil, err
	}
	ours := false
	seen := map[string]bool{}
	var twice []string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if who, ok := strings.CutPrefix(line, "commit "); ok {
			ours = who == committer
			continue
		}
		// :100644 100644 <old> <new> M<TAB>path
		fields := strings.Fields(line)
		if !ours || len(fields) < 6 || !strings.HasPrefix(line, ":") {
			continue
		}
		transition := strings.Join(append(fields[2:4], fields[5:]...), " ")
		if seen[transition] {
			twice = append(twice, transition)
		}
		seen[transition] = true
	}
	return twice, nil
}
