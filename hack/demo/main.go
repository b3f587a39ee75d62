// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo plays the product's main job on real parts: a control plane, a Git server over HTTPS with a password,
// and the operator's binary. It applies config/samples, edits objects with kubectl, lets somebody else push in
// between, and prints the commits and conditions. It ends by itself; DEMO_KEEP=1 keeps everything running.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/configbutler/gitops-reverser/tests/gitserver"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	d := &demo{began: time.Now(), keep: os.Getenv("DEMO_KEEP") == "1"}
	err := d.run(ctx)
	if err != nil && d.operator != nil {
		if log, lerr := d.repo.Git("log", "--stat", "-p", "main"); lerr == nil {
			fmt.Printf("\nthe branch so far:\n%s\n", log)
		}
		fmt.Printf("\nthe operator's last lines:\n%s\n", d.operator.Tail(15))
	}
	if err == nil && d.keep {
		d.invite()
		<-ctx.Done()
	}
	d.close()
	if err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo failed: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("\ndemo succeeded in %s\n", time.Since(d.began).Round(time.Second))
}

const (
	// folder is spec.path of config/samples/gittarget.yaml.
	folder   = "clusters/one"
	patience = 60 * time.Second
)

type demo struct {
	began    time.Time
	keep     bool
	dir      string
	cp       *harness.ControlPlane
	git      *gitserver.Server
	repo     *gitserver.Repo
	operator *harness.Operator
}

func (d *demo) run(ctx context.Context) error {
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Start kube-apiserver and etcd, and a Git server over HTTPS", d.start},
		{"Install the operator and run it with the permissions of its service account", d.install},
		{"Apply config/samples: a KubeProvider, a GitProvider, a GitTarget and a WatchRule", d.samples},
		{"Create a ConfigMap with kubectl", d.create},
		{"Edit it twice quickly: one commit", d.editTwice},
		{"Edit it while somebody else pushes to the branch: both histories stay", d.editBetween},
		{"Delete it", d.remove},
	} {
		fmt.Printf("\n== %s (%s)\n", step.title, time.Since(d.began).Round(time.Second))
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", strings.ToLower(step.title[:1])+step.title[1:], err)
		}
	}
	return d.show(ctx)
}

func (d *demo) start(context.Context) (err error) {
	if d.dir, err = os.MkdirTemp("", "gitops-reverser-demo-"); err != nil {
		return err
	}
	if d.git, err = gitserver.New(filepath.Join(d.dir, "git"), gitserver.Options{TLS: true, Username: "mirror", Password: "demo-password"}); err != nil {
		return err
	}
	if d.repo, err = d.git.CreateRepo("live", gitserver.RepoOptions{}); err != nil {
		return err
	}
	if _, err = d.repo.Commit("main", "Start the repository", map[string]string{"README.md": "# Our clusters\n"}); err != nil {
		return err
	}
	if d.cp, err = harness.StartControlPlane(filepath.Join(d.dir, "cluster")); err != nil {
		return err
	}
	fmt.Printf("   API server %s, repository %s\n", d.cp.Config.Host, d.git.URL("live"))
	return nil
}

func (d *demo) install(ctx context.Context) (err error) {
	fmt.Println("   $ make deploy (config/crd, then config/default)")
	if err := d.cp.Install(ctx); err != nil {
		return err
	}
	d.operator, err = harness.StartOperator(d.cp, d.dir)
	return err
}

func (d *demo) samples(ctx context.Context) error {
	if err := d.kubectl(ctx, "", "create", "namespace", "shop"); err != nil {
		return err
	}
	if err := d.kubectl(ctx, "", "create", "secret", "generic", "git-login", "-n", "shop",
		"--from-literal=username=mirror", "--from-literal=password=demo-password",
		"--from-literal=ca.crt="+string(d.git.CACert())); err != nil {
		return err
	}
	for _, name := range []string{"kubeprovider", "gitprovider", "gittarget", "watchrule"} {
		b, err := os.ReadFile(filepath.Join("config", "samples", name+".yaml"))
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(b), "https://git.example.org/shop/live.git", d.git.URL("live"))
		if err := d.kubectl(ctx, text, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
			return err
		}
	}
	return d.kubectl(ctx, "", "wait", "--for=condition=Ready", "--timeout=90s", "-n", "shop",
		"gitprovider/infra", "gittarget/live", "watchrule/config")
}

const configMap = folder + "/shop/configmaps/prices.yaml"

func (d *demo) create(ctx context.Context) error {
	if err := d.kubectl(ctx, "", "create", "configmap", "prices", "-n", "shop", "--from-literal=apple=1"); err != nil {
		return err
	}
	return d.committed(ctx, configMap, `apple: "1"`)
}

func (d *demo) editTwice(ctx context.Context) error {
	before, err := d.repo.Log("main")
	if err != nil {
		return err
	}
	for _, price := range []string{"2", "3"} {
		if err := d.patch(ctx, "apple", price); err != nil {
			return err
		}
	}
	if err := d.committed(ctx, configMap, `apple: "3"`); err != nil {
		return err
	}
	after, err := d.repo.Log("main")
	if err == nil && len(after) != len(before)+1 {
		err = fmt.Errorf("expected one commit for both edits, got %d", len(after)-len(before))
	}
	return err
}

