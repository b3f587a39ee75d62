// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

// decided is what a replay applies again: the plan's decision and what the commit said (git-writer 10.4).
type decided struct {
	plan              *plan.Decision
	message           string
	author, committer gitstore.Signature
}

// write plans one pending write on a tree and commits the result on top of it.
func (l *lane) write(ctx context.Context, e core.Write) core.Input {
	answer := core.Written{Op: e.Op, Seq: e.Seq}
	frozen, ok := e.Work.Frozen.(*Frozen)
	if !ok {
		return writeFailed(answer, core.ReasonWriteFailed, errors.New("the write carries no configuration"))
	}
	onto := gitstore.Hash(e.Onto)
	if onto == l.store.Base() {
		l.store.Drop(onto)
	}
	tree, err := l.store.Tree(onto)
	if err != nil {
		return writeFailed(answer, core.ReasonStore, err)
	}
	if e.Work.Snapshot != nil && e.Work.Snapshot.Size() > largeSnapshot {
		l.swell()
	}
	before, _ := e.Decision.(*decided)
	result, err := plan.Plan(ctx, l.request(e, frozen, before, treeView{tree}))
	if err != nil {
		f := failure(ctx, err)
		if f.Reason == core.ReasonConnectionFailed {
			f.Reason = core.ReasonWriteFailed
		}
		return writeFailed(answer, f.Reason, err)
	}
	l.folder(e.Work.Target, frozen.Path).inventory = result.Folder
	answer.Report = newReport(result)
	answer.Counts = counts(result.Report)
	refused := result.Report.Refusals()
	for i := range refused {
		answer.Refused = append(answer.Refused, refused[i].Object)
	}
	// The commit asks for the refused ones only; the list of all is as large as a snapshot.
	result.Report.Objects = refused
	answer.Gate, answer.GateText = gate(e.Work.Kind, result)
	if len(result.Issues) > 0 {
		reason, text := acceptance.Condition(result.Issues)
		answer.Outcome, answer.Refusal = core.WriteRefused, &core.Refusal{Reason: reason, Text: text}
		return answer
	}
	if e.Dry {
		answer.Outcome = core.WriteNothing
		return answer
	}
	answer = l.commit(ctx, e, frozen, before, result, answer)
	if answer.Outcome == core.WriteCommitted {
		l.follow(ctx, e, frozen, answer.Commit, result)
	}
	return answer
}

// follow brings the remembered inventory up to a commit, from the bytes that were just written: the next plan reads
// nothing back. What cannot be read here is left to its scan.
func (l *lane) follow(ctx context.Context, e core.Write, f *Frozen, commit core.Commit, result *plan.Result) {
	view, err := l.store.Tree(gitstore.Hash(commit))
	if err != nil {
		return
	}
	t := writtenTree{treeView: treeView{view}, blobs: make(map[manifest.ID][]byte, len(result.Edits))}
	for i := range result.Edits {
		if x := &result.Edits[i]; !x.Delete {
			t.blobs[manifest.BlobID(x.Content)] = x.Content
		}
	}
	result.Edits = nil // the commit holds them
	if next, _, err := inventory.Scan(ctx, t, f.Path, result.Folder); err == nil {
		l.folder(e.Work.Target, f.Path).inventory = next
	}
}

// writtenTree is a tree with the bytes of its newest files at hand. It lets go of what was read: of a large snapshot
// they would wait beside the inventory that grows from them.
type writtenTree struct {
	treeView
	blobs map[manifest.ID][]byte
}

func (t writtenTree) Blob(id manifest.ID) ([]byte, error) {
	if b, ok := t.blobs[id]; ok {
		delete(t.blobs, id)
		return b, nil
	}
	return t.treeView.Blob(id) // read a second time: two files have the same content
}

