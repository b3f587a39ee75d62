// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Command gitops-reverser writes live Kubernetes objects into the Git folders people own. Without a sub-command it is
// the controller.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/pkg/cache"
	"github.com/fluxcd/pkg/runtime/acl"
	"github.com/fluxcd/pkg/runtime/client"
	helper "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/events"
	feathelper "github.com/fluxcd/pkg/runtime/features"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/fluxcd/pkg/runtime/leaderelection"
	"github.com/fluxcd/pkg/runtime/logger"
	runtimemetrics "github.com/fluxcd/pkg/runtime/metrics"
	"github.com/fluxcd/pkg/runtime/pprof"
	"github.com/fluxcd/pkg/runtime/probes"
	flag "github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcluster "sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch"
	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cli"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/controller/providers"
	"github.com/configbutler/gitops-reverser/internal/controller/targets"
	"github.com/configbutler/gitops-reverser/internal/controller/watchrules"
	"github.com/configbutler/gitops-reverser/internal/features"
	"github.com/configbutler/gitops-reverser/internal/gitauth"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/mailbox"
	"github.com/configbutler/gitops-reverser/internal/metrics"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/state"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

const controllerName = lifecycle.ControllerName

// version is set by the linker.
var version = "dev"

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha3.AddToScheme(scheme))
}

func main() {
	if cli.IsCommand(os.Args) {
		os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	var o options
	o.bind(flag.CommandLine)
	showVersion := flag.Bool("version", false, "Print the version and exit.")
	flag.Parse()
	if *showVersion {
		fmt.Println(controllerName, version)
		return
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: unknown command %q; `%s help` lists the commands\n", controllerName, flag.Arg(0),
			controllerName)
		os.Exit(2)
	}
	logger.SetLogger(logger.NewLogger(o.log))
	if err := run(ctrl.SetupSignalHandler(), &o); err != nil {
		setupLog.Error(err, "the operator ends")
		os.Exit(1)
	}
}

// options are the flags. docs/README.md explains each; a test compares both.
type options struct {
	eventsAddr, metricsAddr, healthAddr, storagePath string
	concurrent                                       int
	shutdownGrace                                    time.Duration

	git           providers.GitOptions
	refresh       time.Duration
	gitTimeout    time.Duration
	bufferMaxSize string
	buffer        int64
	sensitive     []string
	sourceQPS     float32
	sourceBurst   int
	maxStreams    int
	tokens        cache.TokenFlags
	redis         state.Options

	acl        acl.Options
	client     client.Options
	kubeConfig client.KubeConfigOptions
	gates      feathelper.FeatureGates
	interval   jitter.IntervalOptions
	leader     leaderelection.Options
	log        logger.Options
	rate       helper.RateLimiterOptions
	watch      helper.WatchOptions
}

