// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"time"
)

// StartRedis runs redis-server without persistence and returns its address.
func StartRedis(dir string) (*Process, string, error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, "", err
	}
	port, err := FreePort()
	if err != nil {
		return nil, "", err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	p, err := StartProcess(dir, "redis", binary, []string{
		"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
	}, baseEnv(dir))
	if err != nil {
		return nil, "", err
	}
	err = p.WaitReady(20*time.Second, func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		p.Kill()
		return nil, "", err
	}
	return p, addr, nil
}
