// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// SSHOptions configure an SSH server over the same repositories.
type SSHOptions struct {
	// HostKeys are the key types offered, of ed25519, ecdsa and rsa; default ed25519.
	HostKeys []string
	// AuthorizedKey is the only accepted client key; nil accepts every key.
	AuthorizedKey ssh.PublicKey
	// Password is accepted when set.
	Password string
	// V0Only passes no protocol version on, as servers do that accept no environment.
	V0Only bool
}

// SSHServer runs git-upload-pack and git-receive-pack for SSH clients.
type SSHServer struct {
	addr string
	dir  string
	keys []ssh.Signer
	l    net.Listener
	done chan struct{}
	// v0Only refuses the environment.
	v0Only bool

	mu       sync.Mutex
	stall    SSHStall
	commands []string
	conns    map[net.Conn]struct{}
}

// SSHStall says where the server stops answering.
type SSHStall string

// The places an SSH server can stall at.
const (
	NoStall SSHStall = ""
	// StallAccept accepts the TCP connection and says nothing.
	StallAccept SSHStall = "accept"
	// StallExec accepts the command and runs nothing.
	StallExec SSHStall = "exec"
	// StallReply runs the command to its end, so that the ref moves, and keeps its output back after the advertisement.
	StallReply SSHStall = "reply"
	// LoseReply runs the command and closes the connection in place of the report.
	LoseReply SSHStall = "lose"
)

// ServeSSH starts an SSH server on a free loopback port; the Server's Close ends it.
func (s *Server) ServeSSH(o SSHOptions) (*SSHServer, error) {
	x := &SSHServer{dir: s.dir, v0Only: o.V0Only, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if o.AuthorizedKey != nil && string(o.AuthorizedKey.Marshal()) != string(k.Marshal()) {
				return nil, errors.New("unknown key")
			}
			return &ssh.Permissions{}, nil
		},
	}
	if o.Password != "" {
		config.PasswordCallback = func(_ ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
			if !equal(string(p), o.Password) {
				return nil, errors.New("wrong password")
			}
			return &ssh.Permissions{}, nil
		}
	}
	types := o.HostKeys
	if len(types) == 0 {
		types = []string{"ed25519"}
	}
	for _, t := range types {
		k, err := NewSSHKey(t)
		if err != nil {
			return nil, err
		}
		x.keys = append(x.keys, k)
		config.AddHostKey(k)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	x.l, x.addr = l, l.Addr().String()
	s.mu.Lock()
	s.ssh = append(s.ssh, x)
	s.mu.Unlock()
	go x.accept(config)
	return x, nil
}

// NewSSHKey makes a key of type ed25519, ecdsa or rsa.
func NewSSHKey(kind string) (ssh.Signer, error) {
	var k crypto.Signer
	var err error
	switch kind {
	case "ed25519":
		_, k, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		k, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		k, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		err = fmt.Errorf("unknown key type %q", kind)
	}
	if err != nil {
		return nil, err
	}
	return ssh.NewSignerFromSigner(k)
}

// Addr is the listen address, host:port.
func (x *SSHServer) Addr() string { return x.addr }

// URL is the ssh:// address of a repository.
func (x *SSHServer) URL(repo string) string { return "ssh://git@" + x.addr + "/" + repo + ".git" }

// HostKeys are the public host keys in the order of SSHOptions.HostKeys.
func (x *SSHServer) HostKeys() []ssh.PublicKey {
	var ks []ssh.PublicKey
	for _, k := range x.keys {
		ks = append(ks, k.PublicKey())
	}
	return ks
}

// KnownHosts is a known_hosts file that lists the keys of the given types, all when none is given.
func (x *SSHServer) KnownHosts(types ...string) string {
	var b strings.Builder
	host, port, _ := net.SplitHostPort(x.addr)
	for _, k := range x.HostKeys() {
		if len(types) > 0 && !containsAny(k.Type(), types) {
			continue
		}
		fmt.Fprintf(&b, "[%s]:%s %s %s\n", host, port, k.Type(), base64.StdEncoding.EncodeToString(k.Marshal()))
	}
	return b.String()
}

func containsAny(s string, subs []string) bool {
	for _, t := range subs {
		if strings.Contains(s, t) {
			return true
		}
	}
	return false
}

// SetStall makes the server stop answering at a place; NoStall ends it for new connections.
func (x *SSHServer) SetStall(at SSHStall) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stall = at
}

