// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

// scanReport is what scan prints as JSON.
type scanReport struct {
	Path      string             `json:"path"`
	Accepted  bool               `json:"accepted"`
	Reason    string             `json:"reason"`
	Message   string             `json:"message"`
	Layout    scanLayout         `json:"layout"`
	Files     int                `json:"files"`
	Ignored   int                `json:"ignored"`
	Documents []scanDocument     `json:"documents"`
	Issues    []acceptance.Issue `json:"issues"`
	// Notes are findings that refuse nothing, such as kinds no built-in type or CRD explains.
	Notes []scanNote `json:"notes"`
}

type scanLayout struct {
	Mode          string   `json:"mode,omitempty"`
	Roots         []string `json:"roots,omitempty"`
	ReadOnlyBases []string `json:"readOnlyBases,omitempty"`
}

type scanDocument struct {
	Path      string `json:"path"`
	Document  int    `json:"document"`
	Line      int    `json:"line"`
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Encrypted bool   `json:"encrypted,omitempty"`
}

type scanNote struct {
	Code    string `json:"code"`
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

func scanCommand(s streams) *cobra.Command {
	var folder, output string
	var crds []string
	cmd := &cobra.Command{
		Use:   "scan DIR",
		Short: "Show what a folder holds and whether the operator may write into it",
		Long: "Read a checked-out repository and show what the folder of a GitTarget holds: its render roots, its documents,\n" +
			"and either that it is accepted or every refusal with its place and cure. Exit code 0: accepted, 1: refused, 2: misuse.",
		Example: "  gitops-reverser scan . --path apps/production",
		Args:    oneDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("-o %s: want text or json", output)
			}
			r, err := scan(cmd.Context(), args[0], folder, crds)
			if err != nil {
				return err
			}
			if err := r.print(s.out, output); err != nil {
				return err
			}
			if !r.Accepted {
				return &exitError{code: ExitRefused}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&folder, "path", ".", "folder of the target, relative to DIR")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringArrayVar(&crds, "crds", nil, "file or folder with CustomResourceDefinitions; may be repeated")
	return cmd
}

func scan(ctx context.Context, dir, folder string, crds []string) (r *scanReport, err error) {
	in, err := open(dir, folder, crds)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.tree.close()) }()
	res, err := plan.Plan(ctx, plan.Request{
		Tree: in.tree, Path: in.path, Kinds: in.types, Schemas: in.types, Memo: render.NewMemo(),
	})
	if err != nil {
		return nil, err
	}
	r = &scanReport{
		Path: in.path, Accepted: len(res.Issues) == 0, Issues: res.Issues, Documents: []scanDocument{}, Notes: []scanNote{},
		Layout: scanLayout{Mode: string(res.Layout.Mode), Roots: res.Layout.Roots, ReadOnlyBases: res.Layout.ReadOnlyBases},
	}
	if r.Issues == nil {
		r.Issues = []acceptance.Issue{}
	}
	r.Reason, r.Message = acceptance.Condition(res.Issues)
	counts := res.Folder.Counts()
	r.Files, r.Ignored = counts.Files, counts.Ignored
	view := inventory.View{Kinds: in.types}
	for d := range res.Folder.Documents() {
		e := res.Folder.Effective(d, view)
		if d.Content != inventory.Managed || e.Patch {
			continue
		}
		id := e.ID
		r.Documents = append(r.Documents, scanDocument{
			Path: res.Folder.Rel(d.Path), Document: int(d.Index), Line: int(d.Line), Group: id.Group, Kind: id.Kind,
			Namespace: id.Namespace, Name: id.Name, Encrypted: d.Encrypted,
		})
	}
	r.notes(in, res)
	return r, nil
}

// notes adds what is remarkable and refuses nothing.
func (r *scanReport) notes(in *input, res *plan.Result) {
	if _, err := manifest.Lookup(in.tree, in.path); err != nil {
		r.Notes = append(r.Notes, scanNote{Code: "no-folder", Path: ".", Message: "the folder does not exist yet"})
	}
	type at struct {
		path string
		line int
	}
	refused := map[at]bool{}
	for _, i := range res.Issues {
		refused[at{i.Path, i.Line}] = true
	}
	for _, d := range res.Folder.Diagnose(inventory.View{Kinds: in.types}) {
		n := scanNote{Code: string(d.Code), Path: res.Folder.Rel(d.Path), Line: d.Line, Message: d.Message}
		if d.Code == inventory.UnresolvedMapping {
			n.Message = strings.TrimPrefix(n.Message, "the source cluster serves no ") +
				" is no built-in type, and no CustomResourceDefinition at hand defines it"
		}
		if !refused[at{n.Path, n.Line}] {
			r.Notes = append(r.Notes, n)
		}
	}
	for _, k := range res.Folder.Layout().All() {
		for _, d := range k.Deprecated {
			r.Notes = append(r.Notes, scanNote{
				Code: "deprecated-field", Path: res.Folder.Rel(k.Path), Line: d.Line,
				Message: fmt.Sprintf("kustomize deprecates %s; write %s", d.Field, d.Instead),
			})
		}
	}
	for _, name := range res.Unreached {
		r.Notes = append(r.Notes, scanNote{
			Code: "unreached", Path: res.Folder.Rel(name), Message: "no build of the folder reads this manifest",
		})
	}
	if more := res.UnreachedCount - len(res.Unreached); more > 0 {
		r.Notes = append(r.Notes, scanNote{
			Code: "unreached", Path: ".", Message: fmt.Sprintf("%d more manifests are read by no build of the folder", more),
		})
	}
}

