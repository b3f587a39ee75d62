// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/getsops/sops/v3/decrypt"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/encryption"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// bench is a GitTarget's encryption with one identity in its Secret.
type bench struct {
	t        testing.TB
	g        Gomega
	identity *age.X25519Identity
	options  encryption.Options
	now      time.Time
}

func newBench(t testing.TB) *bench {
	t.Helper()
	// Nothing of the machine may be used: not its keys, not its home.
	home := t.TempDir()
	for _, k := range []string{"HOME", "XDG_CONFIG_HOME", "GNUPGHOME", "SOPS_AGE_KEY_FILE"} {
		t.Setenv(k, home)
	}
	for _, k := range []string{"SOPS_AGE_KEY", "SOPS_AGE_KEY_CMD", "SOPS_AGE_RECIPIENTS", "SOPS_CONFIG"} {
		t.Setenv(k, "")
		_ = os.Unsetenv(k)
	}
	b := &bench{t: t, g: NewWithT(t), identity: newIdentity(), now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	b.options = encryption.Options{Keys: b.keys(b.identity), Scope: "ns/target", Cache: encryption.NewCache(), Now: b.clock}
	return b
}

// clock never shows the same second twice, as a changed lastmodified would.
func (b *bench) clock() time.Time {
	b.now = b.now.Add(time.Second)
	return b.now
}

func newIdentity() *age.X25519Identity {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		panic(err)
	}
	return id
}

// keys are those of a Secret with one entry per identity, all of them recipients.
func (b *bench) keys(ids ...*age.X25519Identity) encryption.Keys {
	b.t.Helper()
	secret := map[string][]byte{}
	for i, id := range ids {
		secret[fmt.Sprintf("%d.agekey", i)] = []byte(id.String())
	}
	return b.keysOf(secret)
}

func (b *bench) keysOf(secret map[string][]byte) encryption.Keys {
	b.t.Helper()
	k, err := encryption.ResolveKeys(encryption.KeySource{ExtractFromSecret: true, SecretName: "ns/keys", Secret: secret})
	b.g.Expect(err).NotTo(HaveOccurred())
	return k
}

// public are recipients without an identity.
func (b *bench) public(ids ...*age.X25519Identity) encryption.Keys {
	b.t.Helper()
	var s encryption.KeySource
	for _, id := range ids {
		s.PublicKeys = append(s.PublicKeys, id.Recipient().String())
	}
	k, err := encryption.ResolveKeys(s)
	b.g.Expect(err).NotTo(HaveOccurred())
	return k
}

// restart forgets what the process remembers.
func (b *bench) restart() { b.options.Cache = encryption.NewCache() }

func (b *bench) rules() []byte { return encryption.SOPSConfig(b.options.Keys.Recipients()) }

// request is a Secret to be written at its canonical path.
func (b *bench) request(existing []byte, data map[string]string, edit ...func(map[string]any)) plan.SealRequest {
	enc := map[string]any{}
	for k, v := range data {
		enc[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	o := map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": enc,
		"metadata": map[string]any{"name": "db", "namespace": "app", "labels": map[string]any{"app": "db"}}}
	for _, e := range edit {
		e(o)
	}
	desired, err := json.Marshal(o)
	b.g.Expect(err).NotTo(HaveOccurred())
	return plan.SealRequest{
		Object:  change.ObjectID{Kind: "Secret", Namespace: "app", Name: "db"},
		Type:    change.Type{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true},
		Desired: desired, Path: "clusters/prod/app/secrets/db.sops.yaml", Existing: existing, UID: "uid-1",
		RulesPath: "clusters/prod/.sops.yaml", Rules: b.rules(),
	}
}

func (b *bench) sealer() *encryption.Sealer { return encryption.New(b.options) }

func (b *bench) seal(r plan.SealRequest) plan.SealResult {
	b.t.Helper()
	res, err := b.sealer().Seal(context.Background(), r)
	b.g.Expect(err).NotTo(HaveOccurred())
	return res
}

func (b *bench) refused(r plan.SealRequest) string {
	b.t.Helper()
	res, err := b.sealer().Seal(context.Background(), r)
	b.g.Expect(err).To(HaveOccurred())
	b.g.Expect(res).To(Equal(plan.SealResult{}))
	return err.Error()
}

// plain decrypts with the library's own entry point, as the holder of an identity.
func (b *bench) plain(doc []byte, id *age.X25519Identity) map[string]any {
	b.t.Helper()
	b.t.Setenv("SOPS_AGE_KEY", id.String())
	defer os.Unsetenv("SOPS_AGE_KEY")
	out, err := decrypt.Data(doc, "yaml")
	b.g.Expect(err).NotTo(HaveOccurred(), "%s", doc)
	var m map[string]any
	b.g.Expect(yaml.Unmarshal(out, &m)).To(Succeed())
	return m
}

// holds checks what a document says when decrypted, given what was wanted.
func (b *bench) holds(doc []byte, r plan.SealRequest) {
	b.t.Helper()
	var want map[string]any
	b.g.Expect(json.Unmarshal(r.Desired, &want)).To(Succeed())
	b.g.Expect(b.plain(doc, b.identity)).To(Equal(want))
}

// changedLines counts the lines of b that are not in a, and the other way round.
func changedLines(a, b []byte) (added, removed []string) {
	count := map[string]int{}
	for _, l := range strings.Split(string(a), "\n") {
		count[l]++
	}
	for _, l := range strings.Split(string(b), "\n") {
		if count[l] > 0 {
			count[l]--
		} else {
			added = append(added, l)
		}
	}
	for l, n := range count {
		for range n {
			removed = append(removed, l)
		}
	}
	return added, removed
}

// keysOf names the keys of changed lines.
func keysOf(lines []string) []string {
	var out []string
	for _, l := range lines {
		k, _, _ := strings.Cut(strings.TrimSpace(l), ":")
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestMain finds the built tools before the tests take the home folder away.
func TestMain(m *testing.M) {
	if toolsDir = os.Getenv("TOOLS_DIR"); toolsDir == "" {
		if out, err := exec.Command("make", "-s", "-C", filepath.Join("..", ".."), "tools-dir").Output(); err == nil {
			toolsDir = strings.TrimSpace(string(out))
		}
	}
	os.Exit(m.Run())
}

var toolsDir string

// sopsCommand finds the released command among the built tools; without it the test is skipped, or fails with CI=true
// (decisions 86).
func sopsCommand(t testing.TB) string {
	t.Helper()
	path := filepath.Join(toolsDir, "sops")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the sops command is required in CI: %v", err)
		}
		t.Skip("the sops command is not built")
	}
	return path
}

// command runs sops in a folder with one identity.
func (b *bench) command(dir string, id *age.X25519Identity, args ...string) ([]byte, error) {
	cmd := exec.Command(sopsCommand(b.t), args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "SOPS_AGE_KEY=" + id.String(), "SOPS_DISABLE_VERSION_CHECK=1"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("sops %v: %w: %s", args, err, errs.String())
	}
	return out, err
}
