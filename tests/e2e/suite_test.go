// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// patience bounds every wait for a condition; nothing waits for time alone.
const patience = 60 * time.Second

var (
	dir      string
	plane    *harness.ControlPlane
	git      *gitserver.Server
	operator *harness.Operator
	kube     client.Client
	scheme   = runtime.NewScheme()
)

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	suite, reporter := GinkgoConfiguration()
	if suite.LabelFilter == "" {
		// The long runs have targets of their own.
		suite.LabelFilter = "!long"
	}
	RunSpecs(t, "End to end", suite, reporter)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	SetDefaultEventuallyTimeout(patience)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha3.AddToScheme, apiextensionsv1.AddToScheme} {
		Expect(add(scheme)).To(Succeed())
	}
	dir = GinkgoT().TempDir()
	var err error
	plane, err = harness.StartControlPlane(filepath.Join(dir, "cluster"))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(plane.Stop)
	git, err = gitserver.New(filepath.Join(dir, "git"), gitserver.Options{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(git.Close)
	kube, err = client.New(plane.Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	Expect(plane.Install(ctx)).To(Succeed())
	root := must(harness.ModuleRoot())
	_, err = plane.Kubectl(ctx, "", "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(root, "config", "samples", "kubeprovider.yaml"))
	Expect(err).NotTo(HaveOccurred())
	startOperator()
	DeferCleanup(func() { operator.Stop(30 * time.Second) })
}, NodeTimeout(5*time.Minute))

// startOperator runs the operator; every start keeps the storage folder of the previous one.
func startOperator(args ...string) {
	GinkgoHelper()
	var err error
	// Specs send credentials over plain HTTP on the loopback, and wait for a hanging server.
	args = append(args, "--insecure-allow-git-http", "--git-timeout=3s")
	operator, err = harness.StartOperator(plane, dir, args...)
	Expect(err).NotTo(HaveOccurred())
}

var _ = AfterEach(func(ctx SpecContext) {
	if CurrentSpecReport().Failed() && operator != nil {
		AddReportEntry("operator", operator.Tail(60))
	}
	// Nothing of a finished spec may keep the operator busy.
	var list v1alpha3.GitTargetList
	if kube == nil || kube.List(ctx, &list) != nil {
		return
	}
	for i := range list.Items {
		_ = kube.Delete(ctx, &list.Items[i])
	}
})

var sequence int

// unique gives a name that no other spec of this run has.
func unique(prefix string) string {
	sequence++
	return fmt.Sprintf("%s-%d-%d", prefix, GinkgoParallelProcess(), sequence)
}

// must returns the value of a call that cannot fail in a healthy run.
func must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}
