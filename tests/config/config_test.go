// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/tests/harness"
)

func read(t *testing.T, name string) string {
	t.Helper()
	root, err := harness.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// load reads the one object of a manifest, strictly.
func load[T any](t *testing.T, name string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(read(t, name)), out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func manager(t *testing.T) (*appsv1.Deployment, *corev1.Container) {
	t.Helper()
	d := load[appsv1.Deployment](t, "config/manager/deployment.yaml")
	NewWithT(t).Expect(d.Spec.Template.Spec.Containers).To(HaveLen(1))
	return d, &d.Spec.Template.Spec.Containers[0]
}

// usage is what the operator prints about its flags.
func usage(t *testing.T) string {
	t.Helper()
	binary, err := harness.Manager()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(binary, "--help")
	cmd.Stdout, cmd.Stderr = &out, &out
	// pflag ends with code 0 or 2 after the usage, depending on its version; the text is what counts.
	_ = cmd.Run()
	return out.String()
}

func arguments(c *corev1.Container) map[string]string {
	out := map[string]string{}
	for _, a := range c.Args {
		name, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		out[name] = value
	}
	return out
}

// TestDeploymentArgumentsAreFlags: each is one of the operator's, and the first three stand where Flux's patches expect
// them.
func TestDeploymentArgumentsAreFlags(t *testing.T) {
	g := NewWithT(t)
	_, c := manager(t)
	text := usage(t)
	for name := range arguments(c) {
		g.Expect(text).To(MatchRegexp(`(?m)^\s+(-\w, )?--%s[ \n]`, regexp.QuoteMeta(name)), "--%s is no flag", name)
	}
	for i, name := range []string{"--events-addr=", "--watch-all-namespaces=", "--log-level="} {
		g.Expect(c.Args[i]).To(HavePrefix(name))
	}
	g.Expect(arguments(c)).To(HaveKey("enable-leader-election"), "two replicas must not write at the same time")
}

// TestDeploymentAgreesWithTheFlags: folders, ports and times.
func TestDeploymentAgreesWithTheFlags(t *testing.T) {
	g := NewWithT(t)
	d, c := manager(t)
	text := usage(t)
	value := func(name string) string {
		m := regexp.MustCompile(`(?m)--` + name + ` .*\(default "?([^")]+)"?\)`).FindStringSubmatch(text)
		g.Expect(m).NotTo(BeNil(), name)
		return m[1]
	}
	storage := arguments(c)["storage-path"]
	g.Expect(slices.ContainsFunc(c.VolumeMounts,
		func(m corev1.VolumeMount) bool { return m.MountPath == storage && !m.ReadOnly })).To(BeTrue())
	g.Expect(slices.ContainsFunc(c.VolumeMounts,
		func(m corev1.VolumeMount) bool { return m.MountPath == "/tmp" })).To(BeTrue(), "the root file system is read-only")
	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	g.Expect(value("metrics-addr")).To(Equal(":8080"))
	g.Expect(value("health-addr")).To(Equal(":9440"))
	g.Expect(ports).To(Equal(map[string]int32{"http-prom": 8080, "healthz": 9440}))
	g.Expect(d.Spec.Template.Annotations["prometheus.io/port"]).To(Equal("8080"))
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		g.Expect(p.HTTPGet.Port.StrVal).To(Equal("healthz"))
	}
	grace, err := time.ParseDuration(value("shutdown-grace"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Duration(*d.Spec.Template.Spec.TerminationGracePeriodSeconds)*time.Second).To(BeNumerically(">", grace),
		"the last publication must not be cut short")
	g.Expect(d.Spec.Strategy.Type).To(Equal(appsv1.RecreateDeploymentStrategyType))
	g.Expect(*d.Spec.Replicas).To(BeEquivalentTo(1))
	names := []string{}
	for _, e := range c.Env {
		names = append(names, e.Name)
	}
	g.Expect(names).To(ConsistOf("RUNTIME_NAMESPACE", "GOMEMLIMIT"))
}

// TestDeploymentIsRestricted: what the pod security standard of its namespace demands.
func TestDeploymentIsRestricted(t *testing.T) {
	g := NewWithT(t)
	d, c := manager(t)
	pod, own := d.Spec.Template.Spec.SecurityContext, c.SecurityContext
	g.Expect(*pod.RunAsNonRoot).To(BeTrue())
	g.Expect(pod.SeccompProfile.Type).To(Equal(corev1.SeccompProfileTypeRuntimeDefault))
	g.Expect(*own.AllowPrivilegeEscalation).To(BeFalse())
	g.Expect(*own.ReadOnlyRootFilesystem).To(BeTrue())
	g.Expect(own.Capabilities.Drop).To(ConsistOf(corev1.Capability("ALL")))
	ns := load[corev1.Namespace](t, "config/default/namespace.yaml")
	g.Expect(ns.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))
	g.Expect(ns.Name).To(Equal(harness.OperatorNamespace))
	g.Expect(c.Resources.Limits).To(HaveKey(corev1.ResourceMemory))
	g.Expect(c.Resources.Requests).To(And(HaveKey(corev1.ResourceMemory), HaveKey(corev1.ResourceCPU)))
}

// TestManagerRoleIsTheLeast: what watch 14 lists, and nothing else. The end-to-end tests run the operator with it.
func TestManagerRoleIsTheLeast(t *testing.T) {
	g := NewWithT(t)
	got := map[string][]string{}
	for _, r := range load[rbacv1.ClusterRole](t, "config/rbac/role.yaml").Rules {
		g.Expect(r.APIGroups).To(HaveLen(1))
		for _, resource := range r.Resources {
			slices.Sort(r.Verbs)
			got[strings.Trim(r.APIGroups[0]+"/"+resource, "/")] = r.Verbs
		}
	}
	reads := []string{"get", "list", "watch"}
	want := map[string][]string{
		"configmaps": {"get"}, "secrets": {"create", "get", "update"}, "events": {"create", "patch"}, "namespaces": reads,
		"apiextensions.k8s.io/customresourcedefinitions": reads, "apiregistration.k8s.io/apiservices": reads,
	}
	for _, kind := range served(t) {
		want["configbutler.ai/"+kind] = reads
		want["configbutler.ai/"+kind+"/status"] = []string{"patch"}
	}
	g.Expect(got).To(Equal(want))
	for _, r := range load[rbacv1.ClusterRole](t, "config/rbac/watch_any_role.yaml").Rules {
		g.Expect(r.Verbs).To(ConsistOf("get", "list", "watch"))
	}
	for _, r := range load[rbacv1.ClusterRole](t, "config/rbac/editor_role.yaml").Rules {
		g.Expect(r.Resources).NotTo(ContainElement("kubeproviders"),
			"a source cluster is for its administrators to give away")
	}
}

// served are the plurals of the kinds that config/crd installs.
func served(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(`bases/configbutler\.ai_(\w+)\.yaml`).FindAllStringSubmatch(read(t,
		"config/crd/kustomization.yaml"), -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

// TestInstalledKindsHaveAReconciler: a kind that is installed and that nobody reconciles would accept objects in silence.
func TestInstalledKindsHaveAReconciler(t *testing.T) {
	g := NewWithT(t)
	root, err := harness.ModuleRoot()
	g.Expect(err).NotTo(HaveOccurred())
	kinds := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(root, "internal", "controller"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") {
			return err
		}
		b, err := os.ReadFile(p)
		for _, m := range regexp.MustCompile(`\bFor\(&v1alpha3\.(\w+)\{\}`).FindAllStringSubmatch(string(b), -1) {
			kinds[strings.ToLower(m[1])+"s"] = true
		}
		return err
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kinds).To(HaveLen(4))
	for _, plural := range served(t) {
		g.Expect(kinds).To(HaveKey(plural))
	}
	g.Expect(served(t)).To(HaveLen(len(kinds)))
}

// TestKustomizations: each builds alone, and nothing in them is deprecated or named twice.
func TestKustomizations(t *testing.T) {
	g := NewWithT(t)
	kustomize, err := harness.Tool("kustomize")
	g.Expect(err).NotTo(HaveOccurred())
	root, err := harness.ModuleRoot()
	g.Expect(err).NotTo(HaveOccurred())
	for _, dir := range []string{"crd", "rbac", "manager", "default", "samples"} {
		var out, errs bytes.Buffer
		cmd := exec.Command(kustomize, "build", filepath.Join(root, "config", dir))
		cmd.Stdout, cmd.Stderr = &out, &errs
		g.Expect(cmd.Run()).To(Succeed(), "%s: %s", dir, errs.String())
		g.Expect(errs.String()).To(BeEmpty(), dir)
		g.Expect(out.String()).NotTo(ContainSubstring("kind: NetworkPolicy"), "nothing listens that would need one")
		for doc := range strings.SplitSeq(out.String(), "\n---\n") {
			var o struct {
				Kind     string
				Metadata struct{ Namespace string }
			}
			g.Expect(yaml.Unmarshal([]byte(doc), &o)).To(Succeed())
			if dir == "default" && slices.Contains([]string{"Deployment", "ServiceAccount", "Role", "RoleBinding"}, o.Kind) {
				g.Expect(o.Metadata.Namespace).To(Equal(harness.OperatorNamespace), o.Kind)
			}
		}
	}
	// Everything in config/ is part of one of them.
	for _, dir := range []string{"rbac", "manager", "default", "samples"} {
		list, err := os.ReadDir(filepath.Join(root, "config", dir))
		g.Expect(err).NotTo(HaveOccurred())
		for _, e := range list {
			if e.Name() != "kustomization.yaml" {
				g.Expect(read(t, "config/"+dir+"/kustomization.yaml")).To(ContainSubstring("- "+e.Name()),
					"%s lies beside its kustomization", e.Name())
			}
		}
	}
}

// TestDockerfile: the image holds the one binary, runs as a numeric user and copies everything the build needs.
func TestDockerfile(t *testing.T) {
	g := NewWithT(t)
	text := read(t, "Dockerfile")
	g.Expect(text).To(MatchRegexp(`(?m)^FROM gcr\.io/distroless/static:nonroot$`))
	g.Expect(text).To(MatchRegexp(`(?m)^USER [1-9]\d*:[1-9]\d*$`))
	g.Expect(text).To(MatchRegexp(`(?m)^ENTRYPOINT \["/manager"\]$`))
	g.Expect(text).To(ContainSubstring("CGO_ENABLED=0"))
	g.Expect(text).NotTo(MatchRegexp(`(?mi)^(ADD|CMD|RUN apt)`))
	version := regexp.MustCompile(`(?m)^FROM .*golang:(\d+\.\d+)`).FindStringSubmatch(text)
	g.Expect(version).NotTo(BeNil())
	g.Expect(read(t, "go.mod")).To(MatchRegexp(`(?m)^go %s(\.|$)`, regexp.QuoteMeta(version[1])))
	// What the operator is built from is copied, and none of it is kept out of the context.
	ignored := strings.Fields(read(t, ".dockerignore"))
	for _, need := range []string{"go.mod", "go.sum", "main.go", "api/", "internal/"} {
		g.Expect(text).To(MatchRegexp(`(?m)^COPY .*\b%s`, regexp.QuoteMeta(need)))
		g.Expect(ignored).NotTo(ContainElement(strings.TrimSuffix(need, "/")))
	}
	build := regexp.MustCompile(`-X main\.version=\S+`)
	g.Expect(build.FindString(text)).NotTo(BeEmpty())
	g.Expect(build.FindString(read(t, "Makefile"))).NotTo(BeEmpty())
}

// TestMakefile: the targets that were promised, each with a line of help.
func TestMakefile(t *testing.T) {
	g := NewWithT(t)
	text := read(t, "Makefile") + read(t, "hack/tools/tools.mk")
	for _, name := range []string{
		"manager", "run", "test", "test-e2e", "fmt", "vet", "lint", "generate", "manifests", "verify", "install", "deploy", "docker-build",
		"bench", "demo", "help", "tools", "tools-dir", "simulate", "chaos", "fuzz",
	} {
		g.Expect(text).To(MatchRegexp(`(?m)^%s:.*## \S`, name), "%s", name)
	}
	g.Expect(text).To(MatchRegexp(`(?m)^APPLY = --server-side --field-manager=%s$`, harness.InstallManager),
		"the tests install as make does")
	g.Expect(regexp.MustCompile(`kubectl apply [^$].*`).FindString(text)).To(BeEmpty(), "all of it as one field manager")
	for _, m := range regexp.MustCompile(`(?m)^([a-z][\w-]*):`).FindAllStringSubmatch(text, -1) {
		g.Expect(text).To(MatchRegexp(`(?m)^%s:.*## \S`, m[1]), "%s has no help", m[1])
		g.Expect(text).To(MatchRegexp(`(?m)^\.PHONY:.*\b%s\b`, m[1]), "%s is a command, not a file", m[1])
	}
}
