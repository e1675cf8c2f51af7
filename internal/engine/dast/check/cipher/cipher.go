// Package cipher finds encryption that does not protect: a key stream that is used more than once
// (CWE-323), blocks that are encrypted each by itself (ECB, CWE-327), and responses that show
// whether the padding of a changed ciphertext is valid (padding oracle, CWE-209).
//
// The proofs: the ciphertext of a random text is predicted; equal blocks of a text of ours give
// equal blocks, twice; the padding of changed texts is predicted (padding.go). All need a parameter
// whose ciphertext the response contains, or that is a ciphertext itself.
package cipher

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var (
	keystream = texts.Get("keystream")
	blocks    = texts.Get("blocks")
	oracle    = texts.Get("padding-oracle")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "cipher", FindingRules: []*finding.Rule{keystream, blocks, oracle}, Profile: scan.Safe,
	AcceptsPoint: acceptsPoint, ProbePoint: probePoint}

// acceptsPoint reports whether encrypted text can stand at a point.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InQuery, message.InForm, message.InMultipart, message.InCookie:
		return true
	case message.InJSON:
		return p.Type == "string"
	}
	return false
}

// probePoint looks at a value that is encrypted in blocks for a padding oracle, and at
// other values for an answer that holds them encrypted.
func probePoint(p *activescan.Probe) error {
	if text, e := decodeText(p.Point.Value); e != nil {
		if size := blockSize(text); size > 0 && len(text) >= 2*size {
			return probePaddingOracle(p, text, size)
		}
	}
	base, err := p.Baseline()
	if err != nil || !holdsCiphertext(base.First, len(p.OriginalValue())) {
		return err
	}
	if found, err := probeKeystream(p, base); found || err != nil {
		return err
	}
	return probeECB(p, base)
}

// An encoding writes bytes as a text. read and write are inverse for texts that it accepts.
type encoding struct {
	read  func(string) ([]byte, error)
	write func([]byte) string
}

// encodings in the order in which they are tried: hexadecimal texts are base 64 too.
var encodings = []*encoding{
	{hex.DecodeString, hex.EncodeToString},
	{base64.StdEncoding.DecodeString, base64.StdEncoding.EncodeToString},
	{base64.RawStdEncoding.DecodeString, base64.RawStdEncoding.EncodeToString},
	{base64.URLEncoding.DecodeString, base64.URLEncoding.EncodeToString},
	{base64.RawURLEncoding.DecodeString, base64.RawURLEncoding.EncodeToString},
}

// least is the shortest ciphertext that is analyzed, in bytes; shorter texts decode by chance.
const least = 4

// decodeText decodes a text by the first encoding that reproduces it; a nil encoding: there is
// none.
func decodeText(s string) ([]byte, *encoding) {
	for _, e := range encodings {
		if b, err := e.read(s); err == nil && len(b) >= least && e.write(b) == s {
			return b, e
		}
	}
	return nil, nil
}

// possibleEncodings returns the encodings that a text could be of: base 64 that holds none of
// the characters in which its two alphabets differ is of both.
func possibleEncodings(s string) []*encoding {
	b, first := decodeText(s)
	if first == nil || first == encodings[0] {
		return []*encoding{first}
	}
	high := bytes.Repeat([]byte{0xff}, len(b)) // the characters that differ
	out, written := []*encoding{first}, []string{first.write(high)}
	for _, e := range encodings[1:] {
		if _, err := e.read(s); err == nil && e.write(b) == s && !slices.Contains(written, e.write(high)) {
			out, written = append(out, e), append(written, e.write(high))
		}
	}
	return out
}

// encoded matches texts that may be encoded, and many words.
var encoded = lazyregexp.New(`[A-Za-z0-9+/_-]{6,}={0,2}`)

// odd matches texts that are no words: with digits or signs, or with capitals in the middle.
var odd = lazyregexp.New(`[0-9+/=]|[a-z][A-Z].*[a-z][A-Z]`)

// ciphertexts returns what in an answer could be encrypted: its body, where it leads,
// and its cookies.
func ciphertexts(resp *message.Response) map[string][]byte {
	text := strings.Join(append([]string{strings.ReplaceAll(html.UnescapeString(resp.Text()), `\/`, "/"),
		resp.Header.Get("Location")}, resp.Header.Values("Set-Cookie")...), "\n")
	out := map[string][]byte{}
	for _, s := range encoded.FindAllString(text, 5000) {
		if !odd.MatchString(s) || len(out) >= 500 {
			continue
		}
		if b, e := decodeText(s); e != nil {
			out[s] = b
		}
	}
	return out
}

// holdsCiphertext reports whether a response contains a text that a value of this length could have
// been encrypted to: up to 48 bytes for initialization vector, padding and authentication code are
// added.
func holdsCiphertext(resp *message.Response, length int) bool {
	for _, b := range ciphertexts(resp) {
		if over := len(b) - length; over >= 0 && over <= 48 {
			return true
		}
	}
	return false
}

