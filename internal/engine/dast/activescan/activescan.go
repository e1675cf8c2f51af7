// Package activescan runs rules against the operations of a target. A Rule knows one class of
// vulnerability; the run gives it one insertion point at a time as a Probe, with what is known
// of the page behind it, and takes Alerts that are proven. What a check never does:
// send by itself, follow redirects unasked, or report what one answer alone suggests.
//
// Order: for each operation its baselines, then its points one after another, every
// check on a point before the next point; several operations at once and in turns (turn.go),
// those that take long to answer alone and last (see Limits). Checks that
// measure time come last, and what they measure is measured alone. In the end pages are
// asked again for what was stored.
package activescan

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A Rule looks for one class of vulnerability. It is a value: declaring it runs nothing. At
// least one function is set; each may be called from several goroutines, for
// different operations.
type Rule struct {
	// ID is the name of its folder: "sqlinjection".
	ID string // of its folder: "sqlinjection"
	// FindingRules are all that it may report.
	FindingRules []*finding.Rule
	// Profile is the least that it needs; empty: Passive, so it sends nothing unusual.
	Profile scan.Profile
	// Slow checks take the target's time: they run last, and never against a target in
	// production.
	Slow bool
	// Concurrent says that a Slow check may look at several operations at once: all that it
	// measures by itself is what Probe.MeasureDelay measures.
	Concurrent bool
	// AcceptsPoint chooses points; nil: every value of the query, the body and the path.
	// ExtraPoints names more points of a request, such as headers that it does not have.
	AcceptsPoint func(message.Point) bool
	ExtraPoints  func(*message.Request) []message.Point

	ProbePoint      func(*Probe) error                      // each point
	ScanOperation   func(*OperationScan) error              // each operation
	InspectResponse func(*OperationScan, *message.Response) // each answer to an ordinary request; sends nothing
	ScanSite        func(*OperationScan) error              // once; the Trial's request is the base
	// StoredRules, OASTRules and BrowserRules are those of FindingRules whose vulnerabilities may show only in another
	// page, in a call to the listener, or in a browser. Where that cannot be had, nothing is
	// said of them.
	StoredRules, OASTRules, BrowserRules []*finding.Rule
	// CheckStored is called with a page that holds a token that the check left (Probe.RecordStoredPayload) in
	// another answer.
	CheckStored func(*OperationScan, StoredPayload, *message.Response) error
}

// An Engine runs the rules against one target. It belongs to the analyzers; a rule sees an OperationScan,
// whose Environment is all that it may use of the engine.
type Engine struct {
	Client *traffic.Client
	// As is the identity that attacks; nil: nobody.
	As              traffic.Session
	OtherIdentities []Identity // further identities
	Sitemap         *sitemap.Map
	Target          *scan.Target
	Scope           *sitemap.Scope
	Rules           []*Rule
	// OAST is the listener; nil: there is none, and nothing out-of-band is sent.
	OAST scan.OASTListener
	// OASTTimeout is how long a proof waits for a call; 0: 2 s.
	OASTTimeout time.Duration
	// Browser confirms script; nil: there is none.
	Browser Browser
	// Advisories are what is known of versions; nil: there is no data.
	Advisories scan.Advisories
	// Parallel is the number of operations at once; 0: 1.
	Parallel int
	// Seed begins the random parts of payloads, so that a scan can be repeated.
	Seed   uint64
	Limits Limits // of operations that take long to answer
	// SideEffects says which operations the profile does not attack, because of what they do.
	SideEffects *sideeffect.Guard
	// RenewCSRFToken returns the request with fresh tokens against forgery; nil: as it is.
	RenewCSRFToken func(ctx context.Context, r *message.Request) *message.Request
	// ReportFinding receives each alert as a finding.
	ReportFinding func(*finding.Rule, finding.Finding)
	// ReportGap receives what could not be examined, for the coverage of the report.
	ReportGap func(scan.Reason)
	// Progress is told after each operation.
	Progress func(done, all int)
	// Checkpoint is what an earlier attempt of the same scan saved, and SaveCheckpoint saves the
	// state for a later one, each CheckpointInterval (0: 10 s, or 2 s without an OAST listener); nil: nothing is saved.
	Checkpoint         []byte
	SaveCheckpoint     func([]byte)
	CheckpointInterval time.Duration

	resumption resumption
	answers    answers
	families   families
	// Segments of paths that are attacked as values, by operation, see pathWords.
	words map[string]message.Point
	// Where a check failed.
	gaps     sitemap.CoverageGaps
	overlong slowest
	proofs   proofs

	// Held while a request with a fresh CSRF token is under way, which the next one would
	// invalidate.
	renewing sync.RWMutex
	// Held while a Slow check runs, for reading by those that may run together (Concurrent).
	slow sync.RWMutex
	mu   sync.Mutex
	// Keys of FirstTime.
	once map[string]bool
	// Numbers of IncrementCount, by key.
	counts   map[string]int
	reported map[string]bool
	// Values that may be stored, by their token.
	tokens map[string]StoredPayload
	facts  map[string]*facts // by operation
	// unfinished are the operations that each round has not attacked to their end, the quick
	// round first.
	unfinished [2]unfinished
	notes      map[string]bool // see Note
	remains    map[string]bool // see Leaves
	counter    atomic.Uint64
	lures      lures
}

