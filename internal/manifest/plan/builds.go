// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

// builds are the renders of the tree a plan is made on, and what the layout says about them.
type builds struct {
	p    *planner
	memo *render.Memo
	// before are the builds by root directory.
	before map[string]*render.Build
}

// hit is an object in one of the builds.
type hit struct {
	root   string
	build  *render.Build
	object *render.Object
}

// start builds every root of the folder. What cannot be built refuses the folder (git-writer 6.2); unchanged roots are
// answered from memory.
func (k *builds) start() error {
	for _, r := range k.p.Layout.Roots() {
		b, err := k.memo.Build(r.Dir, k.p.Work)
		if err != nil {
			i, ok := k.buildIssue(r.Path, err)
			if !ok {
				return err
			}
			k.p.issue(i)
			continue
		}
		k.before[r.Dir] = b
	}
	return nil
}

// buildIssue turns a build that failed into a refusal of the folder; false for an I/O error.
func (k *builds) buildIssue(file string, err error) (acceptance.Issue, bool) {
	i := acceptance.New(acceptance.UnsupportedKustomize, k.p.Folder.Rel(file), err.Error())
	var refusal *render.Refusal
	var build *render.BuildError
	switch {
	case errors.As(err, &refusal):
		i.Path, i.Message = k.p.Folder.Rel(refusal.Path), refusal.Construct+": "+refusal.Detail
	case errors.As(err, &build):
		i.Message = "kustomize-build-failed: " + build.Err.Error()
		i.Solvable, i.Actor = true, acceptance.RepositoryAuthor
		i.Cure = "repair the kustomization so that kustomize build succeeds on it"
	default:
		return i, false
	}
	return i, true
}

// find returns the rendered object of an identity.
func (k *builds) find(b *render.Build, id change.ObjectID, t change.Type) *render.Object {
	if o := b.Find(id.Group, id.Kind, id.Namespace, id.Name); o != nil {
		return o
	}
	if id.Namespace == "" {
		if t.Namespaced {
			return nil
		}
		// Kustomize gives a namespace to any kind it does not know, cluster-scoped ones included.
		return b.FindAnyNamespace(id.Group, id.Kind, id.Name)
	}
	if id.Namespace == k.p.view.DefaultNamespace {
		return b.Find(id.Group, id.Kind, "", id.Name)
	}
	return nil
}

// hits returns where the builds show an object, by root in order.
func (k *builds) hits(id change.ObjectID, t change.Type) []hit {
	var out []hit
	for _, r := range k.p.Layout.Roots() {
		b := k.before[r.Dir]
		if b == nil {
			continue
		}
		if o := k.find(b, id, t); o != nil {
			out = append(out, hit{r.Dir, b, o})
		}
	}
	return out
}

// renders reports whether a build reaches the document's file.
func (k *builds) renders(d *inventory.Document) bool { return len(k.p.Layout.Reaches(d.Path)) > 0 }

// shows reports whether a build gives the document under the identity it claims.
func (k *builds) shows(d *inventory.Document, id change.ObjectID) bool {
	for _, h := range k.hits(id, change.Type{Namespaced: id.Namespace != ""}) {
		if h.object.Origin == d.Path {
			return true
		}
	}
	return false
}

// chain returns the directories of the kustomizations between a root and a file, outermost first.
func (k *builds) chain(root, file string) []string {
	for _, r := range k.p.Layout.Reaches(file) {
		if r.Root == root {
			return r.Chain
		}
	}
	return nil
}

// writable returns the innermost kustomization of a chain the plan may edit, and its position; nil when there is none.
func (k *builds) writable(chain []string) (*layout.Kustomization, int) {
	for i := len(chain) - 1; i >= 0; i-- {
		if c := k.p.Layout.Kustomization(chain[i]); c != nil && c.Writable && len(k.rootsOf(c)) == 1 {
			return c, i
		}
	}
	return nil, -1
}

// rootsOf returns the roots whose build reads a kustomization.
func (k *builds) rootsOf(c *layout.Kustomization) []string {
	var out []string
	for _, r := range k.p.Layout.Roots() {
		for _, f := range k.p.Layout.Reads(r.Dir) {
			if f == c.Path {
				out = append(out, r.Dir)
				break
			}
		}
	}
	return out
}

// inputNamespace is the namespace an object has when a kustomization of the chain receives it: what the kustomizations
// below it set, the outermost winning, else what the file says. Patches of that kustomization match against it.
func (k *builds) inputNamespace(chain []string, at int, o *render.Object) (string, error) {
	for _, dir := range chain[at+1:] {
		if c := k.p.Layout.Kustomization(dir); c != nil && c.Namespace != "" {
			return c.Namespace, nil
		}
	}
	b, err := k.p.Read(o.Origin)
	if err != nil {
		return "", err
	}
	if d := workspace.DocumentFor(b, o); d != nil {
		return d.Head.Namespace, nil
	}
	return "", nil
}

// unreached lists the manifests that no build reads.
func (k *builds) unreached(r *Result) {
	if len(k.p.Layout.Roots()) == 0 {
		return
	}
	for f := range k.p.Folder.Files() {
		managed := slices.ContainsFunc(f.Documents, func(d inventory.Document) bool { return d.Content == inventory.Managed })
		if f.Role != inventory.Manifest || !managed || k.p.Layout.IsPatch(f.Path) || len(k.p.Layout.Reaches(f.Path)) > 0 {
			continue
		}
		if r.UnreachedCount++; len(r.Unreached) < listed {
			r.Unreached = append(r.Unreached, f.Path)
		}
	}
}

// above returns the nearest kustomization file above the folder, empty when there is none. It is never edited, and what
// it does not list is not part of its build (case K17).
func (k *builds) above() (string, error) {
	jail := k.p.Layout.Jail()
	if jail == "" {
		return "", nil
	}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml"} {
		at, b, err := k.p.Nearest(jail, name)
		if err != nil || b != nil {
			return at, err
		}
	}
	return "", nil
}

func (k *builds) rel(name string) string { return k.p.Folder.Rel(name) }
