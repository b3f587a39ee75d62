// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

var (
	anybody   = &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{}}
	malformed = &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nearly"}}}}
	labelled  = &v1alpha3.NamespaceMatcher{Names: []string{"named"},
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"mirror": "yes"}}}
)

func namespace(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func gitProvider(ns, name, url string, from *v1alpha3.NamespaceMatcher) *v1alpha3.GitProvider {
	return &v1alpha3.GitProvider{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(ns + name)},
		Spec:       v1alpha3.GitProviderSpec{URL: url, AllowedBranches: []string{"main", "live/*"}, AccessFrom: from},
	}
}

func kubeProvider(from *v1alpha3.NamespaceMatcher) *v1alpha3.KubeProvider {
	return &v1alpha3.KubeProvider{ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: v1alpha3.KubeProviderSpec{AccessFrom: from}}
}

// target writes shop/infra's repository unless changed; age orders creation, the smaller the older.
func target(ns, name string, age int, change ...func(*v1alpha3.GitTarget)) *v1alpha3.GitTarget {
	t := &v1alpha3.GitTarget{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: name, UID: types.UID(ns + "/" + name), CreationTimestamp: metav1.Unix(int64(1000+age), 0),
		},
		Spec: v1alpha3.GitTargetSpec{
			GitProviderRef: meta.NamespacedObjectReference{Namespace: "shop", Name: "infra"}, Branch: "main", Path: "apps",
		},
	}
	for _, c := range change {
		c(t)
	}
	return t
}

func at(p string) func(*v1alpha3.GitTarget) { return func(t *v1alpha3.GitTarget) { t.Spec.Path = p } }

func through(ns, name string) func(*v1alpha3.GitTarget) {
	return func(t *v1alpha3.GitTarget) {
		t.Spec.GitProviderRef = meta.NamespacedObjectReference{Namespace: ns, Name: name}
	}
}

func reader(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) *Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha3.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
	return &Reader{Client: c, Unfiltered: c}
}

func TestScenarios14To17_WhoIsAdmitted(t *testing.T) {
	for name, tt := range map[string]struct {
		matcher        *v1alpha3.NamespaceMatcher
		own, namespace string
		want           bool
	}{
		"14: without accessFrom a KubeProvider admits nobody":   {nil, "", "shop", false},
		"14: an empty accessFrom admits nobody":                 {&v1alpha3.NamespaceMatcher{}, "", "shop", false},
		"15: an empty accessFrom still admits a provider's own": {&v1alpha3.NamespaceMatcher{}, "shop", "shop", true},
		"15: and no other":                                            {&v1alpha3.NamespaceMatcher{}, "shop", "other", false},
		"an empty selector admits everybody":                          {anybody, "", "shop", true},
		"an empty selector admits a namespace that does not exist":    {anybody, "", "nowhere", true},
		"16: a label admits":                                          {labelled, "", "green", true},
		"16: its absence does not":                                    {labelled, "", "shop", false},
		"17: a namespace that does not exist is admitted by its name": {labelled, "", "named", true},
		"17: and has no labels":                                       {labelled, "", "nowhere", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := reader(t, interceptor.Funcs{}, namespace("shop", nil), namespace("green", map[string]string{"mirror": "yes"}))
			got, err := r.Admits(t.Context(), tt.matcher, tt.own, tt.namespace)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tt.want))
		})
	}
}

func TestScenario17_AReadErrorIsNoRefusal(t *testing.T) {
	g := NewWithT(t)
	away := errors.New("the API server is away")
	r := reader(t, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey,
		o client.Object, opts ...client.GetOption) error {
		if _, ok := o.(*corev1.Namespace); ok {
			return away
		}
		return c.Get(ctx, key, o, opts...)
	}}, gitProvider("shop", "infra", "https://git.example.org/a.git", nil), kubeProvider(labelled))
	grant, err := r.Grant(t.Context(), target("shop", "live", 0))
	g.Expect(err).To(MatchError(away))
	g.Expect(grant.Refused()).To(BeFalse())
}

func TestScenario18_AMalformedSelectorIsAnError(t *testing.T) {
	g := NewWithT(t)
	r := reader(t, interceptor.Funcs{}, namespace("shop", nil))
	for _, own := range []string{"", "shop"} {
		_, err := r.Admits(t.Context(), malformed, own, "shop")
		g.Expect(err).To(MatchError(ContainSubstring("spec.accessFrom.selector")))
	}
}

