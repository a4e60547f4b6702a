package probe

import (
	"encoding/pem"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"context"

	"cluster-watchdog/watchdog"
)

func TestTrust(t *testing.T) {
	s := httptest.NewTLSServer(answering(200, served))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	reads := func(b []byte, err error) func(*Config) {
		return func(c *Config) { c.CA = func() ([]byte, error) { return b, err } }
	}
	plain := serve(t, answering(200, served))
	swap := func(base, from, to string) string { return strings.Replace(base, from, to, 1) }
	for _, row := range []struct {
		name, base string
		change     func(*Config)
		want       watchdog.Outcome
		fault      watchdog.Fault
		words      string
	}{
		{"a private CA that is trusted", s.URL, reads(ca, nil), watchdog.Answered, watchdog.FaultNone, ""},
		{"one that is not", s.URL, func(*Config) {}, watchdog.Unreachable, watchdog.FaultTLS, "certificate"},
		{"a certificate for another name", swap(s.URL, "127.0.0.1", "localhost"), reads(ca, nil), watchdog.Unreachable, watchdog.FaultTLS, "localhost"},
		{"https to a server without TLS", swap(plain, "http:", "https:"), func(*Config) {}, watchdog.Unreachable, watchdog.FaultTLS, "HTTP response to HTTPS client"},
		{"the CA file cannot be read", s.URL, reads(nil, errors.New("open /etc/ca.pem: permission denied")), watchdog.Unreachable, watchdog.FaultFile, "cannot read the CA file: open /etc/ca.pem"},
		{"the CA file holds none", s.URL, reads([]byte("hello"), nil), watchdog.Unreachable, watchdog.FaultFile, "holds no certificate"},
		{"without TLS nobody needs the file", plain, reads(nil, errors.New("gone")), watchdog.Answered, watchdog.FaultNone, ""},
	} {
		c := at(row.base, row.change).canary(t.Context(), key{}, "m")
		if c.Outcome != row.want || c.Fault != row.fault || !strings.Contains(c.Err, row.words) {
			t.Errorf("%s: got %s, fault %d, %q", row.name, outcomeNames[c.Outcome], c.Fault, c.Err)
		}
	}
}

// A TLS server answers a plain question in HTTP, or with an alert, or not at all.
func TestPlainQuestionToTLS(t *testing.T) {
	alert, _ := listen(t, say("\x15\x03\x01\x00\x02\x02\x46", hangUp))
	if h := at(alert).health(t.Context()); h.Outcome != watchdog.Unreachable || h.Fault != watchdog.FaultTLS {
		t.Errorf("got %+v", h)
	}
	s := httptest.NewTLSServer(answering(200, ""))
	t.Cleanup(s.Close)
	if c := at(strings.Replace(s.URL, "https:", "http:", 1)).canary(t.Context(), key{}, "m"); c.Status != 400 {
		t.Errorf("got %+v", c)
	}
}

// No such name is for a person to mend; a name server that is silent may come back by itself.
func TestNameFaults(t *testing.T) {
	for _, row := range []struct {
		err  net.DNSError
		want watchdog.Fault
	}{
		{net.DNSError{Err: "no such host", Name: "head", IsNotFound: true}, watchdog.FaultName},
		{net.DNSError{Err: "i/o timeout", Name: "head", IsTimeout: true}, watchdog.FaultNone},
	} {
		p := at("http://head:8000")
		transportOf(p).DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, &row.err }
		if c := p.canary(t.Context(), key{}, "m"); c.Outcome != watchdog.Unreachable || c.Fault != row.want {
			t.Errorf("%s: got %+v", row.err.Err, c)
		}
	}
}

// A proxy may stand before the API; how the engine is, is asked beside its counters.
func TestEngineURL(t *testing.T) {
	for _, row := range []struct{ base, metrics, want string }{
		{"http://h:8000/", "", "http://h:8000"},
		{"https://proxy/llm", "http://h:8000/metrics", "http://h:8000"},
		{"https://proxy/llm", "", "https://proxy/llm"},
		{"http://h:8000", "http://h:9090/federate", "http://h:8000"},
	} {
		if got := New(Config{BaseURL: row.base, MetricsURL: row.metrics}, noNodes{}).engine; got != row.want {
			t.Errorf("%s with %s: %s, want %s", row.base, row.metrics, got, row.want)
		}
	}
}
