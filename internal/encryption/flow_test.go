// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/tests/leakproof"
)

// folder is a GitTarget's folder on the way from the cluster into a real repository.
type folder struct {
	*bench
	dir   string
	files map[string]manifest.File
	// said is everything the plans reported.
	said bytes.Buffer
	// ignore is spec.ignore of the GitTarget.
	ignore sanitize.Config
}

var secretType = change.Type{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true}

type coreKinds struct{}

func (coreKinds) Kind(group, kind string) (change.Type, bool) {
	switch {
	case group == "" && kind == "Secret":
		return secretType, true
	case group == "" && kind == "ConfigMap":
		return change.Type{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true}, true
	}
	return change.Type{}, false
}

func newFolder(t *testing.T, files map[string]string) *folder {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is required in CI")
		}
		t.Skip("git not found")
	}
	f := &folder{bench: newBench(t), dir: t.TempDir(), files: map[string]manifest.File{}}
	f.git("init", "-q", ".")
	for name, text := range files {
		f.files[name] = manifest.File{Content: []byte(text)}
	}
	f.commit("start")
	return f
}

func (f *folder) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = f.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// commit makes the work tree hold exactly the files.
func (f *folder) commit(message string) {
	f.t.Helper()
	f.git("rm", "-rq", "--ignore-unmatch", ".")
	for name, file := range f.files {
		path := filepath.Join(f.dir, name)
		f.g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		f.g.Expect(os.WriteFile(path, file.Content, 0o600)).To(Succeed())
	}
	f.git("add", "-A")
	f.git("commit", "-q", "--allow-empty", "-m", message)
}

// event brings live objects, as the API server has them, through sanitizer, plan and encryption into a commit.
func (f *folder) event(objects ...map[string]any) *plan.Result {
	f.t.Helper()
	return f.change(change.Update, objects...)
}

func (f *folder) change(op change.Operation, objects ...map[string]any) *plan.Result {
	f.t.Helper()
	s, err := sanitize.New(f.ignore)
	f.g.Expect(err).NotTo(HaveOccurred())
	var batch plan.Batch
	for _, o := range objects {
		raw, err := json.Marshal(o)
		f.g.Expect(err).NotTo(HaveOccurred())
		group, version, _ := strings.Cut(fmt.Sprint(o["apiVersion"]), "/")
		if version == "" {
			group, version = "", group
		}
		typ, ok := coreKinds{}.Kind(group, fmt.Sprint(o["kind"]))
		if !ok {
			typ = change.Type{Group: group, Version: version, Kind: fmt.Sprint(o["kind"]), Resource: strings.ToLower(fmt.Sprint(o["kind"])) + "s", Namespaced: true}
		}
		item, err := s.Object(raw, typ)
		f.g.Expect(err).NotTo(HaveOccurred())
		batch.Changes = append(batch.Changes, change.Change{Operation: op, Item: item.Item})
	}
	res, err := plan.Plan(context.Background(), plan.Request{
		Tree: manifest.NewMemTree(f.files), Path: "apps", Kinds: coreKinds{}, Batch: batch, Sealer: f.sealer(),
		Policy: plan.Policy{SourceNamespaces: []string{"*"}, SOPSConfig: f.rules(), Sensitive: func(t change.Type) bool { return t.Group == "example.com" }},
	})
	f.g.Expect(err).NotTo(HaveOccurred())
	fmt.Fprintf(&f.said, "%+v\n%+v\n", res.Report, res.Issues)
	for _, e := range res.Edits {
		if e.Delete {
			delete(f.files, e.Path)
			continue
		}
		f.files[e.Path] = manifest.File{Mode: e.Mode, Content: e.Content}
	}
	f.commit("change")
	return res
}

func (f *folder) names() []string { return slices.Sorted(maps.Keys(f.files)) }

// noLeak searches every object of the repository and everything the plans said.
func (f *folder) noLeak(secrets ...leakproof.Secret) {
	f.t.Helper()
	s := leakproof.New(secrets...)
	r, err := s.Repository(context.Background(), f.dir)
	leakproof.Expect(f.t, "the repository", r, err)
	leakproof.Expect(f.t, "the reports", leakproof.Report{Searched: f.said.Len(), Findings: s.Text("the reports", f.said.Bytes())}, nil)
}

func liveSecret(name string, data map[string]string, edit ...func(map[string]any)) map[string]any {
	enc := map[string]any{}
	for k, v := range data {
		enc[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	o := map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": enc, "metadata": map[string]any{
		"name": name, "namespace": "shop", "uid": "u-" + name, "resourceVersion": "7", "annotations": map[string]any{}}}
	for _, e := range edit {
		e(o)
	}
	return o
}

