package activescan

import "merlon/internal/engine/dast/message"

// This file decides by pairs of payloads whether the target evaluates them.

// A ConditionResult is what pairs of payloads showed that differ only in being true or false.
type ConditionResult struct {
	Yes, No       string // payloads of the last round
	True, False   *Page  // that they got
	Responses     []*message.Response
	ResponseNotes []string
}

// A ConditionPayloads makes the payloads of one round, with constants that no round before had.
// One is true for the language that is asked, the other is false; both have the same
// length, so that nothing else tells them apart.
type ConditionPayloads func() (yes, no string)

// Rounds is how often a question is asked.
const Rounds = 3

// CompareConditions asks a question in several rounds, in turning order. It returns nil when
// the answers do not follow the truth: those of true payloads all have to be the same
// page, those of false ones all another. Pages that are given are what the answers
// have to equal, or nil.
//
// What follows the truth is asked once more while nothing else is under way: a page may show
// a message once, of what another operation has done meanwhile.
func (p *Probe) CompareConditions(ask ConditionPayloads, yes, no *Page) (*ConditionResult, error) {
	c, err := p.compareOnce(ask, yes, no)
	if err != nil || c == nil {
		return nil, err
	}
	err = p.RunExclusively(func() (err error) {
		if _, err = p.SendValue(c.No); err == nil { // takes such a message away
			c, err = p.compareOnce(ask, c.True, c.False)
		}
		return err
	})
	return c, err
}

// RunExclusively does something while no other request of the run is under way. It may be called
// within itself.
func (t *OperationScan) RunExclusively(do func() error) error {
	if t.only {
		return do()
	}
	t.engine.renewing.Lock()
	defer t.engine.renewing.Unlock()
	t.only = true
	defer func() { t.only = false }()
	return do()
}

// compareOnce is Contrast in one pass.
func (p *Probe) compareOnce(ask ConditionPayloads, yes, no *Page) (*ConditionResult, error) {
	c := &ConditionResult{}
	for round := range Rounds {
		c.Yes, c.No = ask()
		payloads, want, notes := []string{c.Yes, c.No}, []**Page{&yes, &no}, []string{"true", "false"}
		if round%2 == 1 || round == 0 && yes == nil && no != nil {
			payloads[0], payloads[1] = payloads[1], payloads[0]
			want[0], want[1] = want[1], want[0]
			notes[0], notes[1] = notes[1], notes[0]
		}
		for i, payload := range payloads {
			resp, err := p.SendValue(payload)
			if err != nil {
				return nil, err
			}
			page := p.PageOf(resp, payload)
			if *want[i] == nil {
				*want[i] = page
			} else if !page.Equal(*want[i]) {
				return nil, nil
			}
			c.Responses, c.ResponseNotes = append(c.Responses, resp), append(c.ResponseNotes, notes[i])
		}
		if yes.Equal(no) {
			return nil, nil
		}
	}
	c.True, c.False = yes, no
	return c, nil
}
