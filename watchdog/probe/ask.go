package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

const (
	maxBody    = 1 << 20  // of an answer that is kept
	maxHeaders = 64 << 10 // of any answer
)

var (
	errTooLong    = errors.New("the answer is too long")
	errCompressed = errors.New("the answer is compressed, which was not asked for")
)

// newClient returns a client of our own: no proxy from the environment, no redirect followed (it
// could lead the API key elsewhere), no compression, and no connection that outlives its request.
// It trusts the roots, or the machine's own where they are nil.
func newClient(roots *x509.CertPool) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{}).DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			TLSClientConfig:        &tls.Config{RootCAs: roots},
			MaxResponseHeaderBytes: maxHeaders,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
		},
	}
}

// question is one HTTP request.
type question struct {
	method string
	url    string
	accept string
	body   []byte                          // nil: none
	key    key                             // sent where the zero key is not
	sift   func(io.Reader) ([]byte, error) // reads an answer to its end; nil: keeps all
}

// answer is what came of a question.
type answer struct {
	watchdog.HTTP
	body   []byte
	silent bool // not one byte came back
}

// ask asks q once, until the deadline of ctx.
func (p *Prober) ask(ctx context.Context, q question) answer {
	if p.noCA != nil && strings.HasPrefix(q.url, "https:") {
		return answer{HTTP: watchdog.HTTP{Outcome: watchdog.Unreachable, Err: clean(p.noCA.Error()), Fault: watchdog.FaultFile}}
	}
	start := time.Now()
	var s stage
	status, body, err := p.exchange(s.watch(ctx), q)
	a := answer{HTTP: watchdog.HTTP{Outcome: watchdog.Answered, Status: status, Took: time.Since(start)}, body: body}
	if err != nil {
		a.silent = !s.answering.Load()
		a.body, a.Status = nil, 0
		a.Outcome = s.outcome(ctx, err)
		if a.Outcome == watchdog.Unreachable {
			a.Fault = s.fault(err)
		}
		a.Err = p.words(a, err, q.key)
	}
	return a
}

func (p *Prober) exchange(ctx context.Context, q question) (status int, body []byte, err error) {
	var sent io.Reader
	if q.body != nil {
		sent = bytes.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(ctx, q.method, q.url, sent)
	if err != nil {
		return 0, nil, errors.New("the address is not a URL") // the cause could quote a password
	}
	r.Header.Set("User-Agent", "cluster-watchdog")
	r.Header.Set("Accept", q.accept)
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.key.secret != "" {
		r.Header.Set("Authorization", "Bearer "+q.key.secret)
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, nil, withoutURL(err)
	}
	defer resp.Body.Close()
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" { // it may be a bomb, and is not opened
		return 0, nil, errCompressed
	}
	sift := q.sift
	if sift == nil {
		sift = readAll
	}
	body, err = sift(resp.Body)
	return resp.StatusCode, body, err
}

// readAll reads an answer to its end.
func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err == nil && len(b) > maxBody {
		err = errTooLong
	}
	return b, err
}

// withoutURL drops the part of a client's error that quotes the URL.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// words says what went wrong, short and without secrets.
func (p *Prober) words(a answer, err error, k key) string {
	took := a.Took.Round(100 * time.Millisecond)
	switch a.Outcome {
	case watchdog.NotAsked:
		return "the look was cut short"
	case watchdog.ConnectTimeout:
		return fmt.Sprintf("no connection within %s", took)
	case watchdog.Unanswered:
		if a.silent {
			return fmt.Sprintf("no answer within %s", took)
		}
		return fmt.Sprintf("no whole answer within %s", took)
	default:
		return clean(err.Error(), slices.Concat(p.hidden, []string{k.secret})...)
	}
}
