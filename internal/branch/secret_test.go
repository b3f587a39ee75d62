// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// refusing seals nothing.
type refusing struct{}

func (refusing) Ready() error { return nil }
func (refusing) Seal(context.Context, plan.SealRequest) (plan.SealResult, error) {
	return plan.SealResult{}, errors.New("a label repeats a value")
}

// A Secret that is refused because a label repeats its value does not show that label in the commit message either.
func TestCaseE08_ALabelOfARefusedSecretIsInNoMessage(t *testing.T) {
	g := NewWithT(t)
	l, frozen := newTestLane(t)
	templates, err := message.Parse(`{{.Count}} {{.LabelValue "token"}}{{range .Resources}} {{.Name}}={{.Label "token"}}{{end}}`, "")
	g.Expect(err).NotTo(HaveOccurred())
	frozen.Templates, frozen.Sealer = templates, refusing{}
	frozen.Policy.Sensitive = func(t change.Type) bool { return t.Resource == "secrets" }
	target := change.TargetKey{Namespace: "shop", Name: "live"}
	secret := change.Item{
		Object: change.ObjectID{Kind: "Secret", Namespace: "shop", Name: "login"},
		Type:   change.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true},
		Desired: []byte(`{"apiVersion":"v1","data":{"p":"aHVudGVyMy1odW50ZXIz"},"kind":"Secret","metadata":{"labels":{"token":"hunter3-hunter3"},` +
			`"name":"login","namespace":"shop"}}`),
	}
	written := l.write(t.Context(), core.Write{
		Onto: core.Commit(l.store.Base()), Work: core.PendingWrite{Target: target, Frozen: frozen, Changes: []change.Change{
			{Target: target, Operation: change.Update, Item: secret}, {Target: target, Operation: change.Update, Item: configMap(1, "x")},
		}},
	}).(core.Written)
	g.Expect(written.Outcome).To(Equal(core.WriteCommitted), "%+v", written)
	g.Expect(written.Counts.Refused).To(Equal(1))
	g.Expect(written.Decision.(*decided).message).To(Equal("2  login= cm-0001=\n"))
}
