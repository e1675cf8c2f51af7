package cipher

import (
	"fmt"
	"slices"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
)

// This file asks whether answers tell of the padding of a ciphertext (S. Vaudenay,
// Security Vulnerabilities Induced by CBC Padding, 2002; padding of PKCS #7, RFC 5652 section
// 6.3). A text that was encrypted ends with n bytes of the value n. Changing a byte of
// the block before the last changes the same byte of the last block: with the right
// guess of n the last byte becomes 1, which is a padding again. So 16 questions are
// enough to find n, where 256 would be needed without knowing that the text was right.

// maxOracles bounds the points of a run that are asked.
const maxOracles = 4

// probePaddingOracle asks with a ciphertext that the point holds, in each alphabet that it could be
// written in: an application that reads the other one answers all changed texts alike.
func probePaddingOracle(p *activescan.Probe, text []byte, size int) error {
	if !p.FirstTime("padding "+p.Point.Key()) || p.IncrementCount("padding") > maxOracles {
		return nil
	}
	base, err := p.Baseline()
	if err != nil || !base.Stable {
		return err
	}
	for _, e := range possibleEncodings(p.Point.Value) {
		o := &padded{Probe: p, text: text, size: size, encoding: e}
		if found, err := o.findPaddingLength(base); found || err != nil {
			return err
		}
	}
	return nil
}

// findPaddingLength looks for the number of bytes that the padding has, and proves it.
func (o *padded) findPaddingLength(base *activescan.Baseline) (bool, error) {
	// Two bytes that are a padding by chance only: the answer to a wrong one.
	for i, change := range []byte{0x80, 0xc5} {
		page, resp, err := o.sendChanged(map[int]byte{0: change, 1: 0x55})
		if err != nil {
			return false, err
		}
		if base.Matches(resp, o.last) || i > 0 && !page.Equal(o.wrong) {
			return false, nil
		}
		o.wrong = page
	}
	for n := 2; n <= o.size; n++ {
		page, _, err := o.sendChanged(map[int]byte{0: byte(n) ^ 1})
		if err != nil {
			return false, err
		}
		if !page.Equal(o.wrong) {
			return o.provePadding(n)
		}
	}
	return false, nil
}

// A padded is a ciphertext whose padding is asked about.
type padded struct {
	*activescan.Probe
	text     []byte
	size     int
	encoding *encoding
	wrong    *activescan.Page // answer to a wrong padding
	last     string           // payload
}

// sendChanged changes bytes of the last block, counted from its end.
func (o *padded) sendChanged(changes map[int]byte) (*activescan.Page, *message.Response, error) {
	changed := slices.Clone(o.text)
	for at, change := range changes {
		changed[len(changed)-o.size-1-at] ^= change
	}
	o.last = o.encoding.write(changed)
	resp, err := o.SendValue(o.last)
	if err != nil {
		return nil, nil, err
	}
	return o.PageOf(resp, o.last), resp, nil
}

// provePadding predicts which changes keep the padding right, if it has n bytes.
func (o *padded) provePadding(n int) (bool, error) {
	f := activescan.Alert{Rule: oracle, Proof: []string{fmt.Sprintf("The value is a ciphertext of blocks of %d bytes. "+
		"Changes of the block before the last that break the padding of the last one get the same response, whatever "+
		"they are.", o.size)}}
	for range 2 {
		for _, c := range []struct {
			changes map[int]byte
			right   bool
			note    string
		}{
			{map[int]byte{0: byte(n) ^ 1, 2: o.randomChange()}, true, "right: the padding is the last byte alone, " +
				"another " +
				"byte does not count"},
			{map[int]byte{0: byte(n) ^ 1 ^ 0x40, 2: o.randomChange()}, false, "wrong: the last byte is no padding"},
			{map[int]byte{0: byte(n) ^ 2, 1: byte(n) ^ 2, 3: o.randomChange()}, true, "right: the padding is " +
				"two bytes"},
			{map[int]byte{0: byte(n) ^ 2, 1: byte(n) ^ 2 ^ 0x40, 3: o.randomChange()}, false,
				"wrong: the second byte of " +
					"two is none"},
		} {
			page, resp, err := o.sendChanged(c.changes)
			if err != nil {
				return false, err
			}
			if page.Equal(o.wrong) == c.right {
				return false, nil
			}
			f.Request, f.Payload = resp.Request, o.last
			f.Responses, f.ResponseNotes = append(f.Responses, resp), append(f.ResponseNotes, c.note)
		}
	}
	f.Proof = append(f.Proof, fmt.Sprintf("One change gets another response, from which follows that the padding has "+
		"%d bytes. By that, what four changes and then four others do to the padding was predicted: "+
		"each that keeps it valid gets another response than those that break it.", n))
	o.RaiseAlert(f)
	return true, nil
}

// randomChange is a random change of a byte.
func (o *padded) randomChange() byte { return byte(o.RandomNumber(1, 255)) }
