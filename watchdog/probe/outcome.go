package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"

	"cluster-watchdog/watchdog"
)

// stage is how far a request has got. Its marks are set from the client's own goroutines.
type stage struct {
	resolving atomic.Bool // a name is being looked up
	connected atomic.Bool
	securing  atomic.Bool // a TLS handshake is under way, or has failed
	answering atomic.Bool // the first byte has come
}

// watch returns ctx with hooks that set the marks.
func (s *stage) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { s.resolving.Store(true) },
		DNSDone:  func(i httptrace.DNSDoneInfo) { s.resolving.Store(i.Err != nil) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				s.connected.Store(true)
			}
		},
		TLSHandshakeStart:    func() { s.securing.Store(true) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { s.securing.Store(err != nil) },
		GotFirstResponseByte: func() { s.answering.Store(true) },
	})
}

// outcome says what an error means at the stage it came in. What fits nothing is Unreachable: then
// nobody concludes anything from it.
func (s *stage) outcome(ctx context.Context, err error) watchdog.Outcome {
	switch {
	case cutShort(ctx):
		return watchdog.NotAsked
	case errors.Is(err, errTooLong), errors.Is(err, errCompressed), isName(err), s.resolving.Load():
		return watchdog.Unreachable
	case ctx.Err() != nil || isTimeout(err):
		if s.connected.Load() {
			return watchdog.Unanswered
		}
		return watchdog.ConnectTimeout
	case !s.connected.Load():
		if errors.Is(err, syscall.ECONNREFUSED) {
			return watchdog.Refused
		}
		if errors.Is(err, syscall.ECONNRESET) {
			return watchdog.Dropped
		}
		return watchdog.Unreachable
	case isBreak(err):
		return watchdog.Dropped
	case isAlert(err): // such as a client certificate that is wanted
		return watchdog.Unreachable
	case s.securing.Load() || s.answering.Load(): // no TLS of ours, or no HTTP
		return watchdog.Unreachable
	default: // the client has more words for a connection closed without an answer
		return watchdog.Dropped
	}
}

func isName(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e)
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &e) && e.Timeout())
}

// isBreak says whether the connection ended under a request.
func isBreak(err error) bool {
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