// An Identity is an identity beside the one that attacks.
type Identity struct {
	Session traffic.Session
	// LessPrivileged: it may do less than the one that attacks, by the target's settings.
	LessPrivileged bool
}

// A Browser proves that script runs.
type Browser interface {
	// Execute opens the request's address as the session, and returns the texts of
	// dialogs and calls that hold the marker, with how they came about; none: nothing ran.
	Execute(ctx context.Context, r *message.Request, marker string) ([]string, error)
	// ExecuteShown is Execute for the pages whose scripts were seen to ask for the
	// request: they show what it answers.
	ExecuteShown(ctx context.Context, r *message.Request, marker string) ([]string, error)
}

// A StoredPayload is a value that a check left at a point, to be found again elsewhere.
type StoredPayload struct {
	Token   string
	Rule    *Rule
	Request *message.Request // as it was found
	Point   message.Point
	Payload string
}

// sentRequest is the request that left the value. It is not kept: that would be all values of a
// form of thousands of fields for each of them.
func (t StoredPayload) sentRequest() *message.Request { return t.Request.With(t.Point, t.Payload) }

// An Alert is what a check has proven.
type Alert struct {
	Rule *finding.Rule
	// Severity replaces that of the rule; empty: the rule's.
	Severity finding.Severity
	// Confidence replaces that of the rule; empty: the rule's.
	Confidence finding.Confidence
	Message    string           // one sentence; empty: the rule's
	Request    *message.Request // that proves it
	// Point is what was attacked; nil: the operation as a whole.
	Point     *message.Point
	Payload   string
	Proof     []string            // steps and what they showed, for people
	Responses []*message.Response // in order; the last ones are kept if there are many
	// ResponseNotes describe the responses, as far as there are notes.
	ResponseNotes []string
	// Location replaces the path by which the vulnerability is reported, for vulnerabilities of a whole site: "/" is
	// told once, whatever page showed it.
	Location string
	// Key tells vulnerabilities of one rule at one point apart.
	Key string
	// SharedCause is what vulnerabilities of several operations have in common that are one vulnerability; empty: the
	// point may tell.
	SharedCause string
	// Anonymous says that it was shown without any identity.
	Anonymous bool
}

// operation is what is known of an operation while it is attacked.
type operation struct {
	entry  sitemap.Entry
	first  sync.Once
	answer *message.Response // see Trial.First
	once   sync.Once
	base   *Baseline
	err    error
	facts  *facts
	wait   waited
	yield  func() bool // ends the turn, see pause; nil: it has none
	// A vulnerability was reported.
	told atomic.Bool
	// now says which checks are made now; nil: all.
	now func(*Rule) bool
	mu  sync.Mutex // of facts.found, asked and askedAt
	// asked are answers by payload, of the point that was asked last; see Probe.SendCached.
	askedAt string
	asked   map[string]*message.Response
	// The bytes of the bodies in asked.
	size int
	// The word of the point's canary; empty: none was sent.
	word  string
	other string // value of Probe.Other
}

// facts are what is kept of an operation for the slow checks.
type facts struct {
	found map[string]bool // by point and what was found, and by point alone when it is read
	usual time.Duration   // that an answer takes on average; 0: unknown. Guarded by Run.mu
	// varies says that some answers took much longer without a reason. Guarded by Run.mu
	varies bool
	again  bool            // a later attempt attacks the operation again. Guarded by Run.mu
	shown  []message.Point // see Trial.Repeats
}

// letters are those of which no words are made that filters look for: "on", "script",
// "or", "src", "union".
const letters = "bcdfghjklmnpqrtvwxz"

