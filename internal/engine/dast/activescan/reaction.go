package activescan

import "merlon/internal/engine/dast/message"

// This file is what several checks want to know of a point before they spend requests on
// it. What one of them has asked is not asked again.

// A ErrorReaction is what a point answers to values that mean nothing to the application.
type ErrorReaction struct {
	Base     *Baseline
	Broken   *message.Response // answer to Probe.Breaking
	Breaking *Page             // of Broken
	probe    *Probe
	missing  *Page
}

// ProbeErrorReaction asks for the baseline and for the answer to the breaking value.
func (p *Probe) ProbeErrorReaction() (*ErrorReaction, error) {
	base, err := p.Baseline()
	if err != nil {
		return nil, err
	}
	broken, err := p.SendCached(p.BreakingValue())
	if err != nil {
		return nil, err
	}
	return &ErrorReaction{Base: base, Broken: broken, Breaking: p.PageOf(broken, p.BreakingValue()), probe: p}, nil
}

// Changed reports whether the breaking value changes the page, or nobody can tell.
func (r *ErrorReaction) Changed() bool { return !r.Base.Stable || !r.Breaking.Equal(r.Base.Page()) }

// UnknownPage is the page of a value that most likely names nothing (Probe.UnknownValue).
func (r *ErrorReaction) UnknownPage() (*Page, error) {
	if r.missing == nil {
		other := r.probe.UnknownValue()
		resp, err := r.probe.SendCached(other)
		if err != nil {
			return nil, err
		}
		r.missing = r.probe.PageOf(resp, other)
	}
	return r.missing, nil
}

// A Canary is the answer to a harmless word in the place of the value.
type Canary struct {
	Word     string
	Response *message.Response
}

// ProbeCanary asks once for each point: what repeats the word, and where, says what may be
// worth to try there.
func (p *Probe) ProbeCanary() (*Canary, error) {
	p.op.mu.Lock()
	p.op.resetForPoint(p.Point)
	word := p.op.word
	if word == "" {
		word = "m" + p.RandomLetters(9)
		p.op.word = word
	}
	p.op.mu.Unlock()
	resp, err := p.SendCached(word)
	if err != nil {
		return nil, err
	}
	return &Canary{Word: word, Response: resp}, nil
}

// resetForPoint forgets what was asked at another point than this one. The caller holds mu.
func (op *operation) resetForPoint(point message.Point) {
	if key := point.Key(); op.askedAt != key {
		op.askedAt, op.asked, op.size, op.word, op.other = key, map[string]*message.Response{}, 0, "", ""
	}
}
