package sqlinjection

import (
	"math"
	"slices"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
)

// This file decides whether answers follow what is asked, or come as they like.

// What an answer can be.
const (
	asUsual  = iota // the statement was taken
	asBroken        // it was not
	asFalse         // it was taken, with a condition that is false
	outcomes
)

const wrongWord = "the same with a word that is not SQL"

// certain is how likely an application may be that answers so whatever is asked: eight answers of
// two kinds, or six of three. Where it is known that an operation does not, since another of
// its values was found, likely is enough: six and five. The first proof in an application needs
// more (stateless).
const (
	certain = 8.3e-3
	likely  = 0.05
)

// byChance counts the points of a run whose answers came as they liked. More than
// manyByChance make no difference, since maxRounds would not do.
const (
	byChance     = "sql by chance"
	manyByChance = 200
	// as how many chances a point counts whose own answers did, or of a kind that is seldom in a statement
	unlikely = 20
)

// contextLevel is how likely the answers may be at this place. Each place of the point that was
// looked at is another chance, and so is each point of the run whose answers came as they
// liked: where many pages fail at random, some of them do so in any order. Where those of the
// point itself did, it is most likely such a page; so it is with names of parameters and headers
// that nobody sent, which are seldom part of a statement, until one of them is found to be.
func (s *prober) contextLevel() float64 {
	chances := max(1, min(s.CountOf(byChance), manyByChance))
	if s.doubted || s.isUnlikelyPoint() && !s.HasFact(seldomProved) && !s.firstProof() {
		chances *= unlikely
	}
	level := certain
	switch {
	case s.HasFact(followsKey(s.Request)):
		level = likely
	case s.firstProof():
		level = stateless
	}
	return level / float64(max(1, s.looked)) / float64(chances)
}

// isUnlikelyPoint reports whether the point is of a kind that is seldom part of a statement.
func (s *prober) isUnlikelyPoint() bool {
	return s.Point.Names() || s.Point.In == message.InHeader && s.Point.Index < 0
}

// seldomProved is noted once such a point was found to be part of a statement.
const seldomProved = "sql in a name or an added header"

// followsKey is what is noted of an operation whose answers were shown to follow what is asked.
func followsKey(r *message.Request) string { return "sql answers of " + injectedKey(r) }

// recordDoubt says that answers do not follow what is asked.
func (s *prober) recordDoubt() {
	if !s.doubtful {
		s.IncrementCount(byChance)
		s.doubted = true
	}
	s.doubtful = true
}

// maxRounds bounds the requests for one form.
const maxRounds = 40

// rounds are answers to the values of one place.
type rounds struct {
	*prober
	place   *place
	same    bool             // wrong words are answered as the breaking value is
	plain   bool             // correct statements are answered with the usual page
	n       [outcomes]int    // how many answers there were
	page    *activescan.Page // that of a false condition; nil: it is none of its own
	wrong   *activescan.Page // that of the first wrong word
	last    form             // that was asked last
	answers []*message.Response
	notes   []string
}

// confirmInRandomOrder asks in random order (order) for what the statement takes, for what it does not, and for a
// false condition where that shows, so often that an application that answers by chance, with
// each answer as often as it was seen, would hardly have answered so. Nothing else is under way
// meanwhile, since it may change the page. Each place that is looked at is another chance. It
// ends at the first answer that is another one than expected, which makes the point doubtful.
// Bad is the answer to the first wrong word.
func (r *rounds) confirmInRandomOrder(bad *message.Response) (sure bool, err error) {
	if r.plain, err = r.isUsual(r.answers[1], r.last.good); err != nil {
		return false, err
	}
	if !r.same {
		usual, err := r.isUsual(bad, r.last.bad)
		if err != nil || !r.plain || usual {
			return false, err
		}
	}
	defer func() {
		if !sure && err == nil {
			r.recordDoubt()
		}
	}()
	r.n[asUsual], r.n[asBroken] = 2, 2 // as it was found, and with the breaking value; the values of the form
	switch {
	case r.lost != nil: // its words were chosen by the others
		r.n[asUsual], r.n[asBroken] = 1, 1
	case r.base != nil:
		r.n[asUsual]++
	}
	if r.place.form.no != "" {
		if err := r.probeFalseCondition(); err != nil {
			return false, err
		}
	}
	kinds := []int{asUsual, asBroken}
	if r.page != nil {
		kinds = append(kinds, asFalse)
	}
	order := r.drawOrder(kinds, r.n[:], 1)
	err = r.RunExclusively(func() error {
		for _, kind := range order {
			if follows, err := r.askNext(kind); err != nil || !follows {
				return err
			}
		}
		sure = len(order) > 0
		return nil
	})
	if sure {
		r.recordProof()
	}
	return sure, err
}

// chanceOfOrder is how likely answers come in the order that was seen, if they come by chance, each
// kind as often as it was seen, and whichever of them is called usual, broken or false.
func chanceOfOrder(kinds ...int) float64 {
	all, seen, p := 0, 0, 1.
	for _, n := range kinds {
		all += n
	}
	for _, n := range kinds {
		if n > 0 {
			seen++
			p *= float64(seen) * math.Pow(float64(n)/float64(all), float64(n))
		}
	}
	return min(p, 1)
}

