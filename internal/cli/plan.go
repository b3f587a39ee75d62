// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// planOptions are the flags of plan.
type planOptions struct {
	path, gitTarget, output string
	live, deletes, crds     []string
	types, sensitive        []string
	snapshot, write         bool
}

func planCommand(s streams) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan DIR",
		Short: "Show what live objects would change in a folder",
		Long: "Compare live objects with the folder of a GitTarget and print the unified diff and the report of what the\n" +
			"operator would write; --write writes it. Report lines begin with #, so the output is a patch as it is. Secrets are refused\n" +
			"here: only the operator holds what encrypts them.\n\n" +
			"Exit code 0: changes or none, 1: something was refused, 2: misuse.",
		Example: "  kubectl get deployments -n dock -o yaml | gitops-reverser plan . --path apps --live -\n" +
			"  gitops-reverser plan . --live all.yaml --snapshot --gittarget target.yaml --write\n" +
			"  gitops-reverser plan . --delete ConfigMap/dock/boat",
		Args: oneDir,
		RunE: func(cmd *cobra.Command, args []string) error { return runPlan(cmd.Context(), s, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.path, "path", "", "folder of the target, relative to DIR (default: the GitTarget's path, or .)")
	f.StringVar(&o.gitTarget, "gittarget", "", "file with the GitTarget whose spec applies, and, where it matters, its FluxTrigger and Flux Kustomization")
	f.StringArrayVar(&o.live, "live", nil, "file with live objects, - for standard input; may be repeated")
	f.StringArrayVar(&o.deletes, "delete", nil,
		"object that was deleted, as KIND[.GROUP]/NAMESPACE/NAME or KIND[.GROUP]/NAME; may be repeated")
	f.StringArrayVar(&o.crds, "crds", nil, "file or folder with CustomResourceDefinitions; may be repeated")
	f.StringArrayVar(&o.types, "type", nil,
		"with --snapshot: a type that is complete although no object of it is given, as KIND[.GROUP]; may be repeated")
	f.StringSliceVar(&o.sensitive, "additional-sensitive-resources", nil,
		"types that are sensitive besides core Secrets, as RESOURCE or GROUP/RESOURCE: what the operator is started with")
	f.BoolVar(&o.snapshot, "snapshot", false,
		"the given objects are all there are of their types; what is missing is swept by prune.mode")
	f.BoolVar(&o.write, "write", false, "write the changes into DIR")
	f.StringVarP(&o.output, "output", "o", "diff", "diff or json")
	return cmd
}

func (o *planOptions) check() error {
	switch {
	case o.output != "diff" && o.output != "json":
		return fmt.Errorf("-o %s: want diff or json", o.output)
	case len(o.live) == 0 && len(o.deletes) == 0 && len(o.types) == 0:
		return fmt.Errorf("nothing to plan: give --live FILE or --delete KIND/NAMESPACE/NAME")
	case len(o.types) > 0 && !o.snapshot:
		return fmt.Errorf("--type needs --snapshot")
	}
	for _, r := range o.sensitive {
		if g, name, ok := strings.Cut(r, "/"); r == "" || ok && (g == "" || name == "" || strings.Contains(name, "/")) {
			return fmt.Errorf("--additional-sensitive-resources: %q is no resource: write RESOURCE or GROUP/RESOURCE", r)
		}
	}
	stdin := 0
	for _, l := range o.live {
		if l == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return fmt.Errorf("--live -: standard input can be read once")
	}
	return nil
}

func runPlan(ctx context.Context, s streams, dir string, o planOptions) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	t, err := readTarget(o.gitTarget, o.sensitive)
	if err != nil {
		return err
	}
	if o.path == "" {
		if o.path = t.path; o.path == "" {
			o.path = "."
		}
	}
	in, err := open(dir, o.path, o.crds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.tree.close()) }()
	p := &planRun{in: in, target: t, out: &planReport{Path: in.path}, memo: render.NewMemo()}
	batches, err := p.batches(s, o)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err := p.plan(ctx, b); err != nil {
			return err
		}
	}
	changes, err := in.tree.changes()
	if err != nil {
		return err
	}
	p.out.finish(changes)
	if err := p.out.print(s.out, o.output); err != nil {
		return err
	}
	if o.write {
		if err := write(in.tree.root, changes); err != nil {
			return &exitError{code: ExitMisuse, text: err.Error()}
		}
	}
	if p.out.Refused > 0 || len(p.out.Issues) > 0 {
		return &exitError{code: ExitRefused}
	}
	return nil
}