// randomPlaintext is a random one in which nothing repeats, of digits and letters of both cases,
// so that a change of case is no constant.
func randomPlaintext(p *activescan.Probe) string {
	var b strings.Builder
	for i, c := range p.RandomLetters(24) + p.RandomLetters(24) {
		switch (int(c) + i) % 3 {
		case 0:
			b.WriteRune('0' + (c-'a')%10)
		case 1:
			b.WriteRune(c - 'a' + 'A')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// A pad is the part of a key stream that a text was combined with (XOR).
type pad struct {
	// The bytes of the stream.
	key string
	// Where in the ciphertext they begin: at 0, or after an initialization vector.
	offset int
	// The length of the ciphertext.
	length int
}

// keystreams returns the bytes that could have been combined with the text, for every new
// ciphertext of an answer that is long enough.
func keystreams(base, resp *message.Response, text string) map[pad]bool {
	known := ciphertexts(base)
	out := map[pad]bool{}
	for s, b := range ciphertexts(resp) {
		if known[s] != nil || len(b) < len(text) || len(b) > len(text)+48 {
			continue
		}
		for _, offset := range []int{0, len(b) - len(text)} {
			key := xorBytes(b[offset:offset+len(text)], text)
			if strings.Trim(key, "\x00") != "" { // else it is only written in another way
				out[pad{key, offset, len(b)}] = true
			}
		}
	}
	return out
}

// xorBytes combines the bytes of a text with as many of others.
func xorBytes(b []byte, text string) string {
	key := make([]byte, len(text))
	for i := range key {
		key[i] = b[i] ^ text[i]
	}
	return string(key)
}

// probeKeystream looks for a stream of bytes that is used twice, and predicts two more texts.
func probeKeystream(p *activescan.Probe, base *activescan.Baseline) (bool, error) {
	first := randomPlaintext(p)
	resp, err := p.SendValue(first)
	if err != nil {
		return false, err
	}
	// Any text gives some bytes by XOR. Only a stream that is used again gives the same for other
	// texts.
	candidates := keystreams(base.First, resp, first)
	answers, notes := []*message.Response{resp}, []string{"shows the bytes that a text is combined with"}
	for round := 0; len(candidates) > 0; round++ {
		next := randomPlaintext(p)
		if resp, err = p.SendValue(next); err != nil {
			return false, err
		}
		again := keystreams(base.First, resp, next)
		for c := range candidates {
			if !again[c] {
				delete(candidates, c)
			}
		}
		answers, notes = append(answers, resp), append(notes, "another text: the same bytes")
		// Three more texts: the chance that 48 bytes agree three times is nil.
		if len(candidates) > 0 && round == 2 {
			p.RaiseAlert(activescan.Alert{Rule: keystream, Request: resp.Request, Payload: next, Responses: answers,
				ResponseNotes: notes,
				Proof: []string{"The response contains a ciphertext of the parameter; with the text it gives " +
					"the bytes " +
					"that the text was combined with (XOR).",
					fmt.Sprintf("The ciphertexts of three other random texts of %d characters were predicted with "+
						"these bytes, and came so.", len(next))}})
			return true, nil
		}
	}
	return false, nil
}

// blockSize is the size of blocks that a ciphertext could consist of; 0: of none, or it
// is a text.
func blockSize(b []byte) int {
	readable := 0
	for _, c := range b {
		if c >= 0x20 && c < 0x7f || c == '\n' {
			readable++
		}
	}
	switch {
	// Readable bytes are no ciphertext.
	case readable*10 > len(b)*8:
		return 0
	case len(b)%16 == 0:
		return 16
	case len(b)%8 == 0:
		return 8
	}
	return 0
}

// longestEqualBlocks is the most blocks in a row that are equal in any new ciphertext of an answer.
func longestEqualBlocks(base, resp *message.Response) int {
	known := ciphertexts(base)
	most := 0
	for s, b := range ciphertexts(resp) {
		size := blockSize(b)
		if known[s] != nil || size == 0 {
			continue
		}
		row := 1
		for i := size; i+size <= len(b); i += size {
			if string(b[i:i+size]) != string(b[i-size:i]) {
				row = 0
			}
			row++
			most = max(most, row)
		}
	}
	return most
}

// probeECB looks for equal blocks in the ciphertext of equal ones, with controls.
func probeECB(p *activescan.Probe, base *activescan.Baseline) error {
	var answers []*message.Response
	var notes []string
	payload := ""
	for range 2 {
		letter := p.RandomLetters(1)
		for _, equal := range []bool{true, false} {
			// Six blocks of 16 bytes, five of which are whole wherever in the plaintext they begin.
			payload = strings.Repeat(letter, 96)
			note := "a text of equal blocks"
			if !equal {
				payload, note = randomPlaintext(p)+randomPlaintext(p), "a random text"
			}
			resp, err := p.SendValue(payload)
			if err != nil {
				return err
			}
			if n := longestEqualBlocks(base.First, resp); equal && n < 4 || !equal && n > 1 {
				return nil
			}
			answers, notes = append(answers, resp), append(notes, note)
		}
	}
	p.RaiseAlert(activescan.Alert{Rule: blocks, Request: answers[0].Request, Payload: payload, Responses: answers,
		ResponseNotes: notes,
		Proof: []string{"The ciphertext of 96 equal characters has four equal blocks or more in a row; so has that " +
			"of 96 others.", "Those of random texts of the same length have none."}})
	return nil
}
