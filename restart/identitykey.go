package restart

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/crypto/ssh"
)

// readKey reads a private key, and the certificate beside it where there is one: as in OpenSSH that
// is offered first. Its errors never hold a byte of the files.
func readKey(path string, owners identityOwners) ([]ssh.Signer, error) {
	content, err := readIdentity("key", path, owners, true)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(content)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, explainKey(content, err))
	}
	certified, err := readCertificate(path+"-cert.pub", signer, owners)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []ssh.Signer{signer}, nil
	case err != nil:
		return nil, err
	}
	return []ssh.Signer{certified, signer}, nil
}

func readIdentity(what, path string, owners identityOwners, private bool) ([]byte, error) {
	f, err := openIdentityFile(what, path, owners, private)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := readIdentityFile(f)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what, path, err)
	}
	return content, nil
}

// readCertificate reads the certificate of a key.
func readCertificate(path string, signer ssh.Signer, owners identityOwners) (ssh.Signer, error) {
	content, err := readIdentity("certificate", path, owners, false)
	if err != nil {
		return nil, err
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey(content)
	cert, ok := public.(*ssh.Certificate)
	switch {
	case err != nil || !ok:
		return nil, fmt.Errorf("certificate %s: is not a certificate that can be read: make it anew, or remove it", path)
	case cert.CertType != ssh.UserCert:
		return nil, fmt.Errorf("certificate %s: is one for a host, not for a user: sign the key without -h", path)
	case !bytes.Equal(cert.Key.Marshal(), signer.PublicKey().Marshal()):
		return nil, fmt.Errorf("certificate %s: belongs to another key than the one beside it: sign this one, or remove it", path)
	}
	return ssh.NewCertSigner(cert, signer)
}

// certificateDoubt says which certificate among the signers is out of its time at that moment; a
// server only refuses it.
func certificateDoubt(signers []ssh.Signer, now time.Time) string {
	for _, s := range signers {
		cert, ok := s.PublicKey().(*ssh.Certificate)
		if !ok {
			continue
		}
		from, to := time.Unix(int64(cert.ValidAfter), 0), time.Unix(int64(cert.ValidBefore), 0)
		switch {
		case now.Before(from):
			return fmt.Sprintf("; its certificate is valid only from %s%s", from.Format(time.DateTime), headTime(now))
		case cert.ValidBefore != ssh.CertTimeInfinity && !now.Before(to):
			return fmt.Sprintf("; its certificate ended at %s: sign the key anew%s", to.Format(time.DateTime), headTime(now))
		}
	}
	return ""
}

// headTime says by which time a certificate was found to be out of its time.
func headTime(now time.Time) string {
	return fmt.Sprintf(" (this head's clock says %s; the node goes by its own)", now.Format(time.DateTime))
}

// explainKey replaces the parser's error, which may quote what it could not read.
func explainKey(content []byte, err error) error {
	var locked *ssh.PassphraseMissingError
	block, _ := pem.Decode(content)
	if errors.As(err, &locked) || block != nil && block.Type == "ENCRYPTED PRIVATE KEY" { // of PKCS#8, which the parser does not know
		return errors.New("is encrypted with a passphrase, and nobody is there to type it: make one for the watchdog with ssh-keygen -N ''")
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(content); err == nil {
		return errors.New("is a public key: name the private key beside it, without .pub")
	}
	return errors.New("is not a private key that can be read: name a PEM or OpenSSH private key file")
}
