// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// adminToken authenticates the harness itself; the API server listens on the loopback only.
const adminToken = "harness-admin" //nolint:gosec // a fixture of a throw-away server

// ControlPlane is a running etcd and kube-apiserver.
type ControlPlane struct {
	// Dir is the private folder of both processes.
	Dir string
	// Kubeconfig is a file that authenticates as a member of system:masters, so impersonation works.
	Kubeconfig string
	// Config is the same for Go clients, without client-side rate limits.
	Config *rest.Config

	etcd, apiserver  *Process
	apiserverCommand []string
	kubectl          string
}

// StartControlPlane starts etcd and kube-apiserver in dir and waits until the API server is ready. extraArgs are
// appended to the API server's flags.
func StartControlPlane(dir string, extraArgs ...string) (*ControlPlane, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &ControlPlane{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	var err error
	if c.kubectl, err = Tool("kubectl"); err != nil {
		return nil, err
	}
	// A port can be taken between choosing and listening; another choice is another attempt.
	for range 3 {
		if err = c.start(extraArgs); err == nil {
			return c, nil
		}
		c.Stop()
	}
	return nil, err
}

func (c *ControlPlane) start(extraArgs []string) error {
	etcdBin, err := Tool("etcd")
	if err != nil {
		return err
	}
	apiBin, err := Tool("kube-apiserver")
	if err != nil {
		return err
	}
	ports, err := FreePorts(3)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.Dir, "etcd")); err != nil {
		return err
	}
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	c.etcd, err = StartProcess(c.Dir, "etcd", etcdBin, []string{
		"--data-dir", filepath.Join(c.Dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
		"--listen-peer-urls", peerURL, "--initial-advertise-peer-urls", peerURL,
		"--initial-cluster", "default=" + peerURL, "--log-level", "warn",
	}, baseEnv(c.Dir))
	if err != nil {
		return err
	}
	if err := c.etcd.WaitReady(time.Minute, httpOK(http.DefaultClient, etcdURL+"/health")); err != nil {
		return err
	}
	certs, err := writeCertificates(c.Dir)
	if err != nil {
		return err
	}
	tokens := filepath.Join(c.Dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(adminToken+",harness-admin,harness-admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	args := append([]string{
		"--etcd-servers", etcdURL, "--etcd-prefix", "/registry",
		"--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(ports[2]),
		"--tls-cert-file", certs.serving, "--tls-private-key-file", certs.servingKey,
		"--token-auth-file", tokens, "--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", certs.servingKey, "--service-account-signing-key-file", certs.servingKey,
		"--service-cluster-ip-range", "10.96.0.0/16",
		// No controller manager creates the service accounts that the plugin waits for.
		"--disable-admission-plugins", "ServiceAccount",
		"--allow-privileged", "--endpoint-reconciler-type", "none",
	}, extraArgs...)
	c.apiserverCommand = append([]string{apiBin}, args...)
	if err := c.writeKubeconfig(fmt.Sprintf("https://127.0.0.1:%d", ports[2]), certs.ca); err != nil {
		return err
	}
	return c.StartAPIServer()
}

// KillAPIServer ends the API server as a crash does. What it stored stays in etcd.
func (c *ControlPlane) KillAPIServer() { c.apiserver.Kill() }

// StartAPIServer runs the API server at its address and waits until it is ready.
func (c *ControlPlane) StartAPIServer() error {
	var err error
	if c.apiserver, err = StartProcess(c.Dir, "kube-apiserver", c.apiserverCommand[0], c.apiserverCommand[1:], baseEnv(c.Dir)); err != nil {
		return err
	}
	hc, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return err
	}
	if err := c.apiserver.WaitReady(2*time.Minute, httpOK(hc, c.Config.Host+"/readyz")); err != nil {
		return err
	}
	return c.apiserver.WaitReady(time.Minute, func(ctx context.Context) error {
		cs, err := kubernetes.NewForConfig(c.Config)
		if err != nil {
			return err
		}
		_, err = cs.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func (c *ControlPlane) writeKubeconfig(host string, ca []byte) error {
	kc := clientcmdapi.NewConfig()
	kc.Clusters["demo"] = &clientcmdapi.Cluster{Server: host, CertificateAuthorityData: ca}
	kc.Contexts["demo"] = &clientcmdapi.Context{Cluster: "demo", AuthInfo: "user"}
	kc.CurrentContext = "demo"
	for file, as := range map[string][]string{c.Kubeconfig: nil, c.operatorKubeconfig(): operatorIdentity} {
		user := &clientcmdapi.AuthInfo{Token: adminToken}
		if as != nil {
			user.Impersonate, user.ImpersonateGroups = as[0], as[1:]
		}
		kc.AuthInfos["user"] = user
		if err := clientcmd.WriteToFile(*kc, file); err != nil {
			return err
		}
	}
	c.Config = &rest.Config{Host: host, BearerToken: adminToken, TLSClientConfig: rest.TLSClientConfig{CAData: ca},
		QPS: -1}
	return nil
}

// OperatorNamespace is where config/default installs the operator.
const OperatorNamespace = "gitops-reverser-system"

// operatorIdentity is the service account of config/rbac with its groups: the operator under test has the permissions
// it is shipped with, and no others.
var operatorIdentity = []string{
	"system:serviceaccount:" + OperatorNamespace + ":gitops-reverser",
	"system:serviceaccounts", "system:serviceaccounts:" + OperatorNamespace, "system:authenticated",
}

func (c *ControlPlane) operatorKubeconfig() string {
	return filepath.Join(c.Dir, "kubeconfig-operator")
}

// InstallManager is the field manager of `make install` and `make deploy`.
const InstallManager = "gitops-reverser-install"

// Install applies config/crd and config/default as `make deploy` does.
func (c *ControlPlane) Install(ctx context.Context) error {
	root, err := ModuleRoot()
	if err != nil {
		return err
	}
	apply := []string{"apply", "--server-side", "--field-manager=" + InstallManager, "-k"}
	for _, args := range [][]string{
		append(slices.Clone(apply), filepath.Join(root, "config", "crd")),
		{"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"},
		append(slices.Clone(apply), filepath.Join(root, "config", "default")),
	} {
		if _, err := c.Kubectl(ctx, "", args...); err != nil {
			return err
		}
	}
	return nil
}

// As returns a client configuration that impersonates a user, so that managedFields and audit events name that user.
func (c *ControlPlane) As(user string, groups ...string) *rest.Config {
	cfg := rest.CopyConfig(c.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return cfg
}

// Kubectl runs kubectl against the control plane and returns both outputs joined.
func (c *ControlPlane) Kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.kubectl, args...)
	cmd.Env = baseEnv(c.Dir, "KUBECONFIG="+c.Kubeconfig)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Stop ends both processes.
func (c *ControlPlane) Stop() {
	// SIGKILL on purpose: nothing of a throw-away server needs a graceful end, and a graceful one waits for watches.
	if c.apiserver != nil {
		c.apiserver.Kill()
	}
	if c.etcd != nil {
		c.etcd.Kill()
	}
}

func httpOK(hc *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := hc.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, resp.Status)
		}
		return nil
	}
}
