//go:build !linux

package sandbox

import (
	"context"
	"net"

	"merlon/internal/errs"
)

// A Process is a program that was started.
type Process struct {
	Listener net.Listener
}

// Init does nothing: only Linux has a stage.
func Init() {}

// CloseInherited does nothing: only Linux has a call for it.
func CloseInherited() error { return nil }

// Start fails: the protections are Linux's.
func Start(context.Context, Spec) (*Process, []string, error) {
	return nil, nil, errs.E(errs.NotImplemented, "the sandbox needs Linux; use `merlon scan` here, and a worker "+
		"on Linux")
}

// Members returns none: there is no process.
func (*Process) Members() []int { return nil }

// Wait returns at once: there is no process.
func (*Process) Wait() (Result, error) { return Result{Code: -1}, nil }
