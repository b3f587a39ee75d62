// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// CheckAlgorithms validates the values of --ssh-hostkey-algos and --ssh-kex-algos. Algorithms with known weaknesses are
// allowed where they are named: some servers have nothing else.
func CheckAlgorithms(hostKeys, kex []string) error {
	good, weak := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	check := func(flag string, given, known []string) error {
		for _, a := range given {
			if !slices.Contains(known, a) {
				return fmt.Errorf("%s: %q is not known; known are %s", flag, a, strings.Join(known, ", "))
			}
		}
		return nil
	}
	return errors.Join(
		check("--ssh-hostkey-algos", hostKeys, append(good.HostKeys, weak.HostKeys...)),
		check("--ssh-kex-algos", kex, append(good.KeyExchanges, weak.KeyExchanges...)))
}

// ssh fills in the credential of an SSH URL: a key, the user, and what is known of the host's keys.
func (r *resolver) ssh(c *Credentials) error {
	if c.SSHUser = r.at.user; c.SSHUser == "" {
		c.SSHUser = "git"
	}
	if r.in.Secret != nil {
		if !r.in.Secret.has(keysSSHKey) {
			return r.nothingFor(`"ssh-privatekey", "identity" or "sshPrivateKey"`)
		}
		var err error
		if c.SSHSigner, err = r.sshKey(); err != nil {
			return err
		}
	}
	c.KexAlgorithms = slices.Clone(r.in.KexAlgorithms)
	return r.hostKeys(c)
}

func (r *resolver) sshKey() (ssh.Signer, error) {
	pem, key := r.in.Secret.get(keysSSHKey)
	secret, name := r.in.Secret.get(keysPassphrase)
	passphrase := bytes.TrimRight(secret, "\r\n")
	return r.in.SSHKeys.Do(func() (ssh.Signer, error) { return r.openKey(pem, passphrase, key, name) }, pem, passphrase)
}

// openKey opens a private key; key and name are where it and its passphrase come from.
func (r *resolver) openKey(pem, passphrase []byte, key, name string) (ssh.Signer, error) {
	pem, err := OpenPKCS8(pem, passphrase)
	var signer ssh.Signer
	if err == nil {
		signer, err = ssh.ParsePrivateKey(pem)
	}
	var missing *ssh.PassphraseMissingError
	encrypted := errors.As(err, &missing)
	if encrypted && len(passphrase) > 0 {
		signer, err = ssh.ParsePrivateKeyWithPassphrase(pem, passphrase)
	}
	switch {
	case err == nil:
		return signer, nil
	case errors.Is(err, ErrPassphraseMissing), encrypted && len(passphrase) == 0:
		return nil, r.malformed(`the SSH key %q has a passphrase; add it as "ssh-password"`, key)
	case errors.Is(err, ErrPassphrase), encrypted:
		return nil, r.malformed("the SSH key %q does not open with the passphrase in %q; store the key's own passphrase there", key, name)
	default:
		return nil, r.malformed("the SSH key %q cannot be read: %s; it must be a private key in OpenSSH, PKCS#8 or PEM form", key, strings.TrimPrefix(err.Error(), "ssh: "))
	}
}
