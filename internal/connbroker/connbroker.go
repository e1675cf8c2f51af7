// Package connbroker lends a program in a sandbox connections that another process makes.
//
// The program has no network. It holds one end of a pair of sockets, the broker the
// other, and asks for what it needs: what it is to do, a connection to a host, a place
// to keep something, what its target has sent elsewhere, a browser. The broker decides
// about each connection, makes it, and copies bytes between it and a pair of sockets
// whose other end is the program's. No socket of
// the network ever reaches the program: even a program that was taken over has no more
// than what the broker lets through, and everything of it ends when the broker says so.
//
// Each request is one datagram of JSON on the pair of sockets (unix(7), SOCK_SEQPACKET),
// with the end of a stream attached on which the answer comes.
package connbroker

import (
	"context"
	"net"
	"time"

	"merlon/internal/oast"
	"merlon/internal/scan"
)

// A Job is what the program is to do. It holds secrets: it never stands in arguments,
// files or logs.
type Job struct {
	ID            string        `json:"id"` // of the scan
	Target        scan.Target   `json:"target"`
	Limit         time.Duration `json:"limit"` // nanoseconds after which the scan ends by itself
	Resume        []byte        `json:"resume,omitempty"`
	Browser       bool          `json:"browser,omitempty"`   // Program.Chromium starts one
	BrowserReason string        `json:"noBrowser,omitempty"` // why there is none; empty: it is not wanted
	// Callback makes addresses of the listener for what the target sends elsewhere; nil:
	// nobody listens, with the reason in OASTReason.
	OAST       *oast.Tokens `json:"callback,omitempty"`
	OASTReason string       `json:"noCallback,omitempty"`
}

// A Host is what the broker does for the program.
type Host struct {
	Job *Job
	// Dial makes a connection, or refuses it: a Forbidden error is told as one.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Keep stores what the program wants to find again when it is started once more.
	SaveCheckpoint func(ctx context.Context, kept []byte) error
	// Calls returns what has arrived at the listener without the first n; nil: nothing
	// listens.
	Interactions func(n int) []scan.Interaction
	// Chromium starts a browser, which ends with the context; nil: there is none. What it
	// connects to its proxy is for the program to answer.
	Chromium func(ctx context.Context) (*scan.Chromium, error)
}

// maxBrowsers bounds the browsers that a program has started, those that have ended
// included.
const maxBrowsers = 16

// maxConnections bounds the connections that are open at once.
const maxConnections = 256

// Traffic is what went through.
type Traffic struct {
	Connections int64
	Refused     int64 // connections that the lender did not make
	Sent        int64 // bytes to the network
	Received    int64 // bytes from it
}

// request is what the program asks for. Exactly one member is set.
type request struct {
	Job  bool         `json:"job,omitempty"`
	Dial *dialRequest `json:"dial,omitempty"`
	Keep bool         `json:"keep,omitempty"`
	// Calls is how many calls the program knows, and 1.
	Calls int `json:"calls,omitempty"`
	// Browser starts a browser under a number that the program has chosen. The answer's
	// stream goes on as its pipe, after the address of its proxy and a line end.
	Browser int `json:"browser,omitempty"`
	// Accept waits for the next connection that the browser of the number makes to its
	// proxy. When the browser has ended, the answer is why.
	Accept int `json:"accept,omitempty"`
}

// dialRequest asks for a connection.
type dialRequest struct {
	Network string `json:"network"`
	Address string `json:"address"`
}

// maxRequest bounds a datagram, in bytes.
const maxRequest = 4 << 10

// The first byte of an answer.
const (
	granted   = 0
	refused   = 1 // by the lender; a text follows
	failed    = 2 // a text follows
	maxReason = 2 << 10
)
