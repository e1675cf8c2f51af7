package xss

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
)

// This file tries the values that leave a place.

// A proof is a value that became script.
type proof struct {
	where   context
	word    string
	payload string
	how     string
	request *message.Request
	answer  *message.Response
}

// A breaker tries values at one point.
type breaker struct {
	random func(n int) string
	try    func(payload string) (*message.Response, *message.Request, error)
	upper  bool   // the answer has the value in capitals
	lead   string // stands before the value, and makes the answer show it
	pad    string // follows the value, whose end is cut off or replaced
	word   string
	sent   []string
}

// nextWord chooses another word.
func (b *breaker) nextWord() string {
	b.word = "m" + b.random(9)
	if b.upper { // such a script is written without letters
		b.word = strings.ToUpper(b.word)
	}
	return b.word
}

// maxContexts bounds the contexts of one value that are tried.
const maxContexts = 5

// maxBlocked bounds the values in a row that do not come back at all, before something
// in front is taken to refuse them.
const maxBlocked = 3

// breakContexts tries to leave one of the contexts.
func (b *breaker) breakContexts(list []context) (*proof, error) {
	b.nextWord()
	for _, c := range list[:min(len(list), maxContexts)] {
		found, some, err := b.breakContext(c, c.payloadsFor(b.word), false)
		if err != nil || found != nil {
			return found, err
		}
		if c.kind != inText || c.xml || !some {
			continue
		}
		if some, err = b.allowsMarkup(); err != nil {
			return nil, err
		}
		if some {
			if found, _, err = b.breakContext(c, anyTags(b.word), true); err != nil || found != nil {
				return found, err
			}
		}
	}
	return nil, nil
}

// breakMarkup tries values for what shows nothing but markup of a kind.
func (b *breaker) breakMarkup() (*proof, error) {
	found, _, err := b.breakContext(context{kind: inText}, anyTags(b.nextWord()), true)
	return found, err
}

// breakContext tries values at a context, all of them or as long as the answers leave hope,
// and tells whether they did until the end.
func (b *breaker) breakContext(c context, payloads []string, all bool) (found *proof, hope bool, err error) {
	blocked, same := 0, 0
	for _, payload := range payloads {
		if slices.Contains(b.sent, payload) {
			continue
		}
		if !all && same > 0 && isEvasion(payload) {
			continue // nothing is filtered there
		}
		b.sent = append(b.sent, payload)
		found, err := b.tryValue(c, payload)
		if err != nil || found.how != "" {
			return found, true, err
		}
		if all {
			continue
		}
		if isIntact(found.answer.Text(), payload, b.word) {
			same++
		}
		if c.isEscaped(found.answer, b.word, payload) {
			return nil, false, nil
		}
		if !strings.Contains(found.answer.Text(), b.word) {
			if blocked++; blocked == maxBlocked {
				break // something in front refuses all of them
			}
		}
	}
	return nil, true, nil
}

// isIntact reports whether a value came back as it was sent, wherever it did.
func isIntact(text, payload, word string) bool {
	n := strings.Count(text, payload)
	return n > 0 && n*strings.Count(payload, word) == strings.Count(text, word)
}

// tryValue tries one value; the proof has no how where there is none.
func (b *breaker) tryValue(c context, payload string) (*proof, error) {
	payload = b.lead + payload + b.pad
	resp, request, err := b.try(payload)
	if err != nil {
		return nil, err
	}
	out := &proof{where: c, word: b.word, payload: payload, request: request, answer: resp}
	if isRendered(resp) {
		out.how, _ = findExecution(resp, b.word)
	}
	return out, nil
}

// repeatProof repeats a proof with another word; nil: it cannot be repeated.
func (b *breaker) repeatProof(found *proof) (*proof, error) {
	payload := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(found.payload, b.lead), b.pad), found.word,
		b.nextWord())
	again, err := b.tryValue(found.where, payload)
	if err != nil || again.how == "" {
		return nil, err
	}
	return again, nil
}

// allowsMarkup reports whether harmless markup comes back as markup, or the sign that begins
// it as it is.
func (b *breaker) allowsMarkup() (bool, error) {
	w := b.word
	resp, _, err := b.try(b.lead + `<b title="` + w + `">` + w + `</b><a href="/` + w + `">` + w + `</a><img src="/` +
		w + `"><` + w + b.pad)
	if err != nil || !isRendered(resp) || !strings.Contains(resp.Text(), w) {
		return false, err
	}
	for n := range resp.Document().Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if strings.HasPrefix(n.Data, strings.ToLower(w)) {
			return true, nil
		}
		for _, a := range n.Attr {
			if strings.Contains(a.Val, w) && (n.Data == "b" || n.Data == "a" && a.Key == "href" || n.Data == "img") {
				return true, nil
			}
		}
	}
	return false, nil
}
