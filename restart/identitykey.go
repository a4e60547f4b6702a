package restart

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// readKey reads a private key. Its errors never hold a byte of the file.
func readKey(path string, owners identityOwners) (ssh.Signer, error) {
	f, err := openIdentityFile("key", path, owners, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := readIdentityFile(f)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	signer, err := ssh.ParsePrivateKey(content)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, explainKey(content, err))
	}
	return signer, nil
}

// explainKey replaces the parser's error, which may quote what it could not read.
func explainKey(content []byte, err error) error {
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return errors.New("is encrypted with a passphrase, and nobody is there to type it: make one for the watchdog with ssh-keygen -N ''")
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(content); err == nil {
		return errors.New("is a public key: name the private key beside it, without .pub")
	}
	return errors.New("is not a private key that can be read: name a PEM or OpenSSH private key file")
}