// bind declares the flags.
func (o *options) bind(fs *flag.FlagSet) {
	fs.StringVar(&o.eventsAddr, "events-addr", "", "The address of the events receiver (notification-controller).")
	fs.StringVar(&o.metricsAddr, "metrics-addr", ":8080", "The address the metrics endpoint binds to.")
	fs.StringVar(&o.healthAddr, "health-addr", ":9440", "The address the health endpoint binds to.")
	fs.StringVar(&o.storagePath, "storage-path", "/data", "The folder for the object stores of branches. It is a cache.")
	fs.IntVar(&o.concurrent, "concurrent", 4, "The number of concurrent reconciles per controller.")
	fs.DurationVar(&o.shutdownGrace, "shutdown-grace", 30*time.Second,
		"How long a stopping operator may finish its publications.")
	fs.DurationVar(&o.refresh, "git-refresh-interval", 10*time.Minute,
		"How long a branch may stay unproved before its GitTargets' interval looks at it; 0 turns it off.")
	fs.DurationVar(&o.gitTimeout, "git-timeout", 2*time.Minute, "How long one call to a Git server may take.")
	fs.StringVar(&o.bufferMaxSize, "branch-buffer-max-size", "8Mi",
		"The bytes a branch accepts while its remote cannot be reached.")
	fs.StringSliceVar(&o.sensitive, "additional-sensitive-resources", nil,
		"Types encrypted besides Secrets: resource or group/resource, in any version.")
	fs.StringVar(&o.git.DefaultKnownHosts, "default-known-hosts-configmap", "",
		"A ConfigMap in the operator's namespace with SSH host keys for GitProviders that name none.")
	fs.BoolVar(&o.git.AllowMissingKnownHosts, "insecure-allow-missing-known-hosts", false,
		"Accept any SSH host key when no source of host keys exists.")
	fs.BoolVar(&o.git.AllowInsecureHTTP, "insecure-allow-git-http", false, "Allow credentials over plain HTTP.")
	fs.StringSliceVar(&o.git.HostKeyAlgorithms, "ssh-hostkey-algos", nil,
		"The SSH host key algorithms to accept, in order of preference.")
	fs.StringSliceVar(&o.git.KexAlgorithms, "ssh-kex-algos", nil,
		"The SSH key exchange algorithms to use, in order of preference.")
	fs.Float32Var(&o.sourceQPS, "source-api-qps", cluster.DefaultQPS,
		"The rate of opened streams and lists per source cluster.")
	fs.IntVar(&o.sourceBurst, "source-api-burst", cluster.DefaultBurst,
		"The burst of opened streams and lists per source cluster.")
	fs.IntVar(&o.maxStreams, "max-streams-per-target", watch.DefaultMaxStreams,
		"The number of streams one GitTarget may hold.")
	o.tokens.BindFlags(fs, 100)
	o.redis.BindFlags(fs)
	o.redis.Password = os.Getenv(state.PasswordEnv)
	o.acl.BindFlags(fs)
	o.client.BindFlags(fs)
	o.kubeConfig.BindFlags(fs)
	o.gates.BindFlags(fs)
	o.interval.BindFlags(fs)
	o.leader.BindFlags(fs)
	o.log.BindFlags(fs)
	o.rate.BindFlags(fs)
	o.watch.BindFlags(fs)
	o.git.OperatorNamespace = os.Getenv(helper.EnvRuntimeNamespace)
	if o.git.OperatorNamespace == "" {
		o.git.OperatorNamespace = "gitops-reverser-system"
	}
}

// validate refuses values that could only fail later.
func (o *options) validate() error {
	var errs []error
	q, err := resource.ParseQuantity(o.bufferMaxSize)
	if err != nil || q.Value() <= 0 {
		errs = append(errs, fmt.Errorf("--branch-buffer-max-size %q: write a size above zero, such as 8Mi", o.bufferMaxSize))
	}
	o.buffer = q.Value()
	if err := targets.CheckSensitiveResources(o.sensitive); err != nil {
		errs = append(errs, fmt.Errorf("--additional-sensitive-resources: %w", err))
	}
	if err := gitauth.CheckAlgorithms(o.git.HostKeyAlgorithms, o.git.KexAlgorithms); err != nil {
		errs = append(errs, err)
	}
	if err := o.redis.Validate(); err != nil {
		errs = append(errs, err)
	}
	if o.concurrent < 1 || o.maxStreams < 1 || o.sourceQPS <= 0 || o.sourceBurst < 1 {
		errs = append(errs, errors.New("--concurrent, --max-streams-per-target, --source-api-qps and --source-api-burst must be above zero"))
	}
	if o.gitTimeout <= 0 {
		errs = append(errs, errors.New("--git-timeout must be above zero"))
	}
	if o.refresh < 0 {
		errs = append(errs, errors.New("--git-refresh-interval must not be negative"))
	}
	if err := os.MkdirAll(o.storagePath, 0o700); err != nil {
		errs = append(errs, fmt.Errorf("--storage-path: %w", err))
	}
	return errors.Join(errs...)
}

// run wires the operator in the order in which data flows: sources, watch, branches, controllers.
func run(ctx context.Context, o *options) error {
	if err := o.validate(); err != nil {
		return err
	}
	if err := o.gates.WithLogger(setupLog).SupportedFeatures(features.FeatureGates()); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	if err := o.interval.SetGlobalJitter(lifecycle.Random()); err != nil {
		return fmt.Errorf("--interval-jitter-percentage: %w", err)
	}
	mgr, err := newManager(o)
	if err != nil {
		return err
	}
	probes.SetupChecks(mgr, setupLog)
	recorder, err := events.NewRecorder(ctrl.Log, o.eventsAddr, controllerName, events.WithManager(mgr))
	if err != nil {
		return fmt.Errorf("--events-addr: %w", err)
	}
	if err := wire(mgr, o, recorder); err != nil {
		return err
	}
	setupLog.Info("starting", "version", version)
	return mgr.Start(ctx)
}

