// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Operator is a running gitops-reverser process.
type Operator struct {
	*Process
	// MetricsURL and HealthURL are the base addresses of its servers.
	MetricsURL, HealthURL string
	// StorageDir is its --storage-path; it survives the process.
	StorageDir string
}

// StartOperator runs the built binary against a control plane and waits until it is ready.
func StartOperator(cp *ControlPlane, dir string, extraArgs ...string) (*Operator, error) {
	binary, err := Manager()
	if err != nil {
		return nil, err
	}
	o := &Operator{StorageDir: filepath.Join(dir, "storage")}
	if err := os.MkdirAll(o.StorageDir, 0o700); err != nil {
		return nil, err
	}
	// A port can be taken between choosing and listening; another choice is another attempt.
	for range 3 {
		if err = o.start(cp, dir, binary, extraArgs); err == nil || !o.portTaken() {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (o *Operator) start(cp *ControlPlane, dir, binary string, extraArgs []string) error {
	ports, err := FreePorts(2)
	if err != nil {
		return err
	}
	metrics, health := fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	o.MetricsURL, o.HealthURL = "http://"+metrics, "http://"+health
	args := append([]string{
		"--storage-path", o.StorageDir, "--metrics-addr", metrics, "--health-addr", health, "--log-level", "debug",
	}, extraArgs...)
	env := baseEnv(dir, "KUBECONFIG="+cp.operatorKubeconfig(), "RUNTIME_NAMESPACE="+OperatorNamespace)
	if o.Process, err = StartProcess(dir, "operator", binary, args, env); err != nil {
		return err
	}
	if err := o.WaitReady(time.Minute, httpOK(http.DefaultClient, o.HealthURL+"/readyz")); err != nil {
		o.Kill()
		return err
	}
	return nil
}

// Metrics returns the text of the metrics endpoint.
func (o *Operator) Metrics(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.MetricsURL+"/metrics", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}
