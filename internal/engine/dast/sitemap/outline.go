package sitemap

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
)

// maxOutline bounds what of an answer its outline is made of, in bytes.
const maxOutline = 64 << 10

// Outline is the same for answers that one program has most likely made: of the same
// status and type, and of pages with the same elements in the same order, of everything
// else with the same text but for digits. It is never 0.
func Outline(resp *message.Response) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, resp.Status, resp.MediaType()) // a hash takes everything
	body := resp.Body[:min(len(resp.Body), maxOutline)]
	if resp.IsHTML() {
		writeElements(h, body)
	} else {
		_, _ = h.Write(maskDigits(body)) // likewise
	}
	return h.Sum64() | 1
}

// writeElements writes the names of the elements of a page.
func writeElements(to io.Writer, page []byte) {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			_, _ = to.Write(append(name, '>')) // likewise
		}
	}
}

// maskDigits is the text with each run of digits as one 0.
func maskDigits(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		if c >= '0' && c <= '9' {
			if n := len(out); n > 0 && out[n-1] == '0' {
				continue
			}
			c = '0'
		}
		out = append(out, c)
	}
	return out
}