func newManager(o *options) (ctrl.Manager, error) {
	selector, err := helper.GetWatchSelector(o.watch)
	if err != nil {
		return nil, fmt.Errorf("--watch-label-selector: %w", err)
	}
	byObject := map[ctrlclient.Object]ctrlcache.ByObject{}
	for _, kind := range []ctrlclient.Object{&v1alpha3.GitProvider{}, &v1alpha3.KubeProvider{},
		&v1alpha3.GitTarget{}, &v1alpha3.WatchRule{}} {
		byObject[kind] = ctrlcache.ByObject{Label: selector}
	}
	cacheOptions := ctrlcache.Options{ByObject: byObject, DefaultNamespaces: o.namespaces()}
	mgr, err := ctrl.NewManager(client.GetConfigOrDie(o.client), ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddr, ExtraHandlers: pprof.GetHandlers()},
		HealthProbeBindAddress:        o.healthAddr,
		LeaderElection:                o.leader.Enable,
		LeaderElectionReleaseOnCancel: o.leader.ReleaseOnCancel,
		LeaseDuration:                 &o.leader.LeaseDuration,
		RenewDeadline:                 &o.leader.RenewDeadline,
		RetryPeriod:                   &o.leader.RetryPeriod,
		LeaderElectionID:              leaderelection.GenerateID(controllerName, o.watch.LabelSelector),
		LeaderElectionNamespace:       o.git.OperatorNamespace,
		Logger:                        ctrl.Log,
		GracefulShutdownTimeout:       &o.shutdownGrace,
		Cache:                         cacheOptions,
		// Secrets and ConfigMaps are read by name and never cached: no Secret stays in memory.
		Client: ctrlclient.Options{Cache: &ctrlclient.CacheOptions{DisableFor: []ctrlclient.Object{&corev1.Secret{},
			&corev1.ConfigMap{}}}},
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	return mgr, nil
}

// everything reads the objects that ownership is decided from, whatever the watch selector leaves out. With a selector
// that is a second cache: a pass makes no request for it.
func everything(mgr ctrl.Manager, o *options) (ctrlclient.Reader, error) {
	if o.watch.LabelSelector == "" {
		return mgr.GetClient(), nil
	}
	all, err := ctrlcluster.New(mgr.GetConfig(), func(c *ctrlcluster.Options) {
		c.Scheme, c.HTTPClient, c.Logger = scheme, mgr.GetHTTPClient(), ctrl.Log
		c.Cache = ctrlcache.Options{DefaultNamespaces: o.namespaces()}
	})
	if err != nil {
		return nil, fmt.Errorf("cache for ownership: %w", err)
	}
	return all.GetCache(), mgr.Add(all)
}

// namespaces are those that are watched; nil for all of them.
func (o *options) namespaces() map[string]ctrlcache.Config {
	if o.watch.AllNamespaces {
		return nil
	}
	return map[string]ctrlcache.Config{o.git.OperatorNamespace: {}}
}