// planRun plans batch after batch, each on the result of the one before.
type planRun struct {
	in     *input
	target *target
	out    *planReport
	memo   *render.Memo
	folder *inventory.Folder
}

func (p *planRun) plan(ctx context.Context, b plan.Batch) error {
	res, err := plan.Plan(ctx, plan.Request{
		Tree: p.in.tree, Path: p.in.path, Folder: p.folder, Batch: b, Policy: p.target.policy,
		Kinds: p.in.types, Schemas: p.in.types, Memo: p.memo, Sealer: noSealer{},
	})
	if err != nil {
		return err
	}
	p.folder = res.Folder
	p.in.tree.apply(res.Edits)
	p.out.add(res)
	return nil
}

// noSealer stands for the encryption that only the operator has.
type noSealer struct{}

var _ plan.Sealer = noSealer{}

// Ready implements plan.Sealer.
func (noSealer) Ready() error {
	return errors.New("an offline command cannot encrypt; only the operator holds what it takes")
}

// Seal implements plan.Sealer.
func (s noSealer) Seal(context.Context, plan.SealRequest) (plan.SealResult, error) {
	return plan.SealResult{}, s.Ready()
}

// batches reads the inputs. Live objects and deletions are one window; a snapshot is one batch per type and scope
// (decisions 91).
func (p *planRun) batches(s streams, o planOptions) ([]plan.Batch, error) {
	items, err := p.items(s, o.live)
	if err != nil {
		return nil, err
	}
	deletions, err := p.deletions(o.deletes)
	if err != nil {
		return nil, err
	}
	p.target.policy.SourceNamespaces = namespaces(items, deletions)
	if !o.snapshot {
		var b plan.Batch
		for _, i := range items {
			b.Changes = append(b.Changes, change.Change{Operation: change.Update, Item: i})
		}
		b.Changes = append(b.Changes, deletions...)
		if len(b.Changes) == 0 {
			return nil, nil
		}
		return []plan.Batch{b}, nil
	}
	out, err := p.snapshots(items, o.types)
	if len(deletions) > 0 {
		out = append(out, plan.Batch{Changes: deletions})
	}
	return out, err
}

// items reads and sanitizes the live objects; those of unknown kinds are reported and left alone.
func (p *planRun) items(s streams, files []string) ([]change.Item, error) {
	z, err := sanitize.New(p.target.ignore)
	if err != nil {
		return nil, fmt.Errorf("spec.ignore: %w", err)
	}
	read := map[string][]liveObject{}
	for _, name := range files {
		if read[name], err = readObjects(s.in, name); err != nil {
			return nil, fmt.Errorf("--live %w", err)
		}
		for _, o := range read[name] {
			if o.head.Group == "apiextensions.k8s.io" && o.head.Kind == "CustomResourceDefinition" {
				_ = p.in.types.addCRD(o.raw) // one that cannot be read explains no kind
			}
		}
	}
	var out []change.Item
	for _, name := range files {
		objects := read[name]
		if len(objects) == 0 {
			fmt.Fprintf(s.err, "--live %s: there is no object in it\n", name)
		}
		for _, o := range objects {
			t, ok := p.in.types.Kind(o.head.Group, o.head.Kind)
			switch {
			case !ok:
				p.out.unusable(o, plan.Refused, string(acceptance.UnresolvedKRM),
					"the kind is not known; give its CustomResourceDefinition with --crds")
				continue
			case t.Namespaced && o.head.Namespace == "":
				p.out.unusable(o, plan.Refused, plan.ReasonUnknownContent, "a live "+o.head.Kind+" has a namespace")
				continue
			case !t.Namespaced && o.head.Namespace != "":
				p.out.unusable(o, plan.Refused, plan.ReasonUnknownContent, "a live "+o.head.Kind+" has no namespace")
				continue
			}
			t.Version = o.head.Version
			item, err := z.Object(o.raw, t)
			if err != nil {
				return nil, fmt.Errorf("--live %s, document %d: %w", name, o.index, err)
			}
			if item.Terminating {
				p.out.unusable(o, plan.Skipped, "terminating",
					"the object is being deleted; name it with --delete when it is gone")
				continue
			}
			out = append(out, item.Item)
		}
	}
	return out, nil
}

