package activescan

import (
	"context"
	"crypto/tls"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/scan"
)

// This file is the boundary between the engine and its rules: what a rule may know and use.

// A Client sends requests within the budget of the scan. The methods of OperationScan are to be
// preferred: they renew CSRF tokens and count the time that an operation takes.
type Client interface {
	Send(ctx context.Context, r *message.Request, as traffic.Session) (*message.Response, error)
	// SendExclusively sends while no other request is in flight, for measurements of time.
	SendExclusively(ctx context.Context, r *message.Request, as traffic.Session) (*message.Response, error)
	// TLS is the state of the last connection to the target; nil: it is not encrypted.
	TLS() *tls.ConnectionState
	// Handshake connects with the given configuration and sends nothing.
	Handshake(ctx context.Context, config *tls.Config) (*tls.ConnectionState, error)
}

// A Sitemap is what a rule may read of the operations of the target, and note about them.
type Sitemap interface {
	Entries() []sitemap.Entry
	// CountResponses adds to the number of responses of the operation of the request.
	CountResponses(r *message.Request, n int)
	// MarkUnfinished records why the operation was not scanned to its end.
	MarkUnfinished(r *message.Request, reason string)
}

// An Environment is what a rule may know of the scan beside its own operation. It is a copy: what
// a rule changes in it, no other rule sees.
type Environment struct {
	As              traffic.Session // the identity that scans; nil: anonymous
	OtherIdentities []Identity
	Target          *scan.Target
	Scope           *sitemap.Scope
	Sitemap         Sitemap
	Client          Client
	OAST            scan.OASTListener // nil: there is no listener for out-of-band interactions
	Browser         Browser           // nil: there is none
	Advisories      scan.Advisories
	Seed            uint64 // of random parts of payloads
}

// environment returns the view of the engine that rules get.
func (r *Engine) environment() Environment {
	return Environment{As: r.As, OtherIdentities: r.OtherIdentities, Target: r.Target, Scope: r.Scope,
		Sitemap: r.Sitemap, Client: r.Client, OAST: r.OAST, Browser: r.Browser, Advisories: r.Advisories, Seed: r.Seed}
}

// An OperationScan is the scan of one operation by one rule. Everything of the engine that its
// methods do not offer stays out of the rule's reach.
type OperationScan struct {
	Environment
	Context context.Context
	Request *message.Request // as it was found

	engine *Engine
	check  *Rule
	op     *operation
	reader traffic.Session // see SendAsReader; nil: the engine's own
	only   bool            // no other request is in flight, see RunExclusively
	way    *way            // to the page of Request, which each Send makes anew; nil: it stays where it is
}

// A Probe is the scan of one insertion point of an operation by one rule.
type Probe struct {
	OperationScan
	Point message.Point
}

// newScan returns the scan of an operation by a rule.
func (r *Engine) newScan(ctx context.Context, req *message.Request, rule *Rule, op *operation) *OperationScan {
	return &OperationScan{Environment: r.environment(), engine: r, Context: ctx, Request: req, check: rule, op: op}
}

// NewScan returns a scan outside of the engine's own rounds, for an analyzer that sends requests
// before they begin, such as those that register an account.
func (r *Engine) NewScan(ctx context.Context) *OperationScan { return r.newScan(ctx, nil, nil, nil) }

// RandomLetters returns n random letters, at most 32; see Engine.RandomLetters.
func (t *OperationScan) RandomLetters(n int) string { return t.engine.RandomLetters(n) }

// RandomNumber returns a random number from low to high, both included.
func (t *OperationScan) RandomNumber(low, high int) int { return t.engine.RandomNumber(low, high) }

// FirstTime reports whether any rule calls it with the key for the first time in this scan of
// the target.
func (t *OperationScan) FirstTime(key string) bool { return t.engine.FirstTime(key) }

// IncrementCount counts under the key for all operations, and returns the new count.
func (t *OperationScan) IncrementCount(key string) int { return t.engine.IncrementCount(key) }

// CountOf returns how often IncrementCount was called with the key.
func (t *OperationScan) CountOf(key string) int { return t.engine.CountOf(key) }

// Location is the path by which findings name the location of a request.
func (t *OperationScan) Location(at *message.Request) string { return t.engine.Location(at) }

// RecordFact remembers something about the target for all rules, such as its database system.
func (t *OperationScan) RecordFact(what string) { t.engine.RecordFact(what) }

// HasFact reports whether a rule has recorded the fact.
func (t *OperationScan) HasFact(what string) bool { return t.engine.HasFact(what) }

// OASTWait is how long to wait for an out-of-band interaction.
func (t *OperationScan) OASTWait() time.Duration { return t.engine.OASTWait() }

// ReportGap reports what the rule could not examine.
func (t *OperationScan) ReportGap(r scan.Reason) { t.engine.ReportGap(r) }

// InspectResponse gives a response that the rule has got to the passive rules.
func (t *OperationScan) InspectResponse(ctx context.Context, resp *message.Response) {
	t.engine.InspectResponse(ctx, resp)
}
