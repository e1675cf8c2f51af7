package pcre

import "regexp/syntax"

// An Alphabet is a set of characters: each of ASCII for itself, and all others as one. It is what
// a filter lets through: can a quote get past it?
type Alphabet struct{ set charset }

// HasAny reports whether one of the characters of ASCII in a text is in the set. Other characters
// share one bit and are not asked for.
func (a Alphabet) HasAny(chars string) bool {
	for _, r := range chars {
		if r < others && a.set[r/64]&(1<<(r%64)) != 0 {
			return true
		}
	}
	return false
}

// Without returns the set of all characters that are not in this one.
func (a Alphabet) Without() Alphabet {
	return Alphabet{charset{^a.set[0], ^a.set[1], ^a.set[2] & 1}}
}

// Admits returns the characters that a text can hold which an expression matches from
// its beginning to its end. ok is false for an expression that need not match the whole
// text, is no regular expression, or is too large.
func Admits(expr string, flags Flags) (a Alphabet, ok bool) {
	re := outlineOf(expr, flags)
	if re == nil || !isBounded(re, syntax.OpBeginText) || !isBounded(re, syntax.OpEndText) {
		return a, false
	}
	a.addCharacters(re)
	return a, true
}

// Class returns the characters that an expression takes out of a text, when all of its
// matches go and each is one character of a class, or a row of them. ok is false for any
// other expression.
func Class(expr string, flags Flags) (a Alphabet, ok bool) {
	re := outlineOf(expr, flags)
	if re == nil {
		return a, false
	}
	return a, a.addClass(re)
}

// addClass adds the characters of an expression that matches one of a class; it reports
// false for an expression of another form.
func (a *Alphabet) addClass(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return a.addClass(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 1 && a.addClass(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !a.addClass(sub) {
				return false
			}
		}
		return true
	case syntax.OpLiteral:
		if len(re.Rune) != 1 {
			return false
		}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
	default:
		return false
	}
	a.addCharacters(re)
	return true
}

// isBounded reports whether every way through an expression begins, or ends, with the assertion
// that the text does. A filter that only searches lets anything pass around what it finds.
func isBounded(re *syntax.Regexp, op syntax.Op) bool {
	switch re.Op {
	case op:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return isBounded(re.Sub[0], op)
	case syntax.OpRepeat:
		return re.Min > 0 && isBounded(re.Sub[0], op)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !isBounded(sub, op) {
				return false
			}
		}
		return len(re.Sub) > 0
	case syntax.OpConcat:
		for i := range re.Sub {
			sub := re.Sub[i]
			if op == syntax.OpEndText {
				sub = re.Sub[len(re.Sub)-1-i]
			}
			if sub.Op != syntax.OpEmptyMatch && !isLookAround(sub) {
				return isBounded(sub, op)
			}
		}
	}
	return false
}

// isLookAround reports whether an expression stands for look-around, which takes no text.
func isLookAround(re *syntax.Regexp) bool { return re.Op == syntax.OpRepeat && re.Max == 0 }

// addCharacters adds the characters that an expression takes. Characters of either alternative and
// of every part count: the result is what a text may hold.
func (a *Alphabet) addCharacters(re *syntax.Regexp) {
	if isLookAround(re) {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			a.addSet(literalSet(r, re.Flags&syntax.FoldCase != 0))
		}
	case syntax.OpCharClass:
		a.addSet(classSet(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		c := everything
		if re.Op == syntax.OpAnyCharNotNL {
			c[0] &^= 1 << '\n'
		}
		a.addSet(c)
	}
	for i, sub := range re.Sub {
		// The line end that "$" lets pass is the translation's, not the expression's.
		if sub.Op == syntax.OpQuest && i+1 < len(re.Sub) && re.Sub[i+1].Op == syntax.OpEndText {
			continue
		}
		a.addCharacters(sub)
	}
}

// addSet adds the characters of a set.
func (a *Alphabet) addSet(c charset) {
	for i := range a.set {
		a.set[i] |= c[i]
	}
}

// With returns the set with the characters of ASCII in a text.
func (a Alphabet) With(chars string) Alphabet {
	for _, r := range chars {
		a.set.addRange(r, r)
	}
	return a
}
