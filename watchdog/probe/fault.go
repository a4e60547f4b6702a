package probe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"cluster-watchdog/watchdog"
)

// fault says what a person can mend about a question that cannot be asked.
func (s *stage) fault(err error) watchdog.Fault {
	var name *net.DNSError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return watchdog.FaultName
	case errors.Is(err, errCompressed):
		return watchdog.FaultEncoding
	case isOutOfTime(err):
		return watchdog.FaultTime
	case isAlert(err), s.securing.Load() && !isBreak(err), isTLSToHTTP(err):
		return watchdog.FaultTLS
	default:
		return watchdog.FaultNone
	}
}

// isOutOfTime says whether our clock lies outside the time of the server's certificate.
func isOutOfTime(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired
}

// isAlert says whether the other end of a TLS connection has refused it.
func isAlert(err error) bool {
	var alert tls.AlertError
	return errors.As(err, &alert) || strings.Contains(err.Error(), "remote error: tls:")
}

// isTLSToHTTP says whether one side speaks TLS and the other does not. The client has no type for
// that; an alert, which begins with \x15\x03, is what a TLS server answers to a plain question.
func isTLSToHTTP(err error) bool {
	s := err.Error()
	return strings.Contains(s, "server gave HTTP response to HTTPS client") || strings.Contains(s, `malformed HTTP response "\x15\x03`)
}
