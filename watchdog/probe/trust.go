package probe

import (
	"crypto/x509"
	"errors"
	"fmt"
)

// trust returns whose certificates are believed: the machine's roots and those of the CA file.
// nil without such a file: the machine's roots.
func trust(ca func() ([]byte, error)) (*x509.CertPool, error) {
	if ca == nil {
		return nil, nil
	}
	pem, err := ca()
	if err != nil {
		return nil, fmt.Errorf("cannot read the CA file: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil { // a machine without any
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("cannot use the CA file: it holds no certificate in PEM form")
	}
	return roots, nil
}
