// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// Plan decides which bytes follow from a batch. The error says that the plan could not look (I/O, cancellation);
// refusals are part of the result.
func Plan(ctx context.Context, r Request) (*Result, error) {
	folder, stats, err := inventory.Scan(ctx, r.Tree, r.Path, r.Folder)
	if err != nil {
		return nil, fmt.Errorf("read the folder %s: %w", r.Path, err)
	}
	p, err := newPlanner(r, folder)
	if err != nil {
		return nil, err
	}
	p.res.Scan = stats
	p.kust.unreached(p.res)
	if p.res.Issues = acceptance.Check(p.acceptance); len(p.res.Issues) > 0 {
		return p.res, nil
	}
	if err := p.kust.start(); err != nil {
		return nil, err
	}
	if len(p.res.Issues) > 0 {
		sortIssues(p.res.Issues)
		return p.res, nil
	}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	return p.res, nil
}

// planner is the state of one plan. The steps of a plan are views of it: creator, remover, sealing and kustomize.
type planner struct {
	*workspace.Workspace
	req        Request
	res        *Result
	view       inventory.View
	acceptance acceptance.Input
	kust       *kustomize
	// clean sanitizes what Git holds, for comparisons only.
	clean *sanitize.Sanitizer
	// decided collects the actions that changed something.
	decided []Decided
	places  bool
	newPath []string
	prune   PruneMode
	// tokens are the documents whose identity holds a substitution token, once tokensLooked.
	tokens       []*inventory.Document
	tokensLooked bool
}

func (p *planner) intake() intake   { return intake{p} }
func (p *planner) updater() updater { return updater{p} }
func (p *planner) creator() creator { return creator{p} }
func (p *planner) remover() remover { return remover{p} }
func (p *planner) sealing() sealing { return sealing{p} }

func newPlanner(r Request, folder *inventory.Folder) (*planner, error) {
	clean, err := sanitize.New(sanitize.Config{})
	if err != nil {
		return nil, err
	}
	p := &planner{
		Workspace: workspace.New(r.Tree, folder),
		req:       r, view: inventory.View{Kinds: r.Kinds, DefaultNamespace: r.Policy.defaultNamespace()},
		prune: r.Policy.Prune, clean: clean,
	}
	if r.Decision != nil {
		p.prune = r.Policy.Prune.Tighter(r.Decision.Prune)
	}
	p.acceptance = acceptance.Input{
		Folder:             folder,
		View:               inventory.View{DefaultNamespace: p.view.DefaultNamespace},
		Sensitive:          r.Policy.sensitiveKind(r.Kinds),
		SerializeNamespace: r.Policy.SerializeNamespace,
		SourceNamespaces:   r.Policy.SourceNamespaces,
	}
	p.res = &Result{Folder: folder, Layout: p.Layout.Summary(), Report: Report{Registrations: map[string]int{}}}
	p.kust = newKustomize(p)
	return p, nil
}

// run goes through the batch: upserts first, then removals, then the preconditions of the whole flush.
func (p *planner) run(ctx context.Context) error {
	upserts, removals := p.intake().intents()
	p.res.Report.Objects = slices.Grow(p.res.Report.Objects, len(upserts)+len(removals))
	var fresh []*creation
	for _, it := range upserts {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := p.updater().upsert(ctx, it)
		if err != nil {
			return err
		}
		if c != nil {
			fresh = append(fresh, c)
		}
	}
	if err := p.kust.router().route(); err != nil {
		return err
	}
	if err := p.creator().create(ctx, fresh); err != nil {
		return err
	}
	for _, it := range removals {
		if err := p.remover().remove(it); err != nil {
			return err
		}
	}
	if r := p.req.Decision; r == nil {
		if err := p.remover().sweep(); err != nil {
			return err
		}
	}
	return p.finish()
}

// finish checks the flush as a whole and turns the working state into edits.
func (p *planner) finish() error {
	if len(p.res.Issues) == 0 && len(p.Work.Changed()) > 0 {
		emptied, err := p.Emptied()
		if err != nil {
			return err
		}
		for _, name := range emptied {
			p.issue(acceptance.New(acceptance.UnplaceableEdit, p.Folder.Rel(name), "the edit would leave nothing of the file"))
		}
		p.res.Issues = append(p.res.Issues, acceptance.CheckWrites(p.acceptance, p.flush())...)
	}
	if len(p.res.Issues) == 0 {
		if err := p.kust.prover().prove(); err != nil {
			return err
		}
	}
	sortIssues(p.res.Issues)
	if len(p.res.Issues) > 0 {
		p.refuse()
		return nil
	}
	if err := p.sealing().bootstrap(); err != nil {
		return err
	}
	return p.emit()
}

// emit fills Edits and Decision. A suspended target shows what would happen and gets neither.
func (p *planner) emit() error {
	if p.req.Policy.Suspended {
		return nil
	}
	for _, name := range p.Work.Changed() {
		e := Edit{Path: name, Mode: p.Work.Mode(name), Delete: p.Work.Removed(name)}
		if !e.Delete {
			b, _, err := p.Work.File(name)
			if err != nil {
				return err
			}
			e.Content = b
		}
		p.res.Edits = append(p.res.Edits, e)
	}
	if len(p.res.Edits) == 0 {
		return nil
	}
	d := &Decision{Actions: p.decided, Prune: p.prune, Bootstrap: p.req.Batch.Bootstrap}
	if p.req.Decision != nil {
		d.Bootstrap = p.req.Decision.Bootstrap
	}
	p.res.Decision = d
	return nil
}

// refuse turns the report of a refused flush into what it is: nothing was written.
func (p *planner) refuse() {
	old := p.res.Report.Objects
	p.res.Report = Report{Registrations: map[string]int{}}
	for _, o := range old {
		switch o.Outcome {
		case Created, Updated, Deleted:
			o.Outcome, o.Reason = Refused, string(p.res.Issues[0].Kind)
			o.Message = "the whole flush is refused: " + p.res.Issues[0].Message
			o.Source, o.Disposition, o.Notes, o.Written = "", "", nil, nil
		}
		p.res.Report.add(o)
	}
}

// flush describes the writes for the preconditions.
func (p *planner) flush() acceptance.Flush {
	f := acceptance.Flush{
		Places: p.places, NewPaths: p.newPath, UseKustomize: p.req.Policy.Placement.UseKustomize,
	}
	for _, name := range p.Work.Changed() {
		f.Writes = append(f.Writes, acceptance.Write{
			Path: name, Delete: p.Work.Removed(name), New: !p.Work.InTree(name), Source: p.Touched(name),
		})
	}
	return f
}

func (p *planner) issue(i acceptance.Issue) { p.res.Issues = append(p.res.Issues, i) }

func (p *planner) schema(t change.Type) *change.Schema {
	if p.req.Schemas == nil {
		return nil
	}
	return p.req.Schemas.Schema(t.Group, t.Version, t.Kind)
}

func (p *planner) builtIn(t change.Type) bool {
	return p.req.Schemas != nil && p.req.Schemas.BuiltIn(t.Group)
}

func sortIssues(l []acceptance.Issue) {
	slices.SortStableFunc(l, func(a, b acceptance.Issue) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), a.Document-b.Document, cmp.Compare(a.Kind, b.Kind))
	})
}
