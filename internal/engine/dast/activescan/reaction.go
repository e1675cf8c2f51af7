package activescan

import "merlon/internal/engine/dast/message"

// This file is what several checks want to know of a point before they spend requests on
// it. What one of them has asked is not asked again.

// A Reaction is what a point answers to values that mean nothing to the application.
type Reaction struct {
	Base     *Baseline
	Broken   *message.Response // answer to Probe.Breaking
	Breaking *Page             // of Broken
	probe    *Probe
	missing  *Page
}

// Reaction asks for the baseline and for the answer to the breaking value.
func (p *Probe) Reaction() (*Reaction, error) {
	base, err := p.Baseline()
	if err != nil {
		return nil, err
	}
	broken, err := p.Ask(p.Breaking())
	if err != nil {
		return nil, err
	}
	return &Reaction{Base: base, Broken: broken, Breaking: p.Page(broken, p.Breaking()), probe: p}, nil
}

// Changed reports whether the breaking value changes the page, or nobody can tell.
func (r *Reaction) Changed() bool { return !r.Base.Stable || !r.Breaking.Equal(r.Base.Page()) }

// Missing is the page of a value that most likely names nothing (Probe.Other).
func (r *Reaction) Missing() (*Page, error) {
	if r.missing == nil {
		other := r.probe.Other()
		resp, err := r.probe.Ask(other)
		if err != nil {
			return nil, err
		}
		r.missing = r.probe.Page(resp, other)
	}
	return r.missing, nil
}

// A Canary is the answer to a harmless word in the place of the value.
type Canary struct {
	Word   string
	Answer *message.Response
}

// Canary asks once for each point: what repeats the word, and where, says what may be
// worth to try there.
func (p *Probe) Canary() (*Canary, error) {
	p.op.mu.Lock()
	p.op.at(p.At)
	word := p.op.word
	if word == "" {
		word = "m" + p.Random(9)
		p.op.word = word
	}
	p.op.mu.Unlock()
	resp, err := p.Ask(word)
	if err != nil {
		return nil, err
	}
	return &Canary{Word: word, Answer: resp}, nil
}

// at forgets what was asked at another point than this one. The caller holds mu.
func (op *operation) at(point message.Point) {
	if key := point.Key(); op.askedAt != key {
		op.askedAt, op.asked, op.size, op.word, op.other = key, map[string]*message.Response{}, 0, "", ""
	}
}
