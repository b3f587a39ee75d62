// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // a pseudo-random function of PKCS#5
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"hash"

	"golang.org/x/crypto/scrypt"
)

// The limits of a key derivation: a Secret must not cost the process more than a moment.
const (
	maxIterations   = 10_000_000
	maxScryptMemory = 64 << 20
)

// The errors of OpenPKCS8.
var (
	// ErrPassphraseMissing: the key is encrypted and there is no passphrase.
	ErrPassphraseMissing = errors.New("the key has a passphrase and none is given")
	// ErrPassphrase: the passphrase does not open the key.
	ErrPassphrase = errors.New("the passphrase is wrong")
	// ErrKeyEncryption: the key is encrypted in a way that is not supported.
	ErrKeyEncryption = errors.New("the encryption of the key is not supported; use PBES2 with AES, or the OpenSSH form")
)

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidScrypt = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}
	// oidAES maps AES-CBC to key bytes, oidPRF a keyed hash to its constructor.
	oidAES = map[string]int{
		"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32,
	}
	oidPRF = map[string]func() hash.Hash{
		"": sha1.New, "1.2.840.113549.2.7": sha1.New, "1.2.840.113549.2.9": sha256.New,
		"1.2.840.113549.2.10": sha512.New384, "1.2.840.113549.2.11": sha512.New,
	}
)

type encryptedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

type pbes2 struct{ Derivation, Cipher pkix.AlgorithmIdentifier }

type pbkdf2Params struct {
	Salt       []byte
	Iterations int
	Length     int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

type scryptParams struct {
	Salt    []byte
	N, R, P int
	Length  int `asn1:"optional"`
}

// OpenPKCS8 decrypts a PEM key of type ENCRYPTED PRIVATE KEY, which the SSH library does not read, into one of type
// PRIVATE KEY. Every other input is returned as it is.
func OpenPKCS8(key, passphrase []byte) ([]byte, error) {
	block, _ := pem.Decode(key)
	if block == nil || block.Type != "ENCRYPTED PRIVATE KEY" {
		return key, nil
	}
	if len(passphrase) == 0 {
		return nil, ErrPassphraseMissing
	}
	var e encryptedKey
	var p pbes2
	if !unmarshal(block.Bytes, &e) || !e.Algorithm.Algorithm.Equal(oidPBES2) || !unmarshal(e.Algorithm.Parameters.FullBytes, &p) {
		return nil, ErrKeyEncryption
	}
	size, ok := oidAES[p.Cipher.Algorithm.String()]
	var iv []byte
	if !ok || !unmarshal(p.Cipher.Parameters.FullBytes, &iv) || len(iv) != aes.BlockSize {
		return nil, ErrKeyEncryption
	}
	derived, err := derive(p.Derivation, passphrase, size)
	if err != nil {
		return nil, err
	}
	plain, err := decryptCBC(derived, iv, e.Data)
	if err != nil {
		return nil, err
	}
	if _, err := x509.ParsePKCS8PrivateKey(plain); err != nil {
		return nil, ErrPassphrase // a wrong key can give valid padding
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain}), nil
}

func unmarshal(der []byte, v any) bool {
	rest, err := asn1.Unmarshal(der, v)
	return err == nil && len(rest) == 0
}

func derive(a pkix.AlgorithmIdentifier, passphrase []byte, size int) ([]byte, error) {
	switch {
	case a.Algorithm.Equal(oidPBKDF2):
		var p pbkdf2Params
		if !unmarshal(a.Parameters.FullBytes, &p) || p.Iterations < 1 || p.Iterations > maxIterations {
			return nil, ErrKeyEncryption
		}
		prf, ok := oidPRF[p.PRF.Algorithm.String()]
		if !ok {
			return nil, ErrKeyEncryption
		}
		return pbkdf2.Key(prf, string(passphrase), p.Salt, p.Iterations, size)
	case a.Algorithm.Equal(oidScrypt):
		var p scryptParams
		if !unmarshal(a.Parameters.FullBytes, &p) || p.N < 2 || p.R < 1 || p.P < 1 || p.N > maxScryptMemory/128/p.R || p.P > 16 {
			return nil, ErrKeyEncryption
		}
		key, err := scrypt.Key(passphrase, p.Salt, p.N, p.R, p.P, size)
		if err != nil {
			return nil, ErrKeyEncryption
		}
		return key, nil
	}
	return nil, ErrKeyEncryption
}

func decryptCBC(key, iv, data []byte) ([]byte, error) {
	c, err := aes.NewCipher(key)
	if err != nil {
		return nil, ErrKeyEncryption
	}
	if len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, ErrKeyEncryption
	}
	plain := bytes.Clone(data)
	cipher.NewCBCDecrypter(c, iv).CryptBlocks(plain, plain)
	n := int(plain[len(plain)-1])
	if n < 1 || n > aes.BlockSize || !bytes.Equal(plain[len(plain)-n:], bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, ErrPassphrase
	}
	return plain[:len(plain)-n], nil
}