func (d *demo) editBetween(ctx context.Context) error {
	if err := d.patch(ctx, "apple", "4"); err != nil {
		return err
	}
	if _, err := d.repo.Commit("main", "Describe the folder (by hand)", map[string]string{"NOTES.md": "Prices are in euros.\n"}); err != nil {
		return err
	}
	if err := d.committed(ctx, configMap, `apple: "4"`); err != nil {
		return err
	}
	return d.committed(ctx, "NOTES.md", "euros")
}

func (d *demo) remove(ctx context.Context) error {
	if err := d.kubectl(ctx, "", "delete", "configmap", "prices", "-n", "shop"); err != nil {
		return err
	}
	return d.until(ctx, "the file "+configMap+" to be deleted", func() (bool, error) {
		files, err := d.repo.Files("main")
		_, there := files[configMap]
		return !there, err
	})
}

func (d *demo) patch(ctx context.Context, key, value string) error {
	return d.kubectl(ctx, "", "patch", "configmap", "prices", "-n", "shop", "--type=merge",
		"-p", fmt.Sprintf(`{"data":{%q:%q}}`, key, value))
}

func (d *demo) show(ctx context.Context) error {
	fmt.Printf("\n== git log --stat -p\n\n")
	log, err := d.repo.Git("log", "--stat", "-p", "--format=commit %h%n  author:    %an <%ae>%n  committer: %cn <%ce>%n%n%w(0,4,4)%B", "main")
	if err != nil {
		return err
	}
	fmt.Println(log)
	fmt.Printf("== kubectl get\n\n")
	for _, args := range [][]string{
		{"get", "kubeproviders"},
		{"get", "gitproviders,gittargets,watchrules", "-n", "shop"},
		{"get", "gittarget", "live", "-n", "shop", "-o",
			`jsonpath={range .status.conditions[*]}{.type}{"\t"}{.status}{"\t"}{.reason}{"\t"}{.message}{"\n"}{end}`},
	} {
		out, err := d.cp.Kubectl(ctx, "", args...)
		if err != nil {
			return err
		}
		fmt.Println(out)
	}
	if err := d.repo.Fsck(); err != nil {
		return fmt.Errorf("git fsck: %w", err)
	}
	return nil
}

func (d *demo) invite() {
	// Where the demo was built; a bare machine has no kubectl of its own.
	tools := ""
	if kubectl, err := harness.Tool("kubectl"); err == nil {
		tools = filepath.Dir(kubectl)
	}
	fmt.Printf(`
Everything keeps running. In another shell:

  export KUBECONFIG=%s
  export PATH="%s:$PATH"
  kubectl -n shop create configmap hello --from-literal=a=b
  git --git-dir=%s log --stat -p main
  kubectl -n shop get gittargets -o wide

The repository is %s (user mirror, password demo-password); the operator logs to
%s. Press Ctrl-C to end.
`, d.cp.Kubeconfig, tools, d.git.RepoDir("live"), d.git.URL("live"), d.operator.LogFile)
}

func (d *demo) close() {
	if d.operator != nil {
		d.operator.Stop(20 * time.Second)
	}
	if d.cp != nil {
		d.cp.Stop()
	}
	if d.git != nil {
		d.git.Close()
	}
	if d.dir != "" {
		_ = os.RemoveAll(d.dir)
	}
}

func (d *demo) kubectl(ctx context.Context, stdin string, args ...string) error {
	shown := strings.Join(args, " ")
	if i := strings.Index(shown, "--from-literal=ca.crt"); i > 0 {
		shown = shown[:i] + "--from-literal=ca.crt=..."
	}
	fmt.Printf("   $ kubectl %s\n", shown)
	out, err := d.cp.Kubectl(ctx, stdin, args...)
	for line := range strings.Lines(strings.TrimSpace(out)) {
		fmt.Printf("     %s\n", strings.TrimRight(line, "\n"))
	}
	return err
}

// committed waits until a file of the branch holds a text, and says how long it took.
func (d *demo) committed(ctx context.Context, path, text string) error {
	return d.until(ctx, fmt.Sprintf("%s to hold %q", path, text), func() (bool, error) {
		files, err := d.repo.Files("main")
		if err != nil {
			return false, err
		}
		if _, ok := files[path]; !ok {
			return false, nil
		}
		b, err := d.repo.ReadFile("main", path)
		return strings.Contains(string(b), text), err
	})
}

func (d *demo) until(ctx context.Context, what string, check func() (bool, error)) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := check()
		if err != nil {
			return err
		}
		if ok {
			fmt.Printf("   seen %s after %s\n", what, time.Since(began).Round(100*time.Millisecond))
			return nil
		}
		select {
		case <-d.operator.Done():
			return errors.New("the operator ended")
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s", patience, what)
		case <-tick.C:
		}
	}
}
