package summary

import (
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// Limits of contexts.
const (
	MaxFacts    = 8
	MaxFactText = 200

	// MaxContextCost bounds the instructions that are looked at anew for whatever a caller
	// knows. Larger functions are looked at anew only if they are call-backs, for the values
	// of libraries and the functions that they are called with: the one of a connection that
	// registers all handlers knows by its argument alone what it registers them with. Others
	// are reported if they are given functions, which are not followed.
	MaxContextCost = 2000
	// MaxLargeCost bounds the instructions of these, without what they call. Beyond it the
	// function is reported.
	MaxLargeCost = 100_000
)

// A Fact is what a context knows of an input: a constant, a function or a type.
type Fact struct {
	Origin    *taintset.Origin
	Constant  value.Constant
	Function  *ir.Function
	Type      string // of an object of the program
	API       string // the name by which models know the value
	KeepsIn   string // the global in which it keeps that
	Collector bool   // a function that takes what it is given: see collector
}

// Facts are what is known of a function's inputs where it is called.
type Facts []Fact

// About returns the fact about an input, nil when there is none.
func (c Facts) About(at *taintset.Origin) *Fact {
	for i := range c {
		if c[i].Origin == at {
			return &c[i]
		}
	}
	return nil
}

// With returns the facts with those of others that are new, in order.
func (c Facts) With(more Facts) Facts {
	out := slices.Clone(c)
	for _, f := range more {
		if out.About(f.Origin) == nil && len(out) < MaxFacts {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(f, g Fact) int { return f.Origin.Compare(g.Origin) })
	return out
}

// Key returns a text that tells contexts apart.
func (c Facts) Key() string {
	var b strings.Builder
	for _, f := range c {
		b.WriteString(f.Origin.Path)
		b.WriteByte(byte('0' + f.Origin.In.Kind))
		b.WriteByte(byte('0' + f.Origin.In.Index))
		b.WriteByte(byte('0' + f.Constant.Kind))
		b.WriteString(f.Constant.String())
		b.WriteByte(0)
		if f.Function != nil {
			b.WriteString(f.Function.File.Tree.Path)
			b.WriteByte(0)
			b.WriteString(strconv.Itoa(int(f.Function.Index)))
		}
		b.WriteByte(0)
		b.WriteString(f.Type)
		b.WriteByte(0)
		b.WriteString(f.API)
		if f.Collector {
			b.WriteByte('!')
			b.WriteString(f.KeepsIn)
		}
		b.WriteByte(1)
	}
	return b.String()
}
