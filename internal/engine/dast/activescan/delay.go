package activescan

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/message"
)

// This file decides by time whether the target does what a payload says.

// A DelayResult is what payloads showed that keep the target busy.
type DelayResult struct {
	Payload       string // one that delays
	Responses     []*message.Response
	ResponseNotes []string
	Proof         []string
}

// DelayKind is what payloads can say of the time that they take.
type DelayKind int

// Payloads sleep for a Fine time, to a hundredth of a second, or for Whole seconds; or
// they are Work for about as long, of which only is known that more takes longer.
const (
	PreciseSleep DelayKind = iota
	WholeSeconds
	Computation
)

const (
	shortest = 2 * time.Second // the shorter delay of those that are measured alone
	least    = 0.8             // of a sleep that must have passed
	tooSlow  = time.Second
	// exact is how far a sleep may be off, where the target answers at once; else it is
	// half of what an answer takes, up to vague. It may be later by a fifth: nothing is in
	// time on a machine that is busy.
	exact = 50 * time.Millisecond
	vague = 120 * time.Millisecond
	// apart is how much longer work takes than none, and how much answers without a delay
	// may differ before a delay has to be shown again.
	apart = 200 * time.Millisecond
	// A machine is busy that does not let us run for stalled; beat is how often we look.
	stalled = 50 * time.Millisecond
	beat    = 10 * time.Millisecond
)

// crowded is noted when a few answers were late for other reasons than the payload alone,
// most likely because of other requests: from then on nothing else is under way.
const crowded = "delays one by one"

// MeasureDelay sends payloads that keep the target busy, and returns nil when the time that the
// answers take does not follow. An empty payload ends it.
//
// Sleeps are tried beside other requests first, which can only make an answer later: one
// that comes too early decides. After one that is late by the time that was asked for,
// and one without a sleep that is not, a sleep of another length is measured while
// nothing else is under way. Times are drawn at random, and have to be met closely: no
// other cause does that. What is late, but does not fit so well, is decided by long
// delays with nothing else under way, as work always is. What was measured on a machine
// that is busy, this one or, where answers vary without a delay, the target's, is not
// believed before two more sleeps, or all of it two more times: there, any time is met by
// chance now and then.
func (p *Probe) MeasureDelay(how DelayKind, payload func(time.Duration) string) (*DelayResult, error) {
	if payload(shortest) == "" {
		return nil, nil
	}
	usual, varies, err := p.usualDuration()
	if err != nil || usual > tooSlow { // nothing can be told apart
		return nil, err
	}
	m := &measured{Probe: p, how: how, usual: usual, payload: payload, doubt: varies}
	return m.measureDelay()
}

// measured are the answers to the payloads of one place.
type measured struct {
	*Probe
	how     DelayKind
	usual   time.Duration // that an answer takes
	payload func(time.Duration) string
	delay   DelayResult
	doubt   bool // a machine was busy
}

// measureDelay measures by short sleeps if these tell, else by long ones.
func (m *measured) measureDelay() (*DelayResult, error) {
	if m.how == Computation {
		return m.repeatLongDelays()
	}
	d, early, err := m.measureShortSleeps()
	if d != nil || early || err != nil {
		return d, err
	}
	if m.IncrementCount(crowded) == 3 {
		m.RecordFact(crowded)
	}
	return m.repeatLongDelays()
}

// measureResponse sends the payload for a time, and tells how long the answer took.
func (m *measured) measureResponse(d time.Duration, alone bool) (time.Duration, error) {
	send, note := m.Send, "beside other requests"
	if alone {
		send, note = m.SendExclusively, "with nothing else under way"
	}
	worst := watchScheduling()
	resp, err := send(m.Request.With(m.Point, m.payload(d)))
	if held := worst(); err != nil {
		return 0, err
	} else if held > stalled || d == 0 && (resp.Took-m.usual).Abs() > apart {
		m.doubt = true
	}
	of := "a delay of " + formatSeconds(d)
	if m.how == Computation {
		of = strconv.Itoa(int(d/time.Second)) + " units of work"
	}
	m.delay.Responses, m.delay.ResponseNotes = append(m.delay.Responses, resp),
		append(m.delay.ResponseNotes, of+", "+note)
	m.delay.Proof = append(m.delay.Proof, fmt.Sprintf("With %s it takes %s, %s.", of, formatSeconds(resp.Took), note))
	return resp.Took, nil
}

// watchScheduling looks whether this process is let run, until the function that it returns is called:
// that tells the longest time for which it was not.
func watchScheduling() (worst func() time.Duration) {
	stop, out := make(chan struct{}), make(chan time.Duration)
	go func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		var most time.Duration
		for last, going := time.Now(), true; going; {
			select {
			case <-tick.C:
			case <-stop:
				going = false
			}
			now := time.Now()
			most, last = max(most, now.Sub(last)-beat), now
		}
		out <- most
	}()
	return func() time.Duration { close(stop); return <-out }
}

// resetMeasurements forgets what was measured.
func (m *measured) resetMeasurements(payload time.Duration) {
	m.delay = DelayResult{Payload: m.payload(payload), Proof: []string{"Without a payload the " +
		"response takes " + formatSeconds(m.usual) + "."}}
}