// RandomLetters returns up to 32 random letters, other ones at each call; the same in the same
// order with the same Seed.
func (r *Engine) RandomLetters(n int) string {
	b := r.drawRandomBytes()
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b[:n])
}

// RandomNumber returns a random number from low to high, both included.
func (r *Engine) RandomNumber(low, high int) int {
	b := r.drawRandomBytes()
	return low + int(binary.BigEndian.Uint32(b[:])%uint32(high-low+1))
}

// drawRandomBytes returns the next random bytes: those of a hash over the seed and a counter, so
// that a run can be repeated.
func (r *Engine) drawRandomBytes() [sha256.Size]byte {
	var in [16]byte
	binary.BigEndian.PutUint64(in[:8], r.Seed)
	binary.BigEndian.PutUint64(in[8:], r.counter.Add(1))
	return sha256.Sum256(in[:])
}

// FirstTime reports whether it is called with the key for the first time in the run.
func (r *Engine) FirstTime(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.once == nil {
		r.once = map[string]bool{}
	}
	again := r.once[key]
	r.once[key] = true
	return !again
}

// IncrementCount counts under the key, and returns how often it was called with it in the run.
func (r *Engine) IncrementCount(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[key]++
	return r.counts[key]
}

// CountOf returns how often Count was called with the key.
func (r *Engine) CountOf(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[key]
}

// Run attacks every operation of the sitemap, and again those that are found
// meanwhile. It ends early, with a reason, when nothing more can be sent.
func (r *Engine) Run(ctx context.Context) error {
	r.tokens, r.facts = map[string]StoredPayload{}, map[string]*facts{}
	r.restoreCheckpoint()
	defer r.leftOut()
	for _, slow := range []bool{false, true} {
		// Checks that take the target's time would slow down its users.
		if slow && (r.Target.Production || !r.hasRules(true)) {
			break
		}
		if err := r.runRound(ctx, slow); err != nil {
			return r.endReason(ctx, err)
		}
	}
	// What may still be created is now used for the proof of stored values.
	r.SideEffects.StartFinalRound()
	if err := r.searchStoredPayloads(ctx); err != nil {
		return r.endReason(ctx, err)
	}
	if err := r.awaitLateInteractions(ctx); err != nil {
		return r.endReason(ctx, err)
	}
	return nil
}

// hasRules reports whether any check of that speed runs.
func (r *Engine) hasRules(slow bool) bool {
	return slices.ContainsFunc(r.Rules, func(c *Rule) bool { return c.Slow == slow && r.isAllowed(c) })
}

// isAllowed reports whether the target asks for the check, and its profile goes as far.
func (r *Engine) isAllowed(c *Rule) bool {
	if len(r.Target.Checks) > 0 && !slices.Contains(r.Target.Checks, c.ID) {
		return false
	}
	need := c.Profile
	if need == "" {
		need = scan.Passive
	}
	return r.Target.Profile.Allows(need)
}

// endReason turns the end of all sending into a reason.
func (r *Engine) endReason(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, traffic.ErrBudgetExhausted) {
		return ctx.Err()
	}
	if traffic.IsFinal(err) {
		r.ReportGap(scan.Reason{Code: "unavailable", Message: "the attack ended early: " + err.Error()})
		return nil
	}
	return err
}