func (p *planRun) deletions(words []string) ([]change.Change, error) {
	var out []change.Change
	for _, w := range words {
		parts := strings.Split(w, "/")
		if len(parts) != 2 && len(parts) != 3 || slices.Contains(parts[len(parts)-1:], "") {
			return nil, fmt.Errorf("--delete %s: want KIND/NAMESPACE/NAME, or KIND/NAME for a cluster-scoped object", w)
		}
		t, err := p.in.types.lookup(parts[0])
		if err != nil {
			return nil, fmt.Errorf("--delete %s: %w", w, err)
		}
		id := change.ObjectID{Group: t.Group, Kind: t.Kind, Name: parts[len(parts)-1]}
		if len(parts) == 3 {
			id.Namespace = parts[1]
		}
		if t.Namespaced && id.Namespace == "" {
			return nil, fmt.Errorf("--delete %s: a %s has a namespace", w, t.Kind)
		}
		if !t.Namespaced && id.Namespace != "" {
			return nil, fmt.Errorf("--delete %s: a %s has no namespace", w, t.Kind)
		}
		out = append(out, change.Change{Operation: change.Delete, Item: change.Item{Object: id, Type: t}})
	}
	return out, nil
}

// snapshots groups the objects by type. The scope is one namespace when all objects of the type share it.
func (p *planRun) snapshots(items []change.Item, extra []string) ([]plan.Batch, error) {
	byType := map[string]*change.Snapshot{}
	for _, i := range items {
		key := i.Type.GroupResource()
		s := byType[key]
		if s == nil {
			s = &change.Snapshot{Type: i.Type, Cell: change.Cell{
				Group: i.Type.Group, Resource: i.Type.Resource, Namespace: i.Object.Namespace,
			}}
			byType[key] = s
		}
		if s.Cell.Namespace != i.Object.Namespace {
			s.Cell.Namespace = ""
		}
		s.Items = append(s.Items, i)
	}
	for _, w := range extra {
		t, err := p.in.types.lookup(w)
		if err != nil {
			return nil, fmt.Errorf("--type %s: %w", w, err)
		}
		if byType[t.GroupResource()] == nil {
			byType[t.GroupResource()] = &change.Snapshot{Type: t, Cell: change.Cell{Group: t.Group, Resource: t.Resource}}
		}
	}
	var out []plan.Batch
	order := func(a, b string) int { return byDependency(byType[a], byType[b]) }
	for _, k := range slices.SortedFunc(maps.Keys(byType), order) {
		out = append(out, plan.Batch{Snapshot: byType[k]})
	}
	return out, nil
}

// byDependency puts Namespaces and CustomResourceDefinitions first (decisions 66).
func byDependency(a, b *change.Snapshot) int {
	rank := func(s *change.Snapshot) int {
		switch s.Type.GroupResource() {
		case "namespaces":
			return 0
		case "apiextensions.k8s.io/customresourcedefinitions":
			return 1
		}
		return 2
	}
	if r := rank(a) - rank(b); r != 0 {
		return r
	}
	return strings.Compare(a.Type.GroupResource(), b.Type.GroupResource())
}

func namespaces(items []change.Item, deletions []change.Change) []string {
	var out []string
	add := func(id change.ObjectID) {
		if id.Namespace != "" && !slices.Contains(out, id.Namespace) {
			out = append(out, id.Namespace)
		}
	}
	for _, i := range items {
		add(i.Object)
	}
	for _, d := range deletions {
		add(d.Object)
	}
	slices.Sort(out)
	return out
}
