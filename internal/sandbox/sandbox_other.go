//go:build !linux

package sandbox

import (
	"context"

	"merlon/internal/errs"
)

// A Process is a program that was started.
type Process struct{}

// Init does nothing: only Linux has a stage.
func Init() {}

// Start fails: the protections are Linux's.
func Start(context.Context, Spec) (*Process, []string, error) {
	return nil, nil, errs.E(errs.NotImplemented, "the sandbox needs Linux; use `merlon scan` here, and a worker on Linux")
}

// Wait returns at once: there is no process.
func (*Process) Wait() (Result, error) { return Result{Code: -1}, nil }