func (l *lane) request(e core.Write, f *Frozen, before *decided, tree manifest.Tree) plan.Request {
	remembered := l.folder(e.Work.Target, f.Path)
	r := plan.Request{
		Tree: tree, Path: f.Path, Folder: remembered.inventory, Memo: remembered.memo, Policy: f.Policy, Sealer: f.Sealer,
		Batch: plan.Batch{Changes: e.Work.Changes, Snapshot: e.Work.Snapshot, Bootstrap: e.Work.Bootstrap},
	}
	if r.Path == "" {
		r.Path = "."
	}
	r.Policy.Prune, r.Policy.Suspended = plan.PruneMode(e.Prune), e.Dry
	if f.Source != nil {
		r.Kinds, r.Schemas = f.Source()
	}
	if before != nil {
		r.Decision = before.plan
	}
	return r
}

// folder returns what the lane remembers of a target's folder.
func (l *lane) folder(k change.TargetKey, path string) *folder {
	f := l.folders[k]
	if f == nil || f.path != path {
		f = &folder{memo: render.NewMemo(), path: path}
		l.folders[k] = f
	}
	return f
}

// commit writes the plan's edits as one commit and keeps what a replay needs.
func (l *lane) commit(ctx context.Context, e core.Write, f *Frozen, before *decided, result *plan.Result,
	answer core.Written) core.Written {
	d := before
	if d == nil {
		var err error
		if d, err = l.decide(e, f, result); err != nil {
			return writeFailed(answer, core.ReasonWriteFailed, err)
		}
	}
	answer.Decision, answer.Bytes = d, d.plan.Size()
	if len(result.Edits) == 0 && !e.Work.CommitEmpty {
		answer.Outcome = core.WriteNothing
		return answer
	}
	c := gitstore.Commit{Author: d.author, Committer: d.committer, Message: d.message, AllowEmpty: e.Work.CommitEmpty}
	if f.Signer != nil {
		signer, err := f.Signer(ctx)
		if err != nil {
			return writeFailed(answer, core.ReasonCommitConfigInvalid, err)
		}
		c.Signer = signer
	}
	edits := make([]gitstore.Edit, len(result.Edits))
	for i, x := range result.Edits {
		edits[i] = gitstore.Edit{Path: x.Path, Mode: uint32(x.Mode), Content: x.Content, Delete: x.Delete}
	}
	id, changed, err := l.store.Commit(ctx, gitstore.Hash(e.Onto), edits, c)
	if err != nil {
		fail := failure(ctx, err)
		if fail.Reason == core.ReasonConnectionFailed {
			fail.Reason = core.ReasonWriteFailed
		}
		return writeFailed(answer, fail.Reason, err)
	}
	answer.Outcome = core.WriteNothing
	if changed {
		answer.Outcome, answer.Commit = core.WriteCommitted, core.Commit(id)
	}
	return answer
}

// decide freezes the commit's words with the plan's decision.
func (l *lane) decide(e core.Write, f *Frozen, result *plan.Result) (*decided, error) {
	now := l.now()
	author := message.Author(e.Work.Author, f.Committer)
	d := &decided{
		plan:      result.Decision,
		author:    gitstore.Signature{Name: author.Name, Email: author.Email, When: now},
		committer: gitstore.Signature{Name: f.Committer.Name, Email: f.Committer.Email, When: now},
	}
	var err error
	switch e.Work.Source {
	case core.MessageRequest:
		// The API has checked it; it is used byte for byte (git-writer 9.2).
		d.message = e.Work.Message
	case core.MessageReconcile:
		d.message, err = f.Templates.Reconcile(reconcileData(e.Work, f, result))
	default:
		d.message, err = f.Templates.Live(liveData(e.Work, f, result))
	}
	if err != nil {
		return nil, fmt.Errorf("the commit message could not be rendered: %w", err)
	}
	return d, nil
}