func (r *scanReport) print(w io.Writer, format string) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	var b strings.Builder
	state := "accepted"
	if !r.Accepted {
		state = "refused (" + r.Reason + ")"
	}
	fmt.Fprintf(&b, "folder %s: %s\n", r.Path, state)
	switch {
	case len(r.Layout.Roots) > 1:
		fmt.Fprintf(&b, "layout: %d render roots: %s\n", len(r.Layout.Roots), someOf(r.Layout.Roots))
	case len(r.Layout.Roots) == 1:
		fmt.Fprintf(&b, "layout: %s, root %s\n", r.Layout.Mode, r.Layout.Roots[0])
	case r.Layout.Mode != "":
		fmt.Fprintf(&b, "layout: %s\n", r.Layout.Mode)
	}
	if len(r.Layout.ReadOnlyBases) > 0 {
		fmt.Fprintf(&b, "read-only bases: %s\n", someOf(r.Layout.ReadOnlyBases))
	}
	fmt.Fprintf(&b, "%d files, %d documents, %d ignored entries\n", r.Files, len(r.Documents), r.Ignored)
	kinds := map[string]int{}
	for _, d := range r.Documents {
		kinds[strings.TrimSuffix(d.Kind+"."+d.Group, ".")]++
	}
	names := make([]string, 0, len(kinds))
	for k := range kinds {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		fmt.Fprintf(&b, "  %4d %s\n", kinds[k], k)
	}
	printIssues(&b, r.Issues)
	printNotes(&b, r.Notes)
	_, err := io.WriteString(w, b.String())
	return err
}

// shown bounds what the text output lists of one sort; -o json lists everything.
const shown = 50

// someOf lists a few names.
func someOf(names []string) string {
	const few = 10
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// printNotes says the same thing once, with the first place and how many more there are.
func printNotes(b *strings.Builder, notes []scanNote) {
	type key struct{ code, message string }
	var order []key
	first, count := map[key]scanNote{}, map[key]int{}
	for _, n := range notes {
		k := key{n.Code, n.Message}
		if count[k]++; count[k] == 1 {
			order, first[k] = append(order, k), n
		}
	}
	slices.SortStableFunc(order, func(x, y key) int { return strings.Compare(x.code, y.code) })
	lines := map[string]int{}
	for _, k := range order {
		if lines[k.code]++; lines[k.code] > shown {
			continue
		}
		n := first[k]
		at := place(n.Path, n.Line)
		if more := count[k] - 1; more > 0 {
			at += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(b, "note %s: %s: %s\n", at, n.Code, oneLine(n.Message))
	}
	for _, code := range slices.Sorted(maps.Keys(lines)) {
		if more := lines[code] - shown; more > 0 {
			fmt.Fprintf(b, "note: %d more of %s; -o json lists all\n", more, code)
		}
	}
}

func printIssues(b *strings.Builder, issues []acceptance.Issue) {
	of := map[acceptance.Kind]int{}
	for _, i := range issues {
		if of[i.Kind]++; of[i.Kind] > shown {
			continue
		}
		at := place(i.Path, i.Line)
		if i.Document > 0 {
			at += fmt.Sprintf(" (document %d)", i.Document+1)
		}
		fmt.Fprintf(b, "refused %s: %s: %s\n", at, i.Kind, oneLine(i.Message))
		switch {
		case i.Cure != "" && i.Actor != "":
			fmt.Fprintf(b, "  cure (%s): %s\n", i.Actor, strings.ReplaceAll(i.Cure, "\n", "\n    "))
		case i.Cure != "":
			fmt.Fprintf(b, "  cure: %s\n", strings.ReplaceAll(i.Cure, "\n", "\n    "))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		if more := of[kind] - shown; more > 0 {
			fmt.Fprintf(b, "refused: %d more of %s; -o json lists all\n", more, kind)
		}
	}
}

func place(name string, line int) string {
	if line > 0 {
		return fmt.Sprintf("%s:%d", name, line)
	}
	return name
}
