package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// This file is the HTTP side of the process: what every request passes through,
// and how the listener stops.

// drain is how long running requests may take to end after the stop signal.
const drain = 20 * time.Second

// serveHTTP answers requests until ctx ends, then lets the running ones finish.
func serveHTTP(ctx context.Context, l *connections, h http.Handler, tls certificate) error {
	srv := &http.Server{
		Handler: endDoubtful(limitSlowClients(l.limits, h)),
		// Bodies and responses have deadlines that move (pace.go). Headers must come at once. A
		// header fits into a few packets: a client that takes longer holds the connection
		// (Slowloris, CWE-400).
		ReadHeaderTimeout: 10 * time.Second,
		// Longer than the idle timeout of common load balancers (60 s), so that the proxy closes
		// first and does not reuse a connection that is being closed here.
		IdleTimeout: 2 * time.Minute,
		// Tokens, cookies and long query strings fit into a fraction of it.
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	l.trackPhases(srv)
	failed := make(chan error, 1)
	go func() {
		if tls.cert != "" {
			failed <- srv.ServeTLS(l, tls.cert, tls.key)
			return
		}
		failed <- srv.Serve(l)
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("listen on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		return errors.Join(fmt.Errorf("requests did not end in %s: %w", drain, err), srv.Close())
	}
	return nil
}

// endDoubtful closes the connection after a request whose end a proxy may have judged
// otherwise: a body in chunks, which Content-Length may have contradicted, and any body of
// HTTP/1.0, where Transfer-Encoding has no meaning. net/http removes the header that loses,
// so that the contradiction itself cannot be seen here (RFC 9112, sections 6.1 and 6.3).
func endDoubtful(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chunked := r.ProtoMajor == 1 && len(r.TransferEncoding) > 0
		old := r.ProtoMajor == 1 && r.ProtoMinor == 0 && r.ContentLength != 0
		if chunked || old {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// certificate names the files of a certificate; empty means plain HTTP.
type certificate struct{ cert, key string }

// logRequests logs one record a request and turns a panic into an answer.
func logRequests(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w}
		defer func() {
			if p := recover(); p != nil {
				// The handler cuts the connection on purpose: see endpoint.Download.
				if p == http.ErrAbortHandler {
					panic(p)
				}
				log.LogAttrs(r.Context(), slog.LevelError, "request panicked",
					slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
				// Nothing was sent yet; otherwise the client gets a truncated response.
				if rec.status == 0 {
					http.Error(rec, `{"message":"internal error","statusCode":500}`, http.StatusInternalServerError)
				}
			}
			log.LogAttrs(r.Context(), slog.LevelDebug, "request",
				slog.String("method", r.Method), slog.String("path", redactPath(r.URL.Path)),
				slog.Int("status", rec.status),
				slog.Int64("bytes", rec.bytes), slog.Duration("took", time.Since(start)),
				slog.String("ip", r.RemoteAddr))
		}()
		next.ServeHTTP(rec, r)
	})
}

// redactPath hides what in an address is a credential: the token of an upload.
func redactPath(path string) string {
	if strings.HasPrefix(path, "/uploads/") {
		return "/uploads/…"
	}
	return path
}

// A recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader remembers the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap gives http.ResponseController the writer below, for flushing streams.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// setSecurityHeaders sets the headers that no answer of the service is without.
func setSecurityHeaders(https bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		// The default for all: handlers of public documents and tagged responses replace it.
		h.Set("Cache-Control", "no-store")
		// pages set their own
		h.Set("Content-Security-Policy", "default-src 'none'; form-action 'none'; frame-ancestors 'none'; "+
			"base-uri 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Browsers ignore the header over plain HTTP (RFC 6797, section 8.1).
		if https {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}
