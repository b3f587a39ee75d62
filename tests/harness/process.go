// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Process is one started part.
type Process struct {
	// Name is used in messages and as the name of the log file.
	Name string
	// LogFile holds what the process printed.
	LogFile string

	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// StartProcess runs a command with its output in dir/<name>.log. The environment is exactly env.
func StartProcess(dir, name, binary string, args, env []string) (*Process, error) {
	p := &Process{Name: name, LogFile: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(binary, args...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env, p.cmd.Dir = log, log, env, dir
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Err returns how the process ended; nil while it runs.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Stop asks the process to end and kills it when it has not after the grace.
func (p *Process) Stop(grace time.Duration) {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
		p.Kill()
	}
}

// Kill ends the process with SIGKILL and waits for it.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Tail returns the last lines of the log.
func (p *Process) Tail(lines int) string {
	b, err := os.ReadFile(p.LogFile)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// errEnded reports that a process ended while it was waited for.
var errEnded = errors.New("process ended early")

// WaitReady polls check until it succeeds, the process ends or the time is over.
func (p *Process) WaitReady(timeout time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		if last = check(ctx); last == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s: %w: %v\n%s", p.Name, errEnded, p.err, p.Tail(15))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w\n%s", p.Name, timeout, last, p.Tail(15))
		case <-tick.C:
		}
	}
}

// FreePorts returns n different loopback ports nobody listens on right now.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		// Held until all are chosen, so that none is chosen twice.
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// FreePort returns a loopback port nobody listens on right now.
func FreePort() (int, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// portTaken reports a process that ended because another one got its port between choosing and listening.
func (p *Process) portTaken() bool { return strings.Contains(p.Tail(30), "address already in use") }

// baseEnv is a small environment without the caller's configuration.
func baseEnv(home string, extra ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}, extra...)
}