func annotate(key, value string) func(map[string]any) {
	return func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"].(map[string]any)[key] = value
	}
}

// E08 and scenario 65, from the API server's object to the objects of a real repository: whatever tools leave on a Secret,
// no value is readable anywhere, and a refused Secret takes nothing else with it.
func TestCaseE08_NoValueInTheRepository(t *testing.T) {
	f := newFolder(t, nil)
	pw, token, label, custom := leakproof.Plant("pw"), leakproof.Plant("token"), leakproof.PlantWord("label"), leakproof.Plant("custom")
	applied, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "applied"}, "stringData": map[string]string{"pw": pw.Value}})
	f.g.Expect(err).NotTo(HaveOccurred())
	res := f.event(
		liveSecret("applied", map[string]string{"pw": pw.Value}, annotate("kubectl.kubernetes.io/last-applied-configuration", string(applied))),
		liveSecret("kapp", map[string]string{"token": token.Value}, annotate("kapp.k14s.io/original", `{"data":{"token":"`+base64.StdEncoding.EncodeToString([]byte(token.Value))+`"}}`)),
		liveSecret("labelled", map[string]string{"word": label.Value}, func(o map[string]any) {
			o["metadata"].(map[string]any)["labels"] = map[string]any{"word": label.Value}
		}),
		liveSecret("tool", map[string]string{"token": token.Value}, annotate("tool.example.com/object", `{"data":{"token":"`+base64.StdEncoding.EncodeToString([]byte(token.Value))+`"}}`)),
		map[string]any{"apiVersion": "example.com/v1", "kind": "Vault", "metadata": map[string]any{"name": "v", "namespace": "shop"},
			"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"token": custom.Value}}}}, "config": []any{custom.Value}},
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "plain", "namespace": "shop"}, "data": map[string]any{"k": "v"}},
	)
	outcomes := map[string]string{}
	for _, o := range res.Report.Objects {
		outcomes[o.Object.Name] = string(o.Outcome) + " " + o.Reason
	}
	f.g.Expect(outcomes).To(Equal(map[string]string{"applied": "Created ", "kapp": "Created ", "labelled": "Refused seal_failed", "tool": "Refused seal_failed", "v": "Created ", "plain": "Created "}))
	f.g.Expect(f.names()).To(ContainElement("apps/.sops.yaml"))
	f.noLeak(pw, token, label, custom)

	// Nothing changed: no commit, also after a restart.
	f.restart()
	f.g.Expect(f.event(liveSecret("applied", map[string]string{"pw": pw.Value})).Edits).To(BeEmpty())

	// Encryption stops working: the Secret stays as it is, the rest goes on.
	f.options.NotReady = fmt.Errorf("the Secret shop/keys does not exist")
	next := leakproof.Plant("next")
	f.event(liveSecret("applied", map[string]string{"pw": next.Value}), liveSecret("more", map[string]string{"pw": next.Value}))
	f.noLeak(pw, token, label, custom, next)
}

// E04 in a folder: a file of several encrypted Secrets stays as it is, with a reason that names it; a new Secret gets a
// file of its own, also where its placement leads to a file that is there.
func TestCaseE04_NothingIsAppendedToAnEncryptedFile(t *testing.T) {
	f := newFolder(t, nil)
	doc := func(name string) string {
		r := f.request(nil, pair, func(o map[string]any) {
			o["metadata"] = map[string]any{"name": name, "namespace": "shop"}
		})
		r.Object.Namespace, r.Object.Name = "shop", name
		return string(f.seal(r).Document)
	}
	two := doc("one") + "---\n" + doc("two")
	f.files["apps/secret.sops.yaml"] = manifest.File{Content: []byte(two)}
	f.commit("two in one file")
	res := f.event(liveSecret("one", map[string]string{"a": "changed-value"}), liveSecret("three", map[string]string{"a": "third-value"}))
	f.g.Expect(string(f.files["apps/secret.sops.yaml"].Content)).To(Equal(two))
	outcomes := map[string]string{}
	for _, o := range res.Report.Objects {
		outcomes[o.Object.Name] = string(o.Outcome)
		if o.Outcome == plan.Refused {
			f.g.Expect(o.Message).NotTo(BeEmpty())
			f.g.Expect(o.Path + " " + o.Message).To(ContainSubstring("apps/secret.sops.yaml"))
		}
	}
	f.g.Expect(outcomes).To(Equal(map[string]string{"one": "Refused", "three": "Created"}))
	holding := 0
	for name, file := range f.files {
		f.g.Expect(string(file.Content)).NotTo(ContainSubstring("third-value"), name)
		if strings.Contains(string(file.Content), "name: three") {
			holding++
			f.g.Expect(strings.Count(string(file.Content), "\nkind: Secret\n")).To(Equal(1), name)
		}
	}
	f.g.Expect(holding).To(Equal(1))

	// Taking one away would leave the other with a MAC of both.
	res = f.change(change.Delete, liveSecret("two", nil))
	f.g.Expect(string(f.files["apps/secret.sops.yaml"].Content)).To(Equal(two))
	f.g.Expect(res.Report.Objects).To(HaveLen(1))
	f.g.Expect(res.Report.Objects[0].Outcome).To(Equal(plan.Refused))
	f.g.Expect(res.Report.Objects[0].Message).To(ContainSubstring("apps/secret.sops.yaml: it holds several encrypted documents"))
}

