// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

func short(c core.Commit) string {
	if c.IsZero() {
		return "none"
	}
	return c.String()[:7]
}

func describeChanges(cs []change.Change) string {
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, " %s@%s=%s", c.Object.Kind+"/"+c.Object.Name, c.ResourceVersion, c.Desired)
	}
	return b.String()
}

func describeInput(in core.Input) string {
	switch in := in.(type) {
	case core.Offered:
		return fmt.Sprintf("Offered %d %s %s%s recovered=%t", in.Ticket, in.Change.Target.Name, in.Change.Author.Username,
			describeChanges(append(in.Atomic, in.Change)), in.Recovered)
	case core.Snapped:
		return fmt.Sprintf("Snapped %d %s %s at %s, %d items %+v initial=%t", in.Ticket, in.Snapshot.Target.Name,
			in.Snapshot.Cell, in.Snapshot.ResourceVersion, len(in.Snapshot.Items), in.Stamp, in.Initial)
	case core.Looked:
		return fmt.Sprintf(
			"Looked %d %s %s %s %s", in.Op, short(in.Remote.Tip), in.Remote.ParentState, short(in.Remote.Parent), why(in.Err))
	case core.Fetched:
		return fmt.Sprintf("Fetched %d %s %s %s", in.Op, short(in.Base), in.Remote.ParentState, why(in.Err))
	case core.Written:
		return fmt.Sprintf(
			"Written %d seq %d %s %s %+v %s", in.Op, in.Seq, in.Outcome, short(in.Commit), in.Counts, why(in.Err))
	case core.Pushed:
		return fmt.Sprintf("Pushed %d %s %s %q", in.Op, in.Outcome, short(in.Tip), in.Text)
	case core.SaveOpened:
		return fmt.Sprintf("SaveOpened %s %s %s next=%t empty=%t",
			in.Save.ID, in.Save.Target.Name, in.Save.Username, in.Save.Next, in.Save.CommitEmpty)
	default:
		return fmt.Sprintf("%T %+v", in, in)
	}
}

func why(f *core.Failure) string {
	if f == nil {
		return ""
	}
	return string(f.Reason) + " " + f.Text
}

func describeEffect(e core.Effect) string {
	switch e := e.(type) {
	case core.Look:
		return fmt.Sprintf("Look %d %s", e.Op, e.Why)
	case core.Fetch:
		return fmt.Sprintf("Fetch %d want %s %s", e.Op, short(e.Want), e.Why)
	case core.Write:
		what := describeChanges(e.Work.Changes)
		if s := e.Work.Snapshot; s != nil {
			what = fmt.Sprintf(" %s at %s", s.Cell, s.ResourceVersion)
		}
		return fmt.Sprintf(
			"Write %d seq %d %s %s onto %s replay=%t dry=%t prune=%s by %q save=%s%s", e.Op, e.Seq, e.Work.Kind,
			e.Work.Target.Name, short(e.Onto), e.Decision != nil, e.Dry, e.Prune, e.Work.Author.Username, e.Work.Save, what)
	case core.Push:
		return fmt.Sprintf(
			"Push %d %s expected %s parent %s count %d", e.Op, short(e.Tip), short(e.Expected), short(e.Parent), e.Count)
	case core.Observe:
		o := e.Observation
		return fmt.Sprintf(
			"Observe %s %s %s n=%d seq=%d %s %q", e.Target.Name, o.What, o.Reason, o.Count, o.Seq, short(o.Commit), o.Text)
	case core.Answer:
		return fmt.Sprintf("Answer %s %s %s %q", e.Save, e.State, short(e.Commit), e.Text)
	default:
		return fmt.Sprintf("%T %+v", e, e)
	}
}
