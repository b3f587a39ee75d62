// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuTime is the user and system time a process has used. The scheduler's own count is exact; where the kernel does
// not keep it, the clock ticks of /proc/PID/stat are used.
func cpuTime(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		f := strings.Fields(string(b))
		if len(f) == 0 {
			continue
		}
		ns, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		sum += time.Duration(ns)
	}
	if sum > 0 {
		return sum, nil
	}
	return ticks(pid)
}

// ticks reads utime and stime; Linux counts them in hundredths of a second for every program.
func ticks(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f))
	}
	var sum int64
	for _, t := range f[11:13] {
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond, nil
}

// anonymous is the resident anonymous memory of a process in bytes: what it allocated, without the pages of its binary.
func anonymous(pid int) (int64, error) {
	name := fmt.Sprintf("/proc/%d/status", pid)
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "RssAnon:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no RssAnon", name)
}

// peak samples the anonymous memory of a process until stop is called, which returns the highest sample.
func peak(pid int) (stop func() int64) {
	end, done := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		var highest int64
		for {
			if n, err := anonymous(pid); err == nil {
				highest = max(highest, n)
			}
			select {
			case <-tick.C:
			case <-end:
				done <- highest
				return
			}
		}
	}()
	return func() int64 { close(end); return <-done }
}