// G19 on this side: tokens that a host's push protection looks for are not there to be found.
func TestCaseG19_NothingToScanFor(t *testing.T) {
	f := newFolder(t, nil)
	var planted []leakproof.Secret
	data := map[string]string{}
	for name, value := range map[string]string{
		"github": "ghp_" + strings.Repeat("a1B2", 9), "aws": "AKIA" + strings.Repeat("Q7", 8), "key": "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n",
		"slack": "xoxb-123456789012-abcdefghijkl", "url": "postgres://user:pass-word@db/shop",
	} {
		data[name] = value
		planted = append(planted, leakproof.Secret{Name: name, Value: value})
	}
	f.event(liveSecret("tokens", data))
	f.g.Expect(f.names()).To(ContainElement(HaveSuffix("tokens.sops.yaml")))
	f.noLeak(planted...)
}

// Decision 54, E09 and scenario 93: a document in clear is replaced in place when it is alone, moved out when it is not;
// its neighbours keep their bytes.
func TestCaseE09_ClearFiles(t *testing.T) {
	plain := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain, namespace: shop}\ndata: {k: v}\n"
	f := newFolder(t, map[string]string{
		"apps/alone.yaml":  "apiVersion: v1\nkind: Secret\nmetadata:\n  name: alone\n  namespace: shop\nstringData:\n  pw: first-value\n",
		"apps/shared.yaml": plain + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: shared, namespace: shop}\nstringData: {pw: other-value}\n",
	})
	res := f.event(liveSecret("alone", map[string]string{"pw": "first-value"}), liveSecret("shared", map[string]string{"pw": "other-value"}))
	for _, o := range res.Report.Objects {
		f.g.Expect(o.Notes).To(ContainElement(ContainSubstring("history")), "%v", o)
	}
	f.g.Expect(string(f.files["apps/shared.yaml"].Content)).To(Equal(plain))
	alone := string(f.files["apps/alone.yaml"].Content)
	f.g.Expect(alone).To(And(HavePrefix("apiVersion: v1\nkind: Secret\n"), ContainSubstring("stringData:\n  pw: ENC["), ContainSubstring("\nsops:\n")))
	for name, file := range f.files {
		f.g.Expect(string(file.Content)).NotTo(Or(ContainSubstring("first-value"), ContainSubstring("other-value")), name)
	}
	f.restart()
	f.g.Expect(f.event(liveSecret("alone", map[string]string{"pw": "first-value"}), liveSecret("shared", map[string]string{"pw": "other-value"})).Edits).To(BeEmpty())
}

// The .sops.yaml this operator wrote follows the spec's recipients in the commit of the next real change (decision 50).
func TestRecipientsInTheRepository(t *testing.T) {
	f := newFolder(t, nil)
	f.event(liveSecret("db", map[string]string{"pw": "first-value"}))
	bob := newIdentity()
	f.options.Keys = f.keys(f.identity, bob)
	f.g.Expect(f.event(liveSecret("db", map[string]string{"pw": "first-value"})).Edits).To(BeEmpty())
	f.event(liveSecret("db", map[string]string{"pw": "second-value"}))
	f.g.Expect(string(f.files["apps/.sops.yaml"].Content)).To(ContainSubstring(bob.Recipient().String()))
	f.g.Expect(f.git("show", "--stat", "--format=")).To(And(ContainSubstring(".sops.yaml"), ContainSubstring("db.sops.yaml")))
	for name, file := range f.files {
		if strings.HasSuffix(name, "db.sops.yaml") {
			f.g.Expect(f.plain(file.Content, bob)).To(HaveKey("data"))
			out, err := f.command(f.dir, bob, "decrypt", name)
			f.g.Expect(err).NotTo(HaveOccurred())
			f.g.Expect(string(out)).To(ContainSubstring(base64.StdEncoding.EncodeToString([]byte("second-value"))))
		}
	}
}
