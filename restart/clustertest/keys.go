package clustertest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// userKey is the one key that all nodes accept.
type userKey struct {
	file   string
	public ssh.PublicKey
}

func newUserKey(dir string) (userKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return userKey{}, err
	}
	block, err := ssh.MarshalPrivateKey(private, User)
	if err != nil {
		return userKey{}, err
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return userKey{}, err
	}
	k := userKey{file: filepath.Join(dir, "id_ed25519"), public: signer.PublicKey()}
	if err := os.WriteFile(k.file, pem.EncodeToMemory(block), 0o600); err != nil {
		return userKey{}, fmt.Errorf("cannot write the key of user %s: %w", User, err)
	}
	return k, nil
}

// hostKeys are the two keys of a stock server. Which of them a client meets is its own choice of
// algorithms.
type hostKeys struct{ ed25519, ecdsa ssh.Signer }

func newHostKeys() (hostKeys, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return hostKeys{}, err
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return hostKeys{}, err
	}
	var k hostKeys
	if k.ed25519, err = ssh.NewSignerFromKey(private); err != nil {
		return k, err
	}
	k.ecdsa, err = ssh.NewSignerFromKey(curve)
	return k, err
}

func knownHostsLine(addr string, key ssh.Signer) string {
	return knownhosts.Line([]string{knownhosts.Normalize(addr)}, key.PublicKey())
}
