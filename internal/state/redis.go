// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"
)

// PasswordEnv is the environment variable that holds the password.
const PasswordEnv = "REDIS_PASSWORD"

const (
	// callTimeout bounds connecting and each exchange.
	callTimeout = time.Second
	// restTime is how long a server that did not answer is left alone: a snapshot asks once per Secret.
	restTime = 10 * time.Second
	// defaultPrefix starts every key.
	defaultPrefix = "gitops-reverser"
)

// Options are the flags about Redis.
type Options struct {
	// Addr is host:port; empty means that there is no Redis.
	Addr string
	// Username and Password authenticate; the password comes from the environment.
	Username, Password string
	DB                 int
	// KeyPrefix starts every key, so that several operators can share a server.
	KeyPrefix string
	// Insecure connects without TLS.
	Insecure bool
}

// BindFlags declares the flags.
func (o *Options) BindFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Addr, "redis-addr", "", "The host:port of a Redis or Valkey server; empty works without one.")
	fs.StringVar(&o.Username, "redis-username", "", "The user of the Redis server. The password is read from "+PasswordEnv+".")
	fs.IntVar(&o.DB, "redis-db", 0, "The number of the Redis database.")
	fs.StringVar(&o.KeyPrefix, "redis-key-prefix", defaultPrefix, "What every key in Redis starts with.")
	fs.BoolVar(&o.Insecure, "redis-insecure", false, "Connect to Redis without TLS.")
}

var keyPrefix = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)

// Validate refuses values that could only fail later, and settles the prefix.
func (o *Options) Validate() error {
	o.KeyPrefix = strings.TrimRight(o.KeyPrefix, ":")
	if o.Addr == "" {
		if o.Username != "" || o.DB != 0 || o.Insecure {
			return errors.New("--redis-username, --redis-db and --redis-insecure need --redis-addr")
		}
		return nil
	}
	host, port, err := net.SplitHostPort(o.Addr)
	if n, perr := strconv.Atoi(port); err != nil || host == "" || perr != nil || n < 1 || n > 65535 {
		return errors.New("--redis-addr: write host:port, such as redis.example.org:6379; " +
			"user and password have their own flag and variable")
	}
	switch {
	case o.DB < 0:
		return errors.New("--redis-db must not be negative")
	case !keyPrefix.MatchString(o.KeyPrefix):
		return fmt.Errorf("--redis-key-prefix %q: write 1 to 128 of letters, digits, '-', '_', '.' and ':'", o.KeyPrefix)
	}
	return nil
}

// Redis is a connection to a server. Create it with Connect; it is safe for concurrent use.
type Redis struct {
	client *redis.Client
	prefix string
	now    func() time.Time

	mu sync.Mutex
	// until is when a server that did not answer is asked again.
	until time.Time
}

// Connect makes the client; it opens no connection, and a server that is away is no error.
func Connect(o Options) *Redis {
	redis.SetLogger(silence{})
	c := &redis.Options{
		Addr: o.Addr, Username: o.Username, Password: o.Password, DB: o.DB,
		DialTimeout: callTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout, PoolTimeout: callTimeout,
		MaxRetries: 1, ContextTimeoutEnabled: true,
	}
	if !o.Insecure {
		host, _, _ := net.SplitHostPort(o.Addr)
		c.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	}
	return &Redis{client: redis.NewClient(c), prefix: o.KeyPrefix, now: time.Now}
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// ErrResting means that the server did not answer a moment ago.
var ErrResting = errors.New("redis did not answer a moment ago")

// do runs one exchange.
func (r *Redis) do(ctx context.Context, f func(context.Context) error) error {
	r.mu.Lock()
	resting := r.now().Before(r.until)
	r.mu.Unlock()
	if resting {
		return ErrResting
	}
	err := f(ctx)
	if err == nil || errors.Is(err, redis.Nil) || ctx.Err() != nil {
		return err
	}
	r.mu.Lock()
	r.until = r.now().Add(restTime)
	r.mu.Unlock()
	return fmt.Errorf("redis: %w", err)
}

// silence keeps the library from writing lines of its own form to standard error; its errors are returned.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}
