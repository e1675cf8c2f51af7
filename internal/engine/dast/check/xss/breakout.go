package xss

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
)

// This file tries the values that leave a place.

// A proof is a value that became script in a page.
type proof struct {
	// where is the context that the value left.
	where context
	// word is the function that the script calls.
	word string
	// payload is the whole value that was sent.
	payload string
	// how describes what runs it, as in "an event handler onload that calls it"; empty: nothing
	// does.
	how string
	// request sent the value, answer shows the page with it: of a stored value another page.
	request *message.Request
	answer  *message.Response
}

// A breaker tries values at one point until one leaves its context.
type breaker struct {
	// random returns letters that are not in the page yet.
	random func(n int) string
	// try sends a value, and returns the response that shows it and the request.
	try func(payload string) (*message.Response, *message.Request, error)
	// upper: the response shows values in capitals, so the word is chosen in capitals too.
	upper bool
	// lead stands before each value, and makes the response show it, such as a quote that breaks a
	// query.
	lead string
	// pad follows each value, whose end the application cuts off or replaces.
	pad string
	// word is the function of the next value.
	word string
	// sent contains the values that were tried, because contexts share some.
	sent []string
}

// nextWord chooses a new word, so that a stored value of an earlier try is not taken for this one.
func (b *breaker) nextWord() string {
	b.word = "m" + b.random(9)
	if b.upper { // such a script is written without letters
		b.word = strings.ToUpper(b.word)
	}
	return b.word
}

// maxContexts bounds the contexts of one value that are tried. A word that appears in a form, a
// title and a script has three.
const maxContexts = 5

// maxBlocked bounds the values in a row that do not come back at all, before a firewall in front is
// assumed to refuse them.
const maxBlocked = 3

// breakContexts tries to leave the contexts one after the other, until one is left. Text between
// tags gets all elements (anyTags) if harmless markup comes back: then a filter lets some through.
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

// breakMarkup tries elements where a word alone is refused, such as an editor that requires markup.
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
		// A value came back unchanged and still did not run: there is no filter to evade.
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
		// The character that had to come through is encoded everywhere: no other value can leave
		// the context.
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

// isIntact reports whether a value came back as it was sent, wherever the word is in the page.
func isIntact(text, payload, word string) bool {
	n := strings.Count(text, payload)
	return n > 0 && n*strings.Count(payload, word) == strings.Count(text, word)
}

// tryValue tries one value. The proof has no how where nothing runs it.
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

// repeatProof repeats a proof with another word, which rules out a page that had the first one from
// elsewhere; nil: it cannot be repeated.
func (b *breaker) repeatProof(found *proof) (*proof, error) {
	payload := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(found.payload, b.lead), b.pad), found.word,
		b.nextWord())
	again, err := b.tryValue(found.where, payload)
	if err != nil || again.how == "" {
		return nil, err
	}
	return again, nil
}

// allowsMarkup reports whether harmless markup comes back as markup, or the character "<" as it is.
// Filters with a list of permitted elements let b, a or img through.
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
		// "<" before the word made an element of that name.
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
