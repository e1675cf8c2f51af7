package modelindex

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file follows regular expressions whose time grows faster than the text (ReDoS):
// an expression is a source of its own kind, and data that is matched with one is judged
// together with it, wherever the program keeps the expression.

// RegexValue returns the value of a literal expression.
func (r *Index) RegexValue(fn *ir.Function, in *ir.Instr) *value.Value {
	text, letters, ok := pcre.SplitLiteral(in.Text)
	if !ok {
		return value.Unknown
	}
	v := &value.Value{Constant: r.PatternConstant(fn, text, letters), Kind: value.KindObject}
	return v.WithTaint(r.ExpressionTaint(fn, in.Node, text, letters))
}

// PatternConstant returns the constant that stands for an expression.
func (r *Index) PatternConstant(fn *ir.Function, text, letters string) value.Constant {
	var flags pcre.Flags
	n := value.GlobalFlag
	switch fn.File.Lang.Name {
	case "javascript", "typescript", "tsx", "component":
		text, flags = pcre.FromScript(text, letters)
		n = 0
		for _, c := range letters {
			if c == 'g' {
				n = value.GlobalFlag
			}
		}
	}
	return value.Constant{Kind: value.RegexConstant, Text: text, Number: float64(n | int(flags))}
}

// expressionKinds are the kinds of sources that expressions are.
var expressionKinds = map[pcre.Growth]string{
	pcre.Rescans:     model.RescanningExpression,
	pcre.Polynomial:  model.PolynomialExpression,
	pcre.Exponential: model.ExponentialExpression,
}

// ExpressionTaint returns the taint of a regular expression at a node, nil when matching
// with it is harmless.
func (r *Index) ExpressionTaint(fn *ir.Function, node int32, text, flags string) taintset.Set {
	kind := expressionKinds[r.expressionGrowth(fn, text, flags)]
	if kind == "" {
		return nil
	}
	at := r.FromSource(taintset.Source{File: fn.File, Node: node, Kind: kind, Rule: -1})
	return taintset.Set{{Origin: at, Trace: taintset.Extend(nil, fn, node, nil)}}
}

// expressionGrowth analyses an expression once.
func (r *Index) expressionGrowth(fn *ir.Function, text, flags string) pcre.Growth {
	k := expressionKey{fn.File.Lang.Name, text, flags}
	if g, ok := r.growths.Load(k); ok {
		return g
	}
	g := pcre.Linear
	switch fn.File.Lang.Name {
	case "javascript", "typescript", "tsx", "component":
		g = pcre.ScriptGrowth(text, flags)
	case "go": // its engine takes linear time
	default:
		g = pcre.GrowthOf(text, 0)
	}
	r.growths.LoadOrStore(k, g)
	return g
}

// An expressionKey is a regular expression of a language, with its flags.
type expressionKey struct{ language, text, flags string }
