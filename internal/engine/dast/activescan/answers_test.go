package activescan

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/message"
)

// The same large answer is kept once, whatever came between; so many others that they take
// too much room push it out.
func TestAnswers(t *testing.T) {
	var a answers
	answer := func(body string) *message.Response {
		r := &message.Response{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
		a.shareBody(r)
		return r
	}
	page := strings.Repeat("<p>page</p>", 1<<16)
	if answer(page).Shared() {
		t.Error("the first one is shared")
	}
	for i := range 3 {
		answer(fmt.Sprint(i, page))
	}
	if r := answer(page); !r.Shared() || r.Text() != page || r.Document().FirstChild == nil {
		t.Error("the same answer is not shared, or not read")
	}
	answer("short")
	if answer("short").Shared() {
		t.Error("a short answer is shared")
	}
	for i := range 40 {
		answer(fmt.Sprint(i, page))
	}
	if a.size > maxShared || len(a.known) > maxShared/len(page) {
		t.Errorf("%d bytes of %d answers are kept", a.size, len(a.known))
	}
	if answer(page).Shared() {
		t.Error("what was pushed out is shared")
	}
}