// measureShortSleeps measures short sleeps. It reports whether an answer came too early for one; no
// Delay and no such answer decide nothing.
func (m *measured) measureShortSleeps() (d *DelayResult, early bool, err error) {
	first, second := m.usual.Truncate(10*time.Millisecond)+time.Duration(m.RandomNumber(70, 95))*10*time.Millisecond,
		time.Duration(m.RandomNumber(35, 50))*10*time.Millisecond
	if m.how == WholeSeconds {
		first, second = 2*time.Second, time.Second
	}
	m.resetMeasurements(first)
	m.engine.proofs.waitForProofs(m.Context)
	took, err := m.measureResponse(first, m.HasFact(crowded))
	if err != nil || took < m.minimumDuration(first) {
		return nil, true, err
	}
	m.engine.proofs.beginProof()
	defer m.engine.proofs.endProof()
	none, err := m.measureResponse(0, m.HasFact(crowded))
	if err != nil || none > m.usual+second/2 {
		return nil, false, err
	}
	fits := func(asked, took time.Duration) bool {
		off := min(max(exact, none/2), vague)
		return took-none >= asked-off && took-none <= asked+off+asked/5
	}
	if !fits(first, took) {
		return nil, false, nil
	}
	for more := 0; more == 0 || more < 3 && m.doubt; more++ {
		if took, err = m.measureResponse(second, true); err != nil || !fits(second, took) {
			return nil, false, err
		}
		if m.how == PreciseSleep {
			second = time.Duration(m.RandomNumber(30, 95)) * 10 * time.Millisecond
		}
	}
	return &m.delay, false, nil
}

// proofs counts the places at which a first sleep was in time, and which wait for a measure
// with nothing else under way. No other sleep begins meanwhile, which each of them would
// have to wait for. The zero value counts none.
type proofs struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0 again
}

// beginProof says that times are being measured: whatever is not part of that waits.
func (p *proofs) beginProof() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.none = make(chan struct{})
	}
}

// endProof says that one measurement is over; the last one lets the others go on.
func (p *proofs) endProof() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n--; p.n == 0 {
		close(p.none)
	}
}

// waitForProofs returns when nobody waits any more, or the context ends.
func (p *proofs) waitForProofs(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		n, none := p.n, p.none
		p.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-none:
		case <-ctx.Done():
		}
	}
}

// repeatLongDelays is long, for as often as it has to be shown.
func (m *measured) repeatLongDelays() (*DelayResult, error) {
	d, err := m.measureLongDelays()
	for again := 0; again < 2 && d != nil && m.doubt; again++ {
		d, err = m.measureLongDelays()
	}
	return d, err
}

// measureLongDelays asks for 2, 0, 4 and again 0 seconds, or units of work. A sleep of twice the time
// takes about twice as much more than none; twice the work takes half as much more again
// at least, and none takes clearly less time, both times about the same: otherwise answers
// that vary by a second, as where passwords are digested on a busy machine, would look like
// work now and then.
func (m *measured) measureLongDelays() (*DelayResult, error) {
	m.resetMeasurements(shortest)
	var short, none time.Duration
	for i, n := range []time.Duration{shortest, 0, 2 * shortest, 0} {
		took, err := m.measureResponse(n, true)
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			if short = took; took < m.minimumDuration(n) {
				return nil, nil
			}
		case n == 0 && (took > m.usual+short/2 || m.how == Computation && took > short-apart):
			return nil, nil
		case i == 3 && (took-none).Abs() > (short-none)/2: // they vary by themselves
			return nil, nil
		case n == 0:
			none = took
		case m.how == Computation && took-none < 3*(short-none)/2:
			return nil, nil
		case took < max(m.minimumDuration(n), short+short/2):
			return nil, nil
		case m.how != Computation && took-none > 5*(short-none)/2:
			return nil, nil
		}
	}
	return &m.delay, nil
}

// usualDuration is how long the operation takes to answer, if it is not known from earlier by
// asking it alone, and whether that was seen to vary.
func (p *Probe) usualDuration() (usual time.Duration, varies bool, err error) {
	p.engine.mu.Lock()
	usual, varies = p.op.facts.usual, p.op.facts.varies
	p.engine.mu.Unlock()
	if usual > 0 {
		return usual, varies, nil
	}
	resp, err := p.SendExclusively(p.Request)
	if err != nil {
		return 0, false, err
	}
	p.engine.mu.Lock()
	defer p.engine.mu.Unlock()
	p.op.facts.usual = resp.Took
	return resp.Took, false, nil
}

// minimumDuration is how long an answer with a delay takes at least: some answers are quicker than
// usual.
func (m *measured) minimumDuration(d time.Duration) time.Duration {
	if m.how == Computation {
		return 300*time.Millisecond*d/shortest + m.usual/2
	}
	return time.Duration(least*float64(d)) + m.usual/4
}

// formatSeconds writes a time for people, without decimals that are none.
func formatSeconds(d time.Duration) string {
	return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 2, 64), ".00") + " s"
}