// Commands returns the commands clients asked for.
func (x *SSHServer) Commands() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string(nil), x.commands...)
}

// Close ends the server and its connections.
func (x *SSHServer) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case <-x.done:
		return
	default:
	}
	close(x.done)
	_ = x.l.Close()
	for c := range x.conns {
		_ = c.Close()
	}
}

func (x *SSHServer) accept(config *ssh.ServerConfig) {
	for {
		c, err := x.l.Accept()
		if err != nil {
			return
		}
		x.mu.Lock()
		x.conns[c] = struct{}{}
		stall := x.stall
		x.mu.Unlock()
		go func() {
			defer func() {
				_ = c.Close()
				x.mu.Lock()
				delete(x.conns, c)
				x.mu.Unlock()
			}()
			if stall == StallAccept {
				<-x.done
				return
			}
			x.handle(c, config, stall)
		}()
	}
}

func (x *SSHServer) handle(c net.Conn, config *ssh.ServerConfig, stall SSHStall) {
	_, chans, reqs, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(reqs)
	for nc := range chans {
		if nc.ChannelType() != "session" {
			_ = nc.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		ch, reqs, err := nc.Accept()
		if err != nil {
			return
		}
		go x.session(c, ch, reqs, stall)
	}
}

func (x *SSHServer) session(c net.Conn, ch ssh.Channel, reqs <-chan *ssh.Request, stall SSHStall) {
	defer ch.Close()
	protocol := ""
	for r := range reqs {
		if r.Type == "env" && !x.v0Only {
			var v struct{ Name, Value string }
			if ssh.Unmarshal(r.Payload, &v) == nil && v.Name == "GIT_PROTOCOL" {
				protocol = v.Value
			}
		}
		if r.Type != "exec" {
			_ = r.Reply(r.Type == "env" && !x.v0Only, nil)
			continue
		}
		var p struct{ Command string }
		if err := ssh.Unmarshal(r.Payload, &p); err != nil {
			_ = r.Reply(false, nil)
			return
		}
		_ = r.Reply(true, nil)
		x.mu.Lock()
		x.commands = append(x.commands, p.Command)
		x.mu.Unlock()
		if stall == StallExec {
			<-x.done
			return
		}
		code := x.run(c, ch, p.Command, protocol, stall)
		_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{code}))
		return
	}
}

// run executes one git service in the folder of the repositories.
func (x *SSHServer) run(c net.Conn, ch ssh.Channel, command, protocol string, stall SSHStall) uint32 {
	name, arg, _ := strings.Cut(command, " ")
	arg = strings.TrimPrefix(strings.Trim(arg, "'"), "/")
	if name != "git-upload-pack" && name != "git-receive-pack" {
		fmt.Fprintf(ch.Stderr(), "unknown command %q\n", name)
		return 127
	}
	cmd := exec.Command("git", strings.TrimPrefix(name, "git-"), filepath.Join(x.dir, arg))
	cmd.Env = append(Env(x.dir), "GIT_PROTOCOL="+protocol)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	var out io.Writer = ch
	if name == "git-receive-pack" && (stall == StallReply || stall == LoseReply) {
		out = &advertOnly{w: ch}
	}
	cmd.Stdout, cmd.Stderr = out, ch.Stderr()
	if err := cmd.Start(); err != nil {
		return 1
	}
	go func() {
		_, _ = io.Copy(stdin, ch)
		_ = stdin.Close()
	}()
	err = cmd.Wait()
	switch {
	case stall == StallReply:
		<-x.done
	case stall == LoseReply:
		_ = c.SetDeadline(time.Unix(1, 0))
		_ = c.Close()
	case err != nil:
		return 128
	}
	return 0
}

// advertOnly lets the advertisement through, up to its flush packet, and drops the rest.
type advertOnly struct {
	w    io.Writer
	buf  []byte
	done bool
}

func (a *advertOnly) Write(p []byte) (int, error) {
	a.buf = append(a.buf, p...)
	for !a.done && len(a.buf) >= 4 {
		n, err := strconv.ParseUint(string(a.buf[:4]), 16, 16)
		if err != nil {
			return 0, err
		}
		a.done = n == 0
		n = max(n, 4)
		if uint64(len(a.buf)) < n {
			break
		}
		if _, err := a.w.Write(a.buf[:n]); err != nil {
			return 0, err
		}
		a.buf = a.buf[n:]
	}
	return len(p), nil
}
