package probe

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"

	"cluster-watchdog/watchdog"
)

// A head whose clock is in 1970 trusts no certificate: it is the clock that a person can mend then.
func TestACertificateOutOfItsTime(t *testing.T) {
	for _, row := range []struct {
		reason x509.InvalidReason
		want   watchdog.Fault
	}{{x509.Expired, watchdog.FaultTime}, {x509.NotAuthorizedToSign, watchdog.FaultTLS}} {
		s := &stage{}
		s.securing.Store(true)
		err := fmt.Errorf("get: %w", &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: row.reason}})
		if got := s.fault(err); got != row.want {
			t.Errorf("%v: fault %d, want %d", row.reason, got, row.want)
		}
	}
}
