// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// planReport is what plan prints as JSON.
type planReport struct {
	Path    string       `json:"path"`
	Objects []planObject `json:"objects"`
	// Issues refuse a whole batch: nothing of it is written.
	Issues      []acceptance.Issue `json:"issues"`
	Divergences []planDivergence   `json:"divergences,omitempty"`
	Files       []planFile         `json:"files"`

	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Deleted   int `json:"deleted"`
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"`
	Retained  int `json:"retained"`
	Refused   int `json:"refused"`
}

type planObject struct {
	Group       string   `json:"group,omitempty"`
	Kind        string   `json:"kind"`
	Namespace   string   `json:"namespace,omitempty"`
	Name        string   `json:"name"`
	Outcome     string   `json:"outcome"`
	Path        string   `json:"path,omitempty"`
	Written     []string `json:"written,omitempty"`
	Source      string   `json:"source,omitempty"`
	Disposition string   `json:"disposition,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Message     string   `json:"message,omitempty"`
	Notes       []string `json:"notes,omitempty"`
}

type planDivergence struct {
	Object string `json:"object"`
	Path   string `json:"path"`
	Field  string `json:"field"`
	Token  string `json:"token"`
}

type planFile struct {
	Path   string `json:"path"`
	Action string `json:"action"`
	Diff   string `json:"diff"`
}

func (r *planReport) add(res *plan.Result) {
	r.Issues = append(r.Issues, res.Issues...)
	for _, d := range res.Divergences {
		r.Divergences = append(r.Divergences, planDivergence{d.Object.String(), d.Path, d.Field, d.Token})
	}
	for _, o := range res.Report.Objects {
		r.object(o.Object, planObject{
			Outcome: string(o.Outcome), Path: o.Path, Written: o.Written, Source: o.Source, Disposition: o.Disposition,
			Reason: o.Reason, Message: o.Message, Notes: o.Notes,
		})
	}
}

func (r *planReport) object(id change.ObjectID, o planObject) {
	o.Group, o.Kind, o.Namespace, o.Name = id.Group, id.Kind, id.Namespace, id.Name
	r.Objects = append(r.Objects, o)
	switch plan.Outcome(o.Outcome) {
	case plan.Created:
		r.Created++
	case plan.Updated:
		r.Updated++
	case plan.Deleted:
		r.Deleted++
	case plan.Unchanged:
		r.Unchanged++
	case plan.Skipped:
		r.Skipped++
	case plan.Retained:
		r.Retained++
	case plan.Refused:
		r.Refused++
	}
}

// unusable reports an object of the input that is not planned: of an unknown kind, in a scope its kind does not have, or
// on its way out.
func (r *planReport) unusable(o liveObject, outcome plan.Outcome, reason, message string) {
	id := change.ObjectID{Group: o.head.Group, Kind: o.head.Kind, Namespace: o.head.Namespace, Name: o.head.Name}
	r.object(id, planObject{Outcome: string(outcome), Reason: reason, Message: o.file + ": " + message})
}

// finish adds the differences of the files.
func (r *planReport) finish(changes []fileChange) {
	r.Files = []planFile{}
	for _, c := range changes {
		f := planFile{Path: c.path, Action: "modify", Diff: unified(c.path, c.was, c.now)}
		switch {
		case c.was == nil:
			f.Action = "create"
		case c.now == nil:
			f.Action = "delete"
		}
		r.Files = append(r.Files, f)
	}
	if r.Objects == nil {
		r.Objects = []planObject{}
	}
	if r.Issues == nil {
		r.Issues = []acceptance.Issue{}
	}
}

func (r *planReport) print(w io.Writer, format string) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	var b strings.Builder
	for _, o := range r.Objects {
		o.line(&b)
	}
	for _, d := range r.Divergences {
		fmt.Fprintf(&b, "# substitution %s in %s at %s is not resolved by the folder; the file keeps it\n",
			d.Token, d.Path, d.Field)
	}
	var issues strings.Builder
	printIssues(&issues, r.Issues)
	for line := range strings.Lines(issues.String()) {
		b.WriteString("# " + line)
	}
	fmt.Fprintf(&b, "# %d created, %d updated, %d deleted, %d unchanged, %d skipped, %d retained, %d refused\n",
		r.Created, r.Updated, r.Deleted, r.Unchanged, r.Skipped, r.Retained, r.Refused)
	for _, f := range r.Files {
		b.WriteString(f.Diff)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (o *planObject) line(b *strings.Builder) {
	id := change.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	fmt.Fprintf(b, "# %-9s %s", strings.ToLower(o.Outcome), id)
	if o.Path != "" {
		fmt.Fprintf(b, " %s", o.Path)
	}
	for _, name := range o.Written {
		if name != o.Path {
			fmt.Fprintf(b, ", %s", name)
		}
	}
	if o.Source != "" && o.Outcome == string(plan.Created) {
		fmt.Fprintf(b, " (%s, %s)", o.Source, o.Disposition)
	}
	if o.Reason != "" {
		fmt.Fprintf(b, " [%s]", o.Reason)
	}
	if o.Message != "" {
		b.WriteString(" " + oneLine(o.Message))
	}
	b.WriteString("\n")
	for _, n := range o.Notes {
		fmt.Fprintf(b, "#   note: %s\n", oneLine(n))
	}
}

// oneLine keeps a text on its line, so that every line of the report begins with #.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