// contrastQuestion asks a question, and where the first two answers differ goes on with it while
// nothing else is under way, since another attack may change what the page shows. Where one
// has done so before that, or what is true leads to a page of its own, it asks from the start
// without looking at what it was, once for the point. Yes is the page of true conditions; nil:
// it is not known. There is no contrast where answers do not follow, which makes the point
// doubtful when the first two did. Same says that these got the same page: what they differ
// in makes no difference there.
func (s *prober) contrastQuestion(ask activescan.ConditionPayloads,
	yes *activescan.Page) (c *activescan.ConditionResult, same bool, err error) {
	c, off, err := s.askPair(ask, yes)
	if err != nil || c == nil && (off == nil || s.anew || !s.isNewPage(off)) {
		return nil, off == nil, err
	}
	began := c != nil
	err = s.RunExclusively(func() (err error) {
		for {
			if c != nil {
				began = true
				if sure, err := s.continueContrast(ask, c); sure || err != nil {
					return err
				}
			}
			if c = nil; s.anew {
				return nil
			}
			s.anew = true
			if c, _, err = s.askPair(ask, nil); c == nil || err != nil {
				return err
			}
		}
	})
	if began && c == nil && err == nil {
		s.recordDoubt()
	}
	return c, false, err
}

// askPair asks a question once. Off is the page of a true condition when it is not what it is
// known to be; without it and without a contrast both answers are the same page.
func (s *prober) askPair(ask activescan.ConditionPayloads,
	yes *activescan.Page) (c *activescan.ConditionResult, off *activescan.Page,
	err error) {
	s.looked++
	c = &activescan.ConditionResult{}
	c.Yes, c.No = ask()
	for i, payload := range []string{c.Yes, c.No} {
		resp, err := s.SendValue(payload)
		if err != nil {
			return nil, nil, err
		}
		page := s.PageOf(resp, payload)
		switch {
		case i == 1:
			c.False = page
		case yes != nil && !page.Equal(yes):
			return nil, page, nil
		default:
			c.True = page
		}
		c.Responses, c.ResponseNotes = append(c.Responses, resp), append(c.ResponseNotes, truths[i])
	}
	if c.True.Equal(c.False) {
		return nil, nil, nil
	}
	return c, nil, nil
}

// truths are the notes of answers to what is true, and to what is not.
var truths = [2]string{"true", "false"}

// isNewPage reports whether a page is none of the usual, the missing and the broken one.
func (s *prober) isNewPage(page *activescan.Page) bool {
	return !page.Equal(s.usualPage()) && !page.Equal(s.PageOf(s.broken, s.Breaking())) &&
		(s.control == nil || !page.Equal(s.missingPage()))
}

// continueContrast goes on with the question of a contrast, in random order, until its answers would
// hardly have come by chance. Those to other values count as well.
func (s *prober) continueContrast(ask activescan.ConditionPayloads, c *activescan.ConditionResult) (bool, error) {
	seen := []*activescan.Page{c.True, c.False, s.usualPage(), s.PageOf(s.broken, s.Breaking())}
	n := []int{1, 1, 0, 0} // of each page
	count := func(page *activescan.Page) {
		n[slices.IndexFunc(seen, page.Equal)]++
	}
	for _, page := range seen[2:] {
		count(page)
	}
	if s.base != nil {
		count(s.usualPage())
	}
	if s.control != nil {
		seen, n = append(seen, s.missingPage()), append(n, 0)
		count(seen[4])
	}
	order := s.drawOrder([]int{0, 1}, n, 2*activescan.Rounds-2)
	for _, want := range order {
		yes, no := ask()
		payload := []string{yes, no}[want]
		resp, err := s.SendValue(payload)
		if err != nil {
			return false, err
		}
		if !s.PageOf(resp, payload).Equal(seen[want]) {
			return false, nil
		}
		c.Yes, c.No, c.Responses, c.ResponseNotes = yes, no, append(c.Responses, resp),
			append(c.ResponseNotes, truths[want])
	}
	if len(order) == 0 {
		return false, nil
	}
	s.recordProof()
	return true, nil
}

// sendValue sends a value and keeps the answer.
func (r *rounds) sendValue(value, note string) (*message.Response, error) {
	resp, err := r.SendValue(value)
	if err == nil {
		r.answers, r.notes = append(r.answers, resp), append(r.notes, note)
	}
	return resp, err
}

// probeFalseCondition asks for a false condition: it may have a page of its own, which tells more
// than the others do.
func (r *rounds) probeFalseCondition() error {
	no := r.place.form.no
	resp, err := r.sendValue(no, "the same with a false condition")
	if err != nil || r.isBroken(resp, no) {
		return err
	}
	page := r.PageOf(resp, no)
	switch {
	case !r.plain || page.Equal(r.usualPage()):
		if r.same {
			r.n[asUsual]++
		}
	case r.same || !page.Equal(r.wrong):
		r.page = page
		r.n[asFalse]++
		if !r.same && page.Equal(r.PageOf(r.broken, r.Breaking())) { // as that was, then
			r.n[asFalse]++
			r.n[asBroken]--
		}
	}
	return nil
}

// askNext asks a question of the kind, and reports whether the answer is as expected.
func (r *rounds) askNext(kind int) (follows bool, err error) {
	f := r.newForm(r.place)
	value, note := f.good, "a correct statement"
	switch kind {
	case asBroken:
		value, note, r.last = f.bad, wrongWord, f
	case asFalse:
		value, note = f.no, "the same with a false condition"
	}
	resp, err := r.sendValue(value, note)
	if err != nil {
		return false, err
	}
	if kind == asFalse {
		return r.PageOf(resp, value).Equal(r.page), nil
	}
	if r.same {
		return r.isBroken(resp, value) == (kind == asBroken), nil
	}
	usual, err := r.isUsual(resp, value)
	return usual == (kind == asUsual) && (r.page == nil || !r.PageOf(resp, value).Equal(r.page)), err
}
