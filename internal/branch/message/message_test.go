// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
)

func item(group, kind, resource, ns, name string) *change.Item {
	return &change.Item{
		Object: change.ObjectID{Group: group, Kind: kind, Namespace: ns, Name: name},
		Type:   change.Type{Group: group, Version: "v1", Kind: kind, Resource: resource, Namespaced: ns != ""},
	}
}

func TestDefaults(t *testing.T) {
	g := NewWithT(t)
	tm, err := Parse("", "")
	g.Expect(err).NotTo(HaveOccurred())

	one := NewResource(change.Update, item("apps", "Deployment", "deployments", "shop", "web"), nil)
	two := NewResource(change.Create, item("", "Namespace", "namespaces", "", "shop"), nil)
	msg, err := tm.Live(Live{GitTarget: "live", Count: 1, Resources: []Resource{one}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(msg).To(Equal("chore: sync 1 resource\n\n- [UPDATE] apps/v1/deployments/shop/web\n"))
	msg, err = tm.Live(Live{GitTarget: "live", Count: 2, Resources: []Resource{one, two}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(msg).To(Equal("chore: sync 2 resources\n\n- [UPDATE] apps/v1/deployments/shop/web\n" +
		"- [CREATE] v1/namespaces/_cluster/shop\n"))

	msg, err = tm.Reconcile(Reconcile{Count: 3, Resource: "configmaps", Namespace: "shop", ResourceVersion: "42"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(msg).To(Equal("chore: reconcile 3 configmaps in shop (last resourceVersion: 42)\n"))
	msg, err = tm.Reconcile(Reconcile{Count: 1})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(msg).To(Equal("chore: reconcile 1 resource\n"))
}

func TestScenario88_TemplatesAreProvedOnSamples(t *testing.T) {
	g := NewWithT(t)
	_, err := Parse(`{{range .Resources}}{{.Labels.team}}{{end}}`, "")
	g.Expect(err).To(MatchError(ContainSubstring("liveTemplate")))
	tm, err := Parse(`{{range .Resources}}x {{.Label "team"}}{{end}}`, "")
	g.Expect(err).NotTo(HaveOccurred())
	msg, err := tm.Live(Live{Resources: []Resource{{Labels: map[string]string{"team": "a"}}}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(msg).To(Equal("x a\n"))

	for _, bad := range []string{"{{", "{{.Nope}}", "  ", `{{range .Resources}}{{.Kind}}{{end}}`} {
		_, err := Parse(bad, "")
		g.Expect(err).To(HaveOccurred(), bad)
	}
	_, err = Parse("", "{{.Revision}}")
	g.Expect(err).To(MatchError(ContainSubstring("reconcileTemplate")))
	_, err = Parse("{{.EventType}}", "{{.Nope}}")
	g.Expect(err.Error()).To(And(ContainSubstring("liveTemplate"), ContainSubstring("reconcileTemplate")))
}

func TestLabelValues(t *testing.T) {
	g := NewWithT(t)
	l := Live{Resources: []Resource{{Labels: map[string]string{"a": "2"}}, {Labels: map[string]string{"a": "1"}}, {}}}
	g.Expect(l.LabelValues("a")).To(Equal([]string{"1", "2"}))
	g.Expect(l.LabelValue("a")).To(BeEmpty())
	l.Resources = l.Resources[1:]
	g.Expect(l.LabelValue("a")).To(Equal("1"))
}

func TestClean(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Clean("a\x00b\r\nc\n\n")).To(Equal("ab\nc\n"))
	g.Expect(Clean("\xff")).To(Equal("�\n"))
	long := Clean(strings.Repeat("line\n", MaxLength))
	g.Expect(len(long)).To(BeNumerically("<=", MaxLength+8))
	g.Expect(long).To(HaveSuffix("\n...\n"))
}

func TestScenario100_Authors(t *testing.T) {
	committer := Identity{"Bot", "bot@example.org"}
	tests := []struct {
		name   string
		author change.Author
		want   Identity
	}{
		{"attribution off", change.Author{}, committer},
		{"snapshot", change.Author{Kind: change.AuthorCommitter, Username: "x"}, committer},
		{"unresolved", change.Author{Kind: change.AuthorUnresolved}, Unresolved},
		{"display name and e-mail", change.Author{Kind: change.AuthorUser, Username: "oidc:1", DisplayName: "Ann Lee",
			Email: "ann@example.org"},
			Identity{"Ann Lee", "ann@example.org"}},
		{"unsafe display name", change.Author{Kind: change.AuthorUser, Username: "eve", DisplayName: "Eve <x@y>\n"},
			Identity{"eve", "eve@noreply.cluster.local"}},
		{"user name is an address", change.Author{Kind: change.AuthorUser, Username: "bob@example.org"},
			Identity{"bob@example.org", "bob@example.org"}},
		{"bad e-mail claim", change.Author{Kind: change.AuthorUser, Username: "bob", Email: "bob@x\n>"},
			Identity{"bob", "bob@noreply.cluster.local"}},
		{"service account", change.Author{Kind: change.AuthorServiceAccount, Username: "system:serviceaccount:shop:robot"},
			Identity{"system:serviceaccount:shop:robot", "system-serviceaccount-shop-robot@noreply.cluster.local"}},
		{"control characters and brackets", change.Author{Kind: change.AuthorUser, Username: "a\x00<b>\n"},
			Identity{"ab", "ab@noreply.cluster.local"}},
		{"empty", change.Author{Kind: change.AuthorUser}, Identity{"unknown-user", "unknown-user@noreply.cluster.local"}},
		{"only punctuation", change.Author{Kind: change.AuthorUser, Username: "<>"},
			Identity{"unknown-user", "unknown-user@noreply.cluster.local"}},
		{"very long", change.Author{Kind: change.AuthorUser, Username: strings.Repeat("é", 4000)},
			Identity{strings.Repeat("é", 128), "unknown-user@noreply.cluster.local"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			NewWithT(t).Expect(Author(tt.author, committer)).To(Equal(tt.want))
		})
	}
}

func TestValidateCommitter(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ValidateCommitter(DefaultCommitter)).To(Succeed())
	g.Expect(ValidateCommitter(Identity{"A <b>", "x@y"})).To(MatchError(ContainSubstring("committer.name")))
	g.Expect(ValidateCommitter(Identity{"A", "x\n@y"})).To(MatchError(ContainSubstring("committer.email")))
}
