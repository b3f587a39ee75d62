// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// SSH runs a service in one SSH session; talk speaks with it. Closing in tells the service that no more comes. The
// deadline and the context close the connection, so that a stalled server cannot hold the caller.
func (s *Session) SSH(ctx context.Context, service string, talk func(in io.WriteCloser, out io.Reader) error) error {
	return s.run(ctx, func(ctx context.Context, x *traffic) error {
		x.trips++
		conn, err := s.dial(ctx)
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		defer stop()
		client, err := s.handshake(conn)
		if err != nil {
			_ = conn.Close()
			return err
		}
		defer client.Close()
		return s.session(client, x, service, talk)
	})
}

// handshake authenticates both sides.
func (s *Session) handshake(conn net.Conn) (*ssh.Client, error) {
	var hostKeyErr error
	check := s.cred.HostKeyCallback
	if check == nil {
		return nil, &Error{Kind: HostKey, Text: "no known hosts are configured, so the server's identity cannot be checked"}
	}
	config := &ssh.ClientConfig{
		User: s.user(),
		HostKeyCallback: func(host string, remote net.Addr, key ssh.PublicKey) error {
			hostKeyErr = check(host, remote, key)
			return hostKeyErr
		},
		HostKeyAlgorithms: s.cred.HostKeyAlgorithms,
		ClientVersion:     "SSH-2.0-gitops-reverser",
		Config:            ssh.Config{KeyExchanges: s.cred.KexAlgorithms},
		Timeout:           30 * time.Second,
	}
	if s.cred.SSHSigner != nil {
		config.Auth = append(config.Auth, ssh.PublicKeys(s.cred.SSHSigner))
	} else if s.cred.Password != "" {
		config.Auth = append(config.Auth, ssh.Password(s.cred.Password))
	}
	c, chans, reqs, err := ssh.NewClientConn(conn, s.c.loc.address(), config)
	if err == nil {
		return ssh.NewClient(c, chans, reqs), nil
	}
	var algorithms *ssh.AlgorithmNegotiationError
	switch {
	case hostKeyErr != nil:
		return nil, &Error{Kind: HostKey, Text: hostKeyErr.Error(), Err: hostKeyErr}
	case errors.As(err, &algorithms) && strings.Contains(err.Error(), "host key"):
		text := "the server has no host key of a type that the known hosts list: offered " +
			strings.Join(algorithms.RequestedAlgorithms, ", ") + "; known " + strings.Join(algorithms.SupportedAlgorithms, ", ")
		return nil, &Error{Kind: HostKey, Text: text, Err: err}
	case errors.As(err, &algorithms):
		text := "client and server share no algorithm of one kind: offered " + strings.Join(algorithms.RequestedAlgorithms, ", ") +
			"; supported " + strings.Join(algorithms.SupportedAlgorithms, ", ") + "; --ssh-kex-algos chooses key exchanges"
		return nil, &Error{Kind: Connection, Text: text, Err: err}
	case strings.Contains(err.Error(), "unable to authenticate"):
		return nil, &Error{Kind: Auth, Text: "the server refused the SSH key or password of user " + s.user(), Err: err}
	}
	return nil, err
}

func (s *Session) user() string {
	for _, u := range []string{s.cred.SSHUser, s.c.loc.User} {
		if u != "" {
			return u
		}
	}
	return "git"
}

func (s *Session) session(
	client *ssh.Client, x *traffic, service string, talk func(io.WriteCloser, io.Reader) error,
) error {
	session, err := client.NewSession()
	if err != nil {
		return err
	}
	defer session.Close()
	in, err := session.StdinPipe()
	if err != nil {
		return err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return err
	}
	said := &boundedBuffer{}
	session.Stderr = said
	if service == UploadPack {
		// Asks for version 2 as git does; a server that does not pass it on answers in version 0.
		env := ssh.Marshal(struct{ Name, Value string }{"GIT_PROTOCOL", "version=2"})
		if _, err := session.SendRequest("env", false, env); err != nil {
			return err
		}
	}
	path := s.c.loc.Path
	if strings.HasPrefix(path, "/~") { // ssh://host/~user/x means ~user/x, as for Git
		path = path[1:]
	}
	if err := session.Start(service + " " + quote(path)); err != nil {
		return err
	}
	w := &countWriter{w: in, n: &x.sent}
	err = talk(w, &countReader{r: out, n: &x.received})
	x.whole.Store(w.closed)
	if err == nil {
		return nil
	}
	_ = in.Close()
	if text := s.ended(session, said); text != "" && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		return &Error{Kind: kindOfText(text), Text: text, Err: err}
	}
	return err
}

// ended waits a moment for the rest of the server's words after its output ended.
func (s *Session) ended(session *ssh.Session, said *boundedBuffer) string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = session.Wait()
	}()
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
	return s.Clean(said.String())
}

// quote makes one shell word of a path, as Git does.
func quote(p string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(p) + "'"
}

// countWriter counts what is written and remembers that the input was ended.
type countWriter struct {
	w      io.WriteCloser
	n      *atomic.Int64
	closed bool
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// Close implements io.Closer. A peer that has gone already has read everything it wanted.
func (c *countWriter) Close() error {
	c.closed = true
	if err := c.w.Close(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// boundedBuffer keeps the first bytes of what is written; the SSH library writes from its own goroutine.
type boundedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := 4*MaxText - b.b.Len(); room > 0 {
		b.b.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (b *boundedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