func TestGrant(t *testing.T) {
	const url = "https://git.example.org/a.git"
	for name, tt := range map[string]struct {
		objects []client.Object
		target  *v1alpha3.GitTarget
		noCross bool
		reason  string
		text    string
	}{
		"everything there": {[]client.Object{gitProvider("shop", "infra", url, nil), kubeProvider(anybody)},
			target("shop", "live", 0), false, "", ""},
		"no GitProvider": {[]client.Object{kubeProvider(anybody)}, target("shop", "live", 0), false,
			v1alpha3.GitProviderNotFoundReason, "shop/infra"},
		"no KubeProvider": {[]client.Object{gitProvider("shop", "infra", url, nil)}, target("shop", "live", 0),
			false, v1alpha3.KubeProviderNotFoundReason, "default"},
		"a GitProvider of another namespace that admits nobody": {
			[]client.Object{gitProvider("shop", "infra", url, nil), kubeProvider(anybody)}, target("team", "live", 0), false,
			v1alpha3.NamespaceNotAuthorizedReason, "GitProvider shop/infra does not admit namespace team"},
		"a GitProvider of another namespace that admits": {
			[]client.Object{gitProvider("shop", "infra", url, anybody), kubeProvider(anybody)}, target("team", "live",
				0), false, "", ""},
		"--no-cross-namespace-refs overrides accessFrom": {
			[]client.Object{gitProvider("shop", "infra", url, anybody), kubeProvider(anybody)}, target("team", "live", 0), true,
			v1alpha3.NamespaceNotAuthorizedReason, "--no-cross-namespace-refs"},
		"--no-cross-namespace-refs leaves one's own": {
			[]client.Object{gitProvider("shop", "infra", url, nil), kubeProvider(anybody)}, target("shop", "live",
				0), true, "", ""},
		"14: a KubeProvider without accessFrom": {
			[]client.Object{gitProvider("shop", "infra", url, nil), kubeProvider(nil)}, target("shop", "live", 0), false,
			v1alpha3.NamespaceNotAuthorizedReason, "KubeProvider default does not admit namespace shop"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := reader(t, interceptor.Funcs{}, tt.objects...)
			r.NoCrossNamespaceRefs = tt.noCross
			grant, err := r.Grant(t.Context(), tt.target)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(grant.Reason).To(Equal(tt.reason))
			g.Expect(grant.Message).To(ContainSubstring(tt.text))
		})
	}
}

// valid stands for the part of a spec that this package does not know.
func valid(t *v1alpha3.GitTarget, gp *v1alpha3.GitProvider) bool {
	return !Destination(t, gp).Refused() && t.Labels["broken"] == ""
}

