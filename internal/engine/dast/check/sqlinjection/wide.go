package sqlinjection

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file finds statements whose quotes are escaped byte by byte, while the database
// reads characters of two bytes (GBK, Big5, Shift JIS): the first half of one, before a
// quote, takes the backslash that escapes it.

// half is the first byte of characters in all of these encodings; the backslash is a second
// one.
const half = "\xe5"

// maxHalves bounds the points that are asked although nothing tells of such an encoding, or
// of backslashes.
const maxHalves = 20

// twoBytes are names of such encodings.
var twoBytes = lazyregexp.New(`(?i)charset=["']?(?:gb|big5|shift|sjis|euc|windows-(?:31j|936|950)|cp9(?:32|36|50)|johab|uhc)`)

// probeHalfEscaped looks at a point where quotes alone have shown nothing.
func (s *prober) probeHalfEscaped() error {
	if !s.mayBeHalfEscaped() {
		return nil
	}
	w := &prober{Probe: s.Probe, first: s.first, base: s.base, value: s.value + half, wide: s.value + half + `'"(`,
		looked: s.looked, doubted: s.doubted}
	if err := w.fetchBaseline(); err != nil || !w.base.Stable {
		return err
	}
	var err error
	if w.broken, err = w.SendValue(w.wide); err != nil {
		return err
	}
	w.dbms = errorSignature(w.broken.Text(), w.first.Text())
	closings := []string{"'", "')"}
	if w.dbms != "" || !w.PageOf(w.broken, w.wide).Equal(w.usualPage()) {
		for _, closing := range closings {
			if found, err := w.isRepaired(w.endingContext(closing)); found || w.doubtful || err != nil {
				return err
			}
		}
	}
	if !w.allowsAlwaysTrue() {
		return nil
	}
	for _, closing := range closings {
		if found, err := w.probeORBehind(w.value+closing, nil); found || w.doubtful || err != nil {
			return err
		}
	}
	return nil
}

// mayBeHalfEscaped reports whether a point is worth the requests: nothing was found there,
// and the page puts backslashes before quotes, or may be written in such an encoding.
func (s *prober) mayBeHalfEscaped() bool {
	if s.Point.In != message.InQuery && s.Point.In != message.InForm || s.AlreadyFound(Mark) {
		return false
	}
	return s.showsBackslashes() || !s.leavesString() && s.isMultibyteEncoded()
}

// leavesString reports whether a quote without more ends what the value stands in.
func (s *prober) leavesString() bool {
	return s.changed || s.dbms != "" || s.isNumber() && !s.PageOf(s.broken, s.Breaking()).Equal(s.usualPage())
}

// endingContext is the place of a value that ends what it stands in, and makes a comment of the rest.
func (s *prober) endingContext(closing string) *place {
	return &place{kind: half, make: func(n int, _ string) form {
		format := s.value + closing + " %s %d=%d -- "
		return form{fmt.Sprintf(format, "AND", n, n), fmt.Sprintf(format, "ANX", n, n), "ANX",
			fmt.Sprintf(format, "AND", n, n+s.RandomNumber(1, 4000))}
	}}
}

// showsBackslashes reports whether the page shows quotes with backslashes before them.
func (s *prober) showsBackslashes() bool {
	text := s.broken.Text()
	return slices.ContainsFunc([]string{`\'\"(`, `\&#39;\&quot;(`, `\&#039;\&quot;(`, `\'\&quot;(`},
		func(sign string) bool { return strings.Contains(text, s.value+sign) })
}

// isMultibyteEncoded reports whether the page is written in such an encoding; or whether the database
// has them and the program is PHP, which leaves it to applications to escape, as long as not
// too many points were asked.
func (s *prober) isMultibyteEncoded() bool {
	text := s.first.Text()
	return twoBytes.MatchString(s.first.Header.Get("Content-Type")) ||
		twoBytes.MatchString(text[:min(len(text), 2048)]) ||
		(s.HasFact("dbms:mysql") || s.HasFact("proven:mysql")) && (strings.Contains(s.Request.Path, ".php") ||
			strings.Contains(s.first.Header.Get("X-Powered-By"), "PHP")) && s.IncrementCount("sql halves") <= maxHalves
}
