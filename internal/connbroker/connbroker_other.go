//go:build !linux

package connbroker

import (
	"context"
	"net"
	"os"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// A Broker serves one program.
type Lender struct{}

// A Client is the program's side.
type Program struct{}

// errLinux is returned where there is no sandbox to broker connections for.
var errLinux = errs.E(errs.NotImplemented, "tunnels need Linux, as the sandbox does")

// New fails: tunnels are for the sandbox, which is Linux's.
func New() (*Lender, *os.File, error) { return nil, nil, errLinux }

// Traffic returns nothing.
func (*Lender) Traffic() Traffic { return Traffic{} }

// Serve fails.
func (*Lender) Serve(context.Context, Host) error { return errLinux }

// Open fails.
func Open(int) (*Program, error) { return nil, errLinux }

// Job fails.
func (*Program) Job() (*Job, error) { return nil, errLinux }

// Calls fails.
func (*Program) Calls(int) ([]scan.Interaction, error) { return nil, errLinux }

// Keep fails.
func (*Program) Keep([]byte) error { return errLinux }

// Dial fails.
func (*Program) Dial(context.Context, string, string) (net.Conn, error) { return nil, errLinux }

// Chromium fails.
func (*Program) Chromium(context.Context) (*scan.Chromium, error) { return nil, errLinux }