func TestScenarios24To30_WhoOwns(t *testing.T) {
	const url = "https://git.example.org/shop/live.git"
	shared := gitProvider("shop", "infra", url, anybody)
	unshared := func(t *v1alpha3.GitTarget) { through("closed", "own")(t) }
	closed := gitProvider("closed", "own", url, nil)
	parent := func(p string) func(*v1alpha3.GitTarget) {
		return func(t *v1alpha3.GitTarget) { t.Spec.ParentBranch = p }
	}
	for name, tt := range map[string]struct {
		others []client.Object
		mine   *v1alpha3.GitTarget
		want   string
	}{
		"24: the younger of a and a/b loses": {[]client.Object{target("a", "one", 0)}, target("b",
			"two", 1, at("apps/x")), "overlaps"},
		"24: the older wins": {[]client.Object{target("b", "two", 1,
			at("apps/x"))}, target("a", "one", 0), ""},
		"24: of one age the higher namespace/name loses": {[]client.Object{target("a", "one", 0)}, target("b",
			"two", 0), "overlaps"},
		"24: of one age the lower wins": {[]client.Object{target("b", "two", 0)}, target("a",
			"one", 0), ""},
		"25: apps2 is not in apps": {[]client.Object{target("a", "one", 0)}, target("b",
			"two", 1, at("apps2")), ""},
		"26: another GitProvider of the repository": {[]client.Object{target("a", "one", 0),
			gitProvider("b", "own", url, nil)}, target("b", "two", 1, at("x"), through("b", "own")), "GitProvider shop/infra"},
		"26: spelled for SSH": {[]client.Object{target("a", "one", 0),
			gitProvider("b", "own", "git@git.example.org:shop/live.git",
				nil)}, target("b", "two", 1, at("x"), through("b", "own")), "GitProvider shop/infra"},
		"26: in an URL with a port and a user": {[]client.Object{target("a", "one", 0),
			gitProvider("b", "own", "ssh://git@git.example.org/shop/live",
				nil)}, target("b", "two", 1, at("x"), through("b", "own")), "GitProvider shop/infra"},
		"another repository": {[]client.Object{target("a", "one", 0),
			gitProvider("b", "own", "https://git.example.org/b.git", nil)}, target("b", "two", 1, through("b", "own")), ""},
		"another branch": {[]client.Object{target("a", "one", 0,
			func(t *v1alpha3.GitTarget) { t.Spec.Branch = "live/x" })}, target("b", "two", 1), ""},
		"27: an unadmitted target owns nothing": {[]client.Object{target("a", "one", 0, unshared)},
			target("b", "two", 1), ""},
		"27: nor does one with an invalid path": {[]client.Object{target("a", "one", 0,
			at("../apps"))}, target("b", "two", 1), ""},
		"27: nor one whose branch is not allowed": {[]client.Object{target("a", "one", 0,
			through("closed", "strict")), withBranches(gitProvider("closed", "strict", url,
			anybody), "release")}, target("b", "two", 1), ""},
		"27: nor one with another mistake in its spec": {[]client.Object{target("a", "one", 0,
			func(t *v1alpha3.GitTarget) { t.Labels = map[string]string{"broken": "yes"} })}, target("b", "two", 1), ""},
		"27: nor one whose GitProvider is gone": {[]client.Object{target("a", "one", 0,
			through("shop", "gone"))}, target("b", "two", 1), ""},
		"28: one that is being deleted owns nothing": {[]client.Object{target("a", "one", 0, deleted)},
			target("b", "two", 1), ""},
		"30: another parentBranch": {[]client.Object{target("a", "one", 0)}, target("b",
			"two", 1, at("x"), parent("release")), "parentBranch"},
		"30: the same parentBranch": {[]client.Object{target("a", "one", 0,
			parent("release"))}, target("b", "two", 1, at("x"), parent("release")), ""},
		"a target in conflict owns nothing": {[]client.Object{target("a", "one", 0), target("b",
			"two", 1, at("apps/x")), target("c", "x", 2, at("y"))}, target("d", "four", 3, at("x")), ""},
		"18: a malformed selector of a younger one is its own": {[]client.Object{target("b", "bad", 5, through("b",
			"own")), gitProvider("b", "own", url, malformed)}, target("a", "one", 0), ""},
		"18: and of another repository does not matter": {[]client.Object{target("b", "bad", 0, through("b",
			"own")), gitProvider("b", "own", "https://git.example.org/b.git", malformed)}, target("a", "one", 1), ""},
		"18: of an older one of the branch it moves no owner": {[]client.Object{target("b", "bad", 0, through("b",
			"own")), gitProvider("b", "own", url, malformed)}, target("a", "one", 1), "error: GitTarget b/bad"},
		"an URL that cannot be read is nobody's repository": {[]client.Object{target("b", "bad", 0, through("b",
			"own")), gitProvider("b", "own", "::", nil)}, target("a", "one", 1), ""},
		"one's own object is no rival": {[]client.Object{target("a", "one", 1)}, target("a",
			"one", 1), ""},
		"a predecessor of the same name that is still deleting": {[]client.Object{target("a", "one", 0, deleted)},
			target("a", "one", 3, func(t *v1alpha3.GitTarget) { t.UID = "new" }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := reader(t, interceptor.Funcs{}, append(tt.others, shared.DeepCopy(), closed.DeepCopy(),
				kubeProvider(anybody))...)
			grant, err := r.Grant(t.Context(), tt.mine)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(grant.Refusal).To(BeZero())
			got, err := r.Conflict(t.Context(), tt.mine, grant, valid)
			switch {
			case len(tt.want) > 6 && tt.want[:6] == "error:":
				g.Expect(err).To(MatchError(ContainSubstring(tt.want[7:])))
				return
			case tt.want == "":
				g.Expect(got.Message).To(BeEmpty())
			default:
				g.Expect(got.Message).To(ContainSubstring(tt.want))
			}
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

func deleted(t *v1alpha3.GitTarget) {
	t.DeletionTimestamp, t.Finalizers = &metav1.Time{Time: time.Unix(2000, 0)}, []string{"example.org/somebody"}
}

func withBranches(p *v1alpha3.GitProvider, branches ...string) *v1alpha3.GitProvider {
	p.Spec.AllowedBranches = branches
	return p
}

func TestScenario29_AFailedListMovesNothing(t *testing.T) {
	g := NewWithT(t)
	away := errors.New("the API server is away")
	r := reader(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList,
		...client.ListOption) error {
		return away
	}},
		gitProvider("shop", "infra", "https://git.example.org/a.git", nil), kubeProvider(anybody))
	mine := target("shop", "live", 0)
	grant, err := r.Grant(t.Context(), mine)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = r.Conflict(t.Context(), mine, grant, valid)
	g.Expect(err).To(MatchError(away))
}

// TestDecision63_OwnershipSeesWhatTheSelectorHides: the older target and its GitProvider belong to another shard.
func TestDecision63_OwnershipSeesWhatTheSelectorHides(t *testing.T) {
	g := NewWithT(t)
	const url = "https://git.example.org/shop/live.git"
	ours := []client.Object{gitProvider("shop", "infra", url, nil), kubeProvider(anybody)}
	theirs := []client.Object{gitProvider("b", "own", url, nil), target("b", "old", 0, through("b", "own"))}
	r := reader(t, interceptor.Funcs{}, ours...)
	r.Unfiltered = reader(t, interceptor.Funcs{}, append(theirs, ours...)...).Client
	mine := target("shop", "live", 1)
	grant, err := r.Grant(t.Context(), mine)
	g.Expect(err).NotTo(HaveOccurred())
	conflict, err := r.Conflict(t.Context(), mine, grant, valid)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(conflict.Message).To(ContainSubstring("GitTarget b/old"))
}

func TestDestination(t *testing.T) {
	for _, tt := range []struct {
		branch, parent, path string
		reason, text         string
	}{
		{"main", "", "apps", "", ""},
		{"live/eu", "main", ".", "", ""},
		{"live/eu/west", "", "apps", v1alpha3.BranchNotAllowedReason, "main, live/*"},
		{"dev", "", "apps", v1alpha3.BranchNotAllowedReason, `"dev"`},
		{"main", "", "/apps", v1alpha3.InvalidConfigReason, "spec.path"},
		{"main", "", "a/../b", v1alpha3.InvalidConfigReason, "spec.path"},
		{"main", "a b", "apps", v1alpha3.InvalidConfigReason, "spec.parentBranch"},
		{"refs/heads/main", "", "apps", v1alpha3.InvalidConfigReason, "without refs/heads/"},
		{"HEAD", "", "apps", v1alpha3.InvalidConfigReason, "meaning of its own"},
		{"-main", "", "apps", v1alpha3.InvalidConfigReason, "dash"},
		{"a//b", "", "apps", v1alpha3.InvalidConfigReason, "empty segment"},
		{"a..b", "", "apps", v1alpha3.InvalidConfigReason, `".."`},
		{"a/.b", "", "apps", v1alpha3.InvalidConfigReason, "segment"},
		{"a.lock", "", "apps", v1alpha3.InvalidConfigReason, "segment"},
		{"a~b", "", "apps", v1alpha3.InvalidConfigReason, "one of"},
		{"a\x7fb", "", "apps", v1alpha3.InvalidConfigReason, "control character"},
	} {
		t.Run(tt.branch+" "+tt.path, func(t *testing.T) {
			g := NewWithT(t)
			got := Destination(target("shop", "live", 0, at(tt.path), func(t *v1alpha3.GitTarget) {
				t.Spec.Branch, t.Spec.ParentBranch = tt.branch, tt.parent
			}), gitProvider("shop", "infra", "https://git.example.org/a.git", nil))
			g.Expect(got.Reason).To(Equal(tt.reason), got.Message)
			g.Expect(got.Message).To(ContainSubstring(tt.text))
		})
	}
}

func TestCheckPatterns(t *testing.T) {
	g := NewWithT(t)
	g.Expect(CheckPatterns([]string{"main", "live/*", "v[0-9]"})).To(Succeed())
	g.Expect(CheckPatterns([]string{"main", "v[0-"})).To(MatchError(ContainSubstring(`"v[0-"`)))
}
