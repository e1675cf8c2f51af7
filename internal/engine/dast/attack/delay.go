package attack

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"merlon/internal/engine/dast/message"
)

// This file decides by time whether the target does what a payload says.

// A Delay is what payloads showed that keep the target busy.
type Delay struct {
	Payload string // of the shorter delay
	Answers []*message.Response
	Notes   []string
	Proof   []string
}

const (
	unit     = time.Second
	shortest = 2   // units of the shorter delay
	least    = 0.8 // of a sleep that must have passed
	tooSlow  = time.Second
)

// Delay sends payloads that keep the target busy for 2, 0, 4 and again 0 units, one
// request at a time, and returns nil when the time that the answers take does not
// follow. A unit is a second, or with work something of which only is known that twice
// as much takes longer. An empty payload ends it.
func (p *Probe) Delay(work bool, payload func(units int) string) (*Delay, error) {
	first := payload(shortest)
	if first == "" {
		return nil, nil
	}
	usual, err := p.usual()
	if err != nil {
		return nil, err
	}
	if usual > tooSlow { // nothing can be told apart
		return nil, nil
	}
	d := &Delay{Payload: first, Proof: []string{"Without an attack the answer takes " + seconds(usual) + "."}}
	var short time.Duration
	for i, n := range []int{shortest, 0, 2 * shortest, 0} {
		resp, err := p.SendAlone(p.Request.With(p.At, payload(n)))
		if err != nil {
			return nil, err
		}
		took := resp.Took
		switch {
		case i == 0:
			if short = took; took < floor(work, n)+usual/2 {
				return nil, nil
			}
		case n == 0 && took > usual+short/2:
			return nil, nil
		case n > 0 && took < max(floor(work, n), short+short/2):
			return nil, nil
		}
		d.Answers, d.Notes = append(d.Answers, resp), append(d.Notes, strconv.Itoa(n)+" units of delay")
		d.Proof = append(d.Proof, fmt.Sprintf("With %d units of delay it takes %s.", n, seconds(took)))
	}
	return d, nil
}

// usual is how long the operation takes to answer, as far as it is known from earlier.
func (p *Probe) usual() (time.Duration, error) {
	known := func() time.Duration {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.op.facts.usual
	}
	if usual := known(); usual > 0 {
		return usual, nil
	}
	_, err := p.Baseline()
	return known(), err
}

// floor is how long n units last at least.
func floor(work bool, n int) time.Duration {
	if work {
		return 300 * time.Millisecond * time.Duration(n) / shortest
	}
	return time.Duration(float64(n) * least * float64(unit))
}

func seconds(d time.Duration) string {
	return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 2, 64), ".00") + " s"
}