// wire creates the stages in flow order and joins them. The mailboxes are the only edges that point backwards.
func wire(mgr ctrl.Manager, o *options, recorder events.Recorder) error {
	collectors := metrics.New(ctrlmetrics.Registry)
	// Streams show on GitTargets and on the rules that feed them, branches on GitTargets only.
	dirty, branchDirty := mailbox.New[change.TargetKey](), mailbox.New[change.TargetKey]()
	requests := mailbox.New[watch.SnapshotRequest]()
	store := rules.NewStore()
	warnings := lifecycle.NewWarnings(recorder)

	sources := cluster.NewSources(cluster.Options{
		Log: ctrl.Log.WithName("cluster"), QPS: o.sourceQPS, Burst: o.sourceBurst, UserAgent: controllerName + "/" + version,
		Recorder: metrics.WatchRecorder{Metrics: collectors},
	})
	watches := watch.NewManager(watch.Options{
		Sources: sources, Planner: watchrules.Planner{Store: store}, Dirty: dirty, Requests: requests,
		Recorder: metrics.WatchRecorder{Metrics: collectors}, MaxStreams: o.maxStreams, Log: ctrl.Log.WithName("watch"),
	})
	hosts := gitstore.NewHosts()
	branches := branch.NewManager(branch.Options{
		StoragePath: o.storagePath, Grace: o.shutdownGrace * 2 / 3, Log: ctrl.Log.WithName("branch"), Metrics: collectors,
		Machine: core.Config{BufferMax: o.buffer, RefreshInterval: o.refresh, CallDeadline: o.gitTimeout},
		Dirty:   branchDirty, Requests: requests,
		Warn: warnings.OfTarget, Hosts: hosts,
	})
	metrics.RegisterState(ctrlmetrics.Registry, branches)

	unfiltered, err := everything(mgr, o)
	if err != nil {
		return err
	}
	gate := &access.Reader{Client: mgr.GetClient(), Unfiltered: unfiltered,
		NoCrossNamespaceRefs: o.acl.NoCrossNamespaceRefs}
	durations := helper.NewMetrics(mgr, runtimemetrics.MustMakeRecorder())
	runner := func() *lifecycle.Runner {
		return &lifecycle.Runner{Client: mgr.GetClient(), Recorder: recorder, Metrics: collectors, Durations: durations}
	}
	tokens, err := cache.NewTokenCache(o.tokens.MaxSize, cache.WithMaxDuration(o.tokens.MaxDuration),
		cache.WithMetricsRegisterer(ctrlmetrics.Registry), cache.WithMetricsPrefix("gotk_token_"))
	if err != nil {
		return fmt.Errorf("token cache: %w", err)
	}
	git := &providers.Git{
		GitOptions: o.git, Cached: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Writer: mgr.GetClient(), Tokens: tokens, Hosts: hosts,
	}
	encryptions := targets.EncryptionOptions{Secrets: mgr.GetAPIReader(), Writer: mgr.GetClient(), Additional: o.sensitive,
		OperatorNamespace: o.git.OperatorNamespace}
	if o.redis.Addr != "" {
		encryptions.Digests = state.Connect(o.redis).Digests()
	}
	toTargets, toRules := make(chan reconcile.Request), make(chan reconcile.Request)
	keys := targets.NewKeys()
	ruleReconciler := &watchrules.Reconciler{
		Runner: runner(), Access: gate, Store: store, Sources: sources, Watch: watches, Targets: keys, Dirty: toRules,
		Changed: dirty.Post,
		Namespaces: func(source string) rules.Namespaces {
			s, ok := sources.Get(source)
			if !ok {
				return nil
			}
			return s.Namespaces()
		},
	}
	for _, r := range []interface {
		SetupWithManager(ctrl.Manager, controller.Options) error
	}{
		&providers.KubeProviderReconciler{
			Runner: runner(), Secrets: mgr.GetAPIReader(), Sources: sources, Local: mgr.GetConfig(), OperatorNamespace: o.git.OperatorNamespace,
			KubeConfig: providers.KubeConfigOptions{Exec: o.kubeConfig.InsecureExecProvider,
				InsecureTLS: o.kubeConfig.InsecureTLS},
		},
		&providers.GitProviderReconciler{Runner: runner(), Git: git},
		&targets.Reconciler{
			Runner: runner(), Access: gate, Sources: sources, Watch: watches, Branches: branches, Git: git, Keys: keys, Rules: store, Dirty: toTargets,
			Encrypter: targets.NewEncryptions(encryptions),
		},
		ruleReconciler,
	} {
		options := controller.Options{MaxConcurrentReconciles: o.concurrent, RateLimiter: helper.GetRateLimiter(o.rate)}
		if err := r.SetupWithManager(mgr, options); err != nil {
			return err
		}
	}
	for _, r := range []manager.Runnable{
		manager.RunnableFunc(ruleReconciler.Load), manager.RunnableFunc(watches.Start), manager.RunnableFunc(branches.Start),
		manager.RunnableFunc(warnings.Start),
		manager.RunnableFunc(func(ctx context.Context) error { fan(ctx, dirty, toTargets, toRules); return nil }),
		manager.RunnableFunc(func(ctx context.Context) error { fan(ctx, branchDirty, toTargets); return nil }),
	} {
		if err := mgr.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// statusDelay is how long changes of a target's status are gathered before its objects are looked at again.
const statusDelay = 200 * time.Millisecond

// fan tells controllers about targets whose data plane changed.
func fan(ctx context.Context, dirty *mailbox.Mailbox[change.TargetKey], to ...chan<- reconcile.Request) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-dirty.Wake():
		}
		// One commit changes a status several times within milliseconds; one pass shows them all.
		gather := time.NewTimer(statusDelay)
		select {
		case <-ctx.Done():
			gather.Stop()
			return
		case <-gather.C:
		}
		for _, k := range dirty.Take() {
			req := reconcile.Request{}
			req.Namespace, req.Name = k.Namespace, k.Name
			for _, c := range to {
				select {
				case c <- req:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}
