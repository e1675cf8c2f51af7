package outbound

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// This file says what happened on the network without saying where: the errors of package
// net name the resolver that was asked and the addresses that a name leads to, and they are
// read by people who may know neither.

// hideAddresses returns the error with a text that names no address. errors.Is and errors.As see
// what it was.
func hideAddresses(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &plainError{networkReason(err), err}
}

// plainError is an error whose text has no addresses; errors.Is and errors.As see the original.
type plainError struct {
	text string
	err  error
}

// Error returns the text without addresses.
func (e *plainError) Error() string { return e.text }

// Unwrap returns the error of the network.
func (e *plainError) Unwrap() error { return e.err }

// Timeout implements net.Error.
func (e *plainError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.err, &t) && t.Timeout()
}

// Temporary implements net.Error.
func (e *plainError) Temporary() bool { return false }

// networkReason says in words what an error of the network means.
func networkReason(err error) string {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	var number syscall.Errno
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the name has no address"
	case errors.As(err, &dns) && dns.IsTimeout:
		return "the DNS did not respond in time"
	case errors.As(err, &dns):
		return "the name cannot be resolved"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no response in time"
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &op) && op.Err != nil:
		return networkReason(op.Err)
	}
	return err.Error()
}