// runRound runs the quick or the slow checks over all operations.
func (r *Engine) runRound(ctx context.Context, slow bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	entries := orderEntries(r.Sitemap.Entries())
	r.families.countSizes(entries)
	base, err := message.FromURL(r.Scope.Base())
	if err == nil && r.words == nil {
		r.words = pathWords(base, entries)
	}
	unfinished := &r.unfinished[roundIndex(slow)]
	unfinished.setEntries(entries)
	var done atomic.Int64
	ended := func(e sitemap.Entry) {
		unfinished.markEnded(e)
		if n := int(done.Add(1)); r.Progress != nil && !slow {
			r.Progress(n, len(entries))
		}
	}
	if err == nil {
		if err := r.scanSite(ctx, base, slow); traffic.IsFinal(err) {
			cancel(err)
		}
	}
	aside := r.inTurns(ctx, cancel, entries, slow, ended)
	r.scanDeferred(aside, func(e sitemap.Entry) {
		t := &turn{entry: e}
		if r.beginOperation(ctx, t, true) {
			for r.continueOperation(t) {
			}
			if _, err := r.endOperation(t); traffic.IsFinal(err) {
				cancel(err)
				return
			}
		}
		ended(e)
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return nil
}

// inTurns attacks the operations, several at once, each for a turn until all have ended. It
// returns those that take too long to answer beside others. Cancel ends the context.
func (r *Engine) inTurns(ctx context.Context, cancel context.CancelCauseFunc, entries []sitemap.Entry, slow bool,
	ended func(sitemap.Entry)) []sitemap.Entry {
	var aside asides
	list := make([]*turn, len(entries))
	for i, e := range entries {
		list[i] = &turn{entry: e, slow: slow}
	}
	queue := newTurns(list)
	var workers sync.WaitGroup
	for range max(1, r.Parallel) {
		workers.Go(func() {
			for t := queue.nextTurn(); t != nil; t = queue.nextTurn() {
				queue.returnTurn(t, r.runTurn(ctx, cancel, t, &aside, ended))
			}
		})
	}
	workers.Wait()
	return aside.list
}

// runTurn gives an operation its turn and reports whether it needs another one.
func (r *Engine) runTurn(ctx context.Context, cancel context.CancelCauseFunc, t *turn, aside *asides,
	ended func(sitemap.Entry)) (more bool) {
	if ctx.Err() != nil {
		if t.begun {
			t.stop()
		}
		return false
	}
	if !t.begun && !r.beginOperation(ctx, t, t.slow) {
		ended(t.entry)
		return false
	}
	if r.continueOperation(t) {
		return true
	}
	switch over, err := r.endOperation(t); {
	case traffic.IsFinal(err):
		cancel(err)
	case over && !t.slow:
		aside.addEntry(t.entry)
	default:
		ended(t.entry)
	}
	return false
}

// scanSite runs what is asked once.
func (r *Engine) scanSite(ctx context.Context, base *message.Request, slow bool) error {
	for _, c := range r.Rules {
		if c.ScanSite != nil && c.Slow == slow && r.isAllowed(c) {
			t := r.newScan(ctx, base, c, newOperation(sitemap.Entry{Request: base}))
			if err := r.recoverRule(t, func() error { return c.ScanSite(t) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// operationOf returns an operation with what was found there in an earlier round.
func (r *Engine) operationOf(e sitemap.Entry) *operation {
	shape := sitemap.OperationKey(e.Request)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.facts[shape] == nil {
		r.facts[shape] = &facts{found: map[string]bool{}}
	}
	op := newOperation(e)
	r.answers.shareBody(op.answer)
	op.facts = r.facts[shape]
	return op
}

// newOperation returns an operation that nothing is known of but the answer that the
// crawler got.
func newOperation(e sitemap.Entry) *operation {
	op := &operation{entry: e, facts: &facts{found: map[string]bool{}}}
	if e.Response != nil {
		op.answer = e.Response.Copy()
	}
	return op
}

// runRules runs the quick or the slow checks on an operation.
func (r *Engine) runRules(ctx context.Context, op *operation, slow bool) error {
	e := op.entry
	// Where few objects may be created, what is stored comes first: it shows nowhere else.
	if scarce := r.SideEffects.Limited() && e.Request.Effect == message.Creates; scarce && !slow {
		op.now = func(c *Rule) bool { return len(c.StoredRules) > 0 }
		if err := r.probeValues(ctx, op, slow); err != nil {
			return err
		}
		op.now = func(c *Rule) bool { return len(c.StoredRules) == 0 }
	}
	for _, c := range r.Rules {
		if c.ScanOperation == nil || c.Slow != slow || !r.isAllowed(c) {
			continue
		}
		if err := op.endTurn(); err != nil {
			return err
		}
		t := r.newScan(ctx, e.Request, c, op)
		if err := r.runRule(t, func() error { return c.ScanOperation(t) }); err != nil {
			return err
		}
	}
	if e.Request.HasTooManyPoints() && !slow {
		r.ReportGap(scan.Reason{Code: "too-many-parameters", Message: fmt.Sprintf("%s %s takes too many values: the "+
			"first 500 of its query and body were attacked, or the first %d where those have no flaw", e.Request.Method,
			sitemap.PathShape(e.Request), maxAlike),
			Path: r.Location(e.Request)})
	}
	if err := r.probeValues(ctx, op, slow); err != nil {
		return err
	}
	if err := r.probePoints(ctx, op, op.facts.shown, slow, func(message.Point) bool { return false }); err != nil {
		return err
	}
	if err := r.probeExtraPoints(ctx, op, slow); err != nil {
		return err
	}
	if !slow {
		if err := r.scanBranches(ctx, op); err != nil {
			return err
		}
	}
	return r.confirmInteractions(ctx, false)
}

// probeValues runs the checks on the values of an operation and on their names.
func (r *Engine) probeValues(ctx context.Context, op *operation, slow bool) error {
	e := op.entry
	var renewed []string // what is sent there is replaced
	if r.RenewCSRFToken != nil {
		renewed = crawl.Tokens(e.Request)
	}
	own := r.editsOwnAccount(e.Request)
	limited := r.SideEffects.Limited()
	kept := func(at message.Point) bool {
		return limited && r.SideEffects.SkipsPoint(e.Request, at) || slices.Contains(renewed, at.Outer().Key()) ||
			own && r.endangersOwnAccount(at)
	}
	all := slices.Concat(e.Request.Points(), e.Request.Inner())
	if word, ok := r.words[sitemap.OperationKey(e.Request)]; ok {
		all = append(all, word)
	}
	if err := r.probePoints(ctx, op, all, slow, kept); err != nil {
		return err
	}
	return r.probePoints(ctx, op, op.namePoints(), slow, func(at message.Point) bool {
		return limited && r.SideEffects.SkipsPoint(e.Request, at) || op.readsName(at) ||
			own && r.endangersOwnAccount(at)
	})
}

// probePoints runs the checks on the points of an operation, but for those that are left out, and,
// where there are too many, until a hundred were attacked in vain.
func (r *Engine) probePoints(ctx context.Context, op *operation, list []message.Point, slow bool,
	out func(message.Point) bool) error {
	crowded := op.entry.Request.HasTooManyPoints()
	for i, at := range list {
		if crowded && i >= maxAlike && !op.told.Load() {
			break
		}
		if out(at) || op.now == nil && r.isRepeatedPoint(op.entry.Request, at, slow) {
			continue
		}
		if err := r.probePoint(ctx, op, at, slow); err != nil {
			return err
		}
	}
	return nil
}

// maxRepeated is in how many operations of a page a parameter is attacked: they differ in
// other parameters only, such as those that sort or filter.
const maxRepeated = 3

// isRepeatedPoint reports whether the parameter was attacked often enough on its page, and counts.
func (r *Engine) isRepeatedPoint(req *message.Request, at message.Point, slow bool) bool {
	place := sitemap.LocationOf(req, at)
	return place != "" && r.IncrementCount(fmt.Sprint("point ", slow, " ", place)) > maxRepeated
}

// values are the places of the values that names belong to.
var values = map[message.In]message.In{message.InQueryName: message.InQuery, message.InFormName: message.InForm,
	message.InCookieName: message.InCookie, message.InHeaderName: message.InHeader, message.InJSONName: message.InJSON}

// namePoints are the names of parameters that are attacked, among them one of a member of JSON where
// the answer speaks of it elsewhere than as the name of a member.
func (op *operation) namePoints() []message.Point {
	list := op.entry.Request.Names()
	if op.answer == nil || slices.ContainsFunc(list, func(at message.Point) bool {
		return at.In == message.InJSONName
	}) {
		return list
	}
	said := wordsOfTexts(op.answer)
	for _, at := range op.entry.Request.Members() {
		if len(at.Value) >= minSpoken && slices.Contains(said, strings.ToLower(at.Value)) {
			return append(list, at)
		}
	}
	return list
}

// minSpoken is the length of a name that is looked for in answers: shorter ones are words of
// many pages.
const minSpoken = 4

// wordsOfTexts are the words of the texts of an answer, in small letters, without names of members.
func wordsOfTexts(resp *message.Response) []string {
	var text strings.Builder
	if document := message.DecodeJSON(resp.Body); document != nil {
		collectTexts(document, 0, &text)
	} else {
		text.WriteString(resp.Text())
	}
	return strings.FieldsFunc(strings.ToLower(text.String()), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-'
	})
}

// collectTexts collects the texts of a document.
func collectTexts(v any, depth int, into *strings.Builder) {
	switch v := v.(type) {
	case string:
		into.WriteString(v + "\n")
	case []any:
		for _, below := range v {
			if depth < maxTexts {
				collectTexts(below, depth+1, into)
			}
		}
	case map[string]any:
		for _, below := range v {
			if depth < maxTexts {
				collectTexts(below, depth+1, into)
			}
		}
	}
}

// maxTexts bounds the depth of a document whose texts are read.
const maxTexts = 20

// readsName reports whether the value that the name belongs to is known to be read.
func (op *operation) readsName(name message.Point) bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	value := name
	value.In = values[name.In]
	return op.facts.found[name.Key()] || op.facts.found[value.Key()]
}

// maxEchoes bounds the operations of a folder in which a header that is shown is attacked.
const maxEchoes = 3

// AddReflectedPoint says that the answer shows a header that the request does not have, so that the
// application reads it: it is attacked as every other point.
func (t *OperationScan) AddReflectedPoint(at message.Point) {
	if t.IncrementCount("shown "+at.Name+" "+t.Request.Base()+path.Dir(t.Request.Path)) <= maxEchoes {
		t.op.facts.shown = append(t.op.facts.shown, at)
	}
}

// probeExtraPoints runs the checks on points that only they want.
func (r *Engine) probeExtraPoints(ctx context.Context, op *operation, slow bool) error {
	var points []message.Point
	wanted := map[string][]*Rule{}
	for _, c := range r.Rules {
		if c.ExtraPoints == nil || c.ProbePoint == nil || c.Slow != slow || !r.isAllowed(c) {
			continue
		}
		for _, at := range c.ExtraPoints(op.entry.Request) {
			if wanted[at.Key()] == nil {
				points = append(points, at)
			}
			wanted[at.Key()] = append(wanted[at.Key()], c)
		}
	}
	for _, at := range points {
		for _, c := range wanted[at.Key()] {
			if err := r.runProbe(ctx, op, c, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// probePoint runs the checks on one point.
func (r *Engine) probePoint(ctx context.Context, op *operation, at message.Point, slow bool) error {
	for _, c := range r.Rules {
		if c.ProbePoint == nil || c.Slow != slow || !r.isAllowed(c) || !c.acceptsPoint(at) || op.now != nil &&
			!op.now(c) {
			continue
		}
		if err := r.runProbe(ctx, op, c, at); err != nil {
			return err
		}
	}
	return nil
}

// acceptsPoint applies Wants, or its default.
func (c *Rule) acceptsPoint(at message.Point) bool {
	if c.AcceptsPoint != nil {
		return c.AcceptsPoint(at)
	}
	switch at.In {
	case message.InQuery, message.InForm, message.InMultipart, message.InJSON, message.InXML, message.InPath:
		return true
	}
	return false
}

// runProbe runs a check at one point of an operation, once it is the operation's turn.
func (r *Engine) runProbe(ctx context.Context, op *operation, c *Rule, at message.Point) error {
	if err := op.endTurn(); err != nil {
		return err
	}
	p := &Probe{OperationScan: *r.newScan(ctx, op.entry.Request, c, op), Point: at}
	return r.runRule(&p.OperationScan, func() error { return c.ProbePoint(p) })
}

// runRule calls a check as guard does, a Slow one when it may.
func (r *Engine) runRule(t *OperationScan, f func() error) error {
	switch {
	case t.check.Slow && t.check.Concurrent:
		r.slow.RLock()
		defer r.slow.RUnlock()
	case t.check.Slow:
		r.slow.Lock()
		defer r.slow.Unlock()
	}
	return r.recoverRule(t, f)
}

// recoverRule calls a check. An error that ends the run is returned; any other concerns this
// operation and check alone, and so does a panic.
func (r *Engine) recoverRule(t *OperationScan, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			t.forceRescan()
			r.ReportGap(scan.Reason{Code: "panic", Message: fmt.Sprintf("check %s crashed: %s", t.check.ID,
				describePanic(v)),
				Path: r.Location(t.Request)})
			err = nil
		}
	}()
	if t.Context.Err() != nil {
		return context.Cause(t.Context)
	}
	err = f()
	switch {
	case err == nil, traffic.IsFinal(err):
		return err
	case errs.Is(err, errs.Forbidden), errs.Is(err, errs.Invalid): // out of scope, or a value that no client sends
		return nil
	}
	t.forceRescan()
	r.gaps.Add(r.Location(t.Request), t.check.ID, err.Error())
	return nil
}

// describePanic names the runtime's panic and its place; any other value may hold what the
// target said.
func describePanic(v any) string {
	text := fmt.Sprintf("a %T", v)
	if err, ok := v.(error); ok && strings.HasPrefix(err.Error(), "runtime error") {
		text = err.Error()
	}
	for line := range strings.Lines(string(debug.Stack())) {
		if i := strings.Index(line, "/dast/"); i >= 0 && !strings.Contains(line, "/attack/attack.go") &&
			strings.Contains(line, ".go:") {
			return text + " at " + strings.TrimSpace(line[i+1:])
		}
	}
	return text
}
