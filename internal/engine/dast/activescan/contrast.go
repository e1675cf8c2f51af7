package activescan

import "merlon/internal/engine/dast/message"

// This file decides by pairs of payloads whether the target evaluates them.

// A Contrast is what pairs of payloads showed that differ only in being true or false.
type Contrast struct {
	Yes, No     string // payloads of the last round
	True, False *Page  // that they got
	Answers     []*message.Response
	Notes       []string
}

// A Question makes the payloads of one round, with constants that no round before had.
// One is true for the language that is asked, the other is false; both have the same
// length, so that nothing else tells them apart.
type Question func() (yes, no string)

// Rounds is how often a question is asked.
const Rounds = 3

// Contrast asks a question in several rounds, in turning order. It returns nil when
// the answers do not follow the truth: those of true payloads all have to be the same
// page, those of false ones all another. Pages that are given are what the answers
// have to equal, or nil.
//
// What follows the truth is asked once more while nothing else is under way: a page may show
// a message once, of what another operation has done meanwhile.
func (p *Probe) Contrast(ask Question, yes, no *Page) (*Contrast, error) {
	c, err := p.decide(ask, yes, no)
	if err != nil || c == nil {
		return nil, err
	}
	err = p.Alone(func() (err error) {
		if _, err = p.Try(c.No); err == nil { // takes such a message away
			c, err = p.decide(ask, c.True, c.False)
		}
		return err
	})
	return c, err
}

// Alone does something while no other request of the run is under way. It may be called
// within itself.
func (t *Trial) Alone(do func() error) error {
	if t.only {
		return do()
	}
	t.renewing.Lock()
	defer t.renewing.Unlock()
	t.only = true
	defer func() { t.only = false }()
	return do()
}

// decide is Contrast in one pass.
func (p *Probe) decide(ask Question, yes, no *Page) (*Contrast, error) {
	c := &Contrast{}
	for round := range Rounds {
		c.Yes, c.No = ask()
		payloads, want, notes := []string{c.Yes, c.No}, []**Page{&yes, &no}, []string{"true", "false"}
		if round%2 == 1 || round == 0 && yes == nil && no != nil {
			payloads[0], payloads[1] = payloads[1], payloads[0]
			want[0], want[1] = want[1], want[0]
			notes[0], notes[1] = notes[1], notes[0]
		}
		for i, payload := range payloads {
			resp, err := p.Try(payload)
			if err != nil {
				return nil, err
			}
			page := p.Page(resp, payload)
			if *want[i] == nil {
				*want[i] = page
			} else if !page.Equal(*want[i]) {
				return nil, nil
			}
			c.Answers, c.Notes = append(c.Answers, resp), append(c.Notes, notes[i])
		}
		if yes.Equal(no) {
			return nil, nil
		}
	}
	c.True, c.False = yes, no
	return c, nil
}