// liveData is what a template sees. A sensitive object that was refused keeps its labels to itself: one of them may
// repeat what must not be readable.
func liveData(w core.PendingWrite, f *Frozen, result *plan.Result) message.Live {
	hidden := map[change.ObjectID]bool{}
	for i := range result.Report.Objects {
		if o := &result.Report.Objects[i]; o.Outcome == plan.Refused && o.Encryption != "" {
			hidden[o.Object] = true
		}
	}
	d := message.Live{
		Author: w.Author.Username, GitTarget: f.Name, Count: len(w.Changes),
		Operations: map[string]int{string(change.Create): 0, string(change.Update): 0, string(change.Delete): 0},
	}
	for i := range w.Changes {
		c := &w.Changes[i]
		d.Operations[string(c.Operation)]++
		r := message.NewResource(c.Operation, &c.Item, nil)
		if !hidden[c.Object] {
			r = message.NewResource(c.Operation, &c.Item, labels(c.Desired))
		}
		d.Resources = append(d.Resources, r)
	}
	return d
}

// reconcileData counts what the snapshot changes: a person reads the message to learn what the commit holds.
func reconcileData(w core.PendingWrite, f *Frozen, result *plan.Result) message.Reconcile {
	d := message.Reconcile{GitTarget: f.Name}
	if result.Decision != nil {
		d.Count = len(result.Decision.Actions)
	}
	if s := w.Snapshot; s != nil {
		d.Group, d.Version, d.Resource, d.APIVersion = s.Type.Group, s.Type.Version, s.Type.Resource, s.Type.APIVersion()
		d.Namespace, d.ResourceVersion = s.Cell.Namespace, s.ResourceVersion
	}
	return d
}

func labels(desired []byte) map[string]string {
	var o struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	if json.Unmarshal(desired, &o) != nil {
		return nil
	}
	return o.Metadata.Labels
}

func writeFailed(w core.Written, reason core.Reason, err error) core.Written {
	w.Outcome, w.Err = core.WriteFailed, &core.Failure{Reason: reason, Text: bounded(err.Error())}
	return w
}

func counts(r plan.Report) core.Counts {
	return core.Counts{
		Created: r.Created, Updated: r.Updated, Deleted: r.Deleted, Unchanged: r.Unchanged, Retained: r.Retained,
		Refused: len(r.Refusals()),
	}
}

// gate is what a snapshot's plan says about unresolved substitutions (git-writer 6.10); a live write reports only a
// divergence.
func gate(kind core.Kind, r *plan.Result) (core.GateVerdict, string) {
	if len(r.Divergences) > 0 {
		d := r.Divergences[0]
		return core.GateDiverges, fmt.Sprintf("%s: field %s of %s holds %s, which the live object does not", d.Path,
			d.Field, d.Object, d.Token)
	}
	if kind == core.KindResync && len(r.Issues) == 0 {
		return core.GateClean, ""
	}
	return "", ""
}

// treeView reads a commit of the store as the manifest side's tree.
type treeView struct{ *gitstore.TreeView }

// Root implements manifest.Tree.
func (t treeView) Root() manifest.ID { return manifest.ID(t.TreeView.Root()) }

// Dir implements manifest.Tree.
func (t treeView) Dir(id manifest.ID) ([]manifest.DirEntry, error) {
	entries, err := t.TreeView.Dir(id)
	if err != nil {
		return nil, err
	}
	return dirEntries(entries), nil
}

func (t treeView) Child(dir manifest.ID, name string) (manifest.DirEntry, bool, error) {
	e, ok, err := t.TreeView.Child(dir, name)
	return manifest.DirEntry{Name: e.Name, Mode: manifest.Mode(e.Mode), ID: manifest.ID(e.ID)}, ok, err
}

func (t treeView) Diff(old, next manifest.ID) (gone, here []manifest.DirEntry, ok bool, err error) {
	left, right, ok, err := t.TreeView.Diff(old, next)
	return dirEntries(left), dirEntries(right), ok, err
}

func dirEntries(entries []gitstore.Entry) []manifest.DirEntry {
	out := make([]manifest.DirEntry, len(entries))
	for i, e := range entries {
		out[i] = manifest.DirEntry{Name: e.Name, Mode: manifest.Mode(e.Mode), ID: manifest.ID(e.ID)}
	}
	return out
}

// Blob implements manifest.Tree.
func (t treeView) Blob(id manifest.ID) ([]byte, error) { return t.TreeView.Blob(id) }

var _ manifest.Indexed = treeView{}
