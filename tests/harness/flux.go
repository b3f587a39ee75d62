// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// FluxNamespace is where Flux's controllers believe they run.
const FluxNamespace = "flux-system"

const (
	sourceController    = "source-controller"
	kustomizeController = "kustomize-controller"
)

// InstallFlux applies the custom resources that source-controller and kustomize-controller serve, and makes their
// namespace. Both start all their reconcilers at once, so their resources must be there before them.
func (c *ControlPlane) InstallFlux(ctx context.Context) error {
	args := []string{"apply", "--server-side"}
	for _, name := range []string{sourceController, kustomizeController} {
		binary, err := Tool(name)
		if err != nil {
			return err
		}
		args = append(args, "-f", filepath.Join(filepath.Dir(binary), "crds", name)+string(filepath.Separator))
	}
	for _, args := range [][]string{
		args,
		{"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"},
	} {
		if _, err := c.Kubectl(ctx, "", args...); err != nil {
			return err
		}
	}
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + FluxNamespace + "\n"
	_, err := c.Kubectl(ctx, namespace, "apply", "--server-side", "-f", "-")
	return err
}

// StartSourceController runs Flux's source-controller against a control plane that InstallFlux prepared, with its
// artifacts in dir, and waits until it is ready.
func StartSourceController(cp *ControlPlane, dir string) (*Process, error) {
	return startFlux(cp, dir, sourceController, func(home, addr string) ([]string, error) {
		// The controller creates no folder for its artifacts.
		storage := filepath.Join(home, "artifacts")
		return []string{"--storage-path", storage, "--storage-addr", addr, "--storage-adv-addr", addr}, os.MkdirAll(storage, 0o700)
	})
}

// StartKustomizeController runs Flux's kustomize-controller against a control plane that InstallFlux prepared, and
// waits until it is ready. It decrypts with SOPS in process.
func StartKustomizeController(cp *ControlPlane, dir string) (*Process, error) {
	return startFlux(cp, dir, kustomizeController, func(string, string) ([]string, error) { return nil, nil })
}

// ownFlags gives the flags only one controller has; addr is free to listen on.
type ownFlags func(home, addr string) ([]string, error)

// startFlux starts one controller. A port can be taken between choosing and listening; another choice is another
// attempt.
func startFlux(cp *ControlPlane, dir, name string, own ownFlags) (*Process, error) {
	binary, err := Tool(name)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	for range 3 {
		var p *Process
		if p, err = startFluxOnce(cp, home, name, binary, own); !errors.Is(err, errEnded) {
			return p, err
		}
	}
	return nil, err
}

func startFluxOnce(cp *ControlPlane, home, name, binary string, own ownFlags) (*Process, error) {
	ports, err := FreePorts(3)
	if err != nil {
		return nil, err
	}
	addr := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	args, err := own(home, addr(0))
	if err != nil {
		return nil, err
	}
	args = append(args, "--metrics-addr", addr(1), "--health-addr", addr(2),
		"--events-addr=", "--requeue-dependency=2s", "--min-retry-delay=200ms", "--interval-jitter-percentage=0")
	env := baseEnv(home, "KUBECONFIG="+cp.Kubeconfig, "RUNTIME_NAMESPACE="+FluxNamespace, "TUF_ROOT="+filepath.Join(home, "tuf"))
	p, err := StartProcess(home, name, binary, args, env)
	if err != nil {
		return nil, err
	}
	if err := p.WaitReady(time.Minute, httpOK(http.DefaultClient, "http://"+addr(2)+"/readyz")); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}
