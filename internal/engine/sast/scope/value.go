package scope

import (
	"strconv"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file knows the values of names where a look at the writes is enough. What
// needs more (branches, calls, containers) is the work of package taint.

// maxFolded bounds the text of a folded value, in bytes.
const maxFolded = 64 << 10

// A Value is a constant. The text is that of the source, so that numbers keep their spelling.
type Value struct {
	Kind tree.Kind // String, Number, Bool, Null or Character
	Text string    // as the Text of such a node
}

// Const returns the constant that the expression is. A name is one when Definition
// knows its value.
func (s *Info) Const(i int32) (Value, bool) { return s.foldConstant(i, 0) }

// foldConstant is Const with a bound on the depth. Names count more than operators: each
// may be a chain of its own.
func (s *Info) foldConstant(i int32, depth int) (Value, bool) {
	if i < 0 || depth > 64 {
		return Value{}, false
	}
	f := s.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.String, tree.Number, tree.Bool, tree.Null, tree.Character:
		return Value{n.Kind, n.Text}, n.Flags&tree.Pattern == 0
	case tree.Name, tree.Member:
		return s.foldConstant(s.Definition(i), depth+8)
	case tree.Cast:
		return s.foldConstant(f.Child(i, tree.RoleValue), depth+1)
	case tree.Template:
		return s.foldTemplate(i, depth)
	case tree.Binary:
		l, ok := s.foldConstant(f.Child(i, tree.RoleLeft), depth+1)
		if !ok {
			return Value{}, false
		}
		r, ok := s.foldConstant(f.Child(i, tree.RoleRight), depth+1)
		if !ok {
			return Value{}, false
		}
		return Binary(n.Text, l, r)
	case tree.Unary:
		v, ok := s.foldConstant(f.Child(i, tree.RoleValue), depth+1)
		if !ok {
			return Value{}, false
		}
		return Unary(n.Text, v)
	}
	return Value{}, false
}

// foldTemplate joins the parts of a string that are all constant. Its size is bounded, as
// templates may double a text again and again.
func (s *Info) foldTemplate(i int32, depth int) (Value, bool) {
	var b strings.Builder
	for part := range s.File.All(i, tree.RolePart) {
		v, ok := s.foldConstant(part, depth+1)
		if !ok || b.Len()+len(v.Text) > maxFolded {
			return Value{}, false
		}
		b.WriteString(v.Text)
	}
	return Value{tree.String, b.String()}, true
}

// Binary folds an operator over two constants. Texts are joined up to a bound, so that a file
// cannot make a constant that is larger than itself many times. Numbers are folded as their texts.
func Binary(op string, l, r Value) (Value, bool) {
	switch {
	case joinsText(op, l, r):
		if len(l.Text)+len(r.Text) > maxFolded {
			return Value{}, false
		}
		return Value{tree.String, l.Text + r.Text}, true
	case l.Kind == tree.Number && r.Kind == tree.Number:
		return foldArithmetic(op, l.Text, r.Text)
	case l.Kind != r.Kind:
		return Value{}, false
	}
	switch op {
	case "==", "===":
		return boolValue(l.Text == r.Text), true
	case "!=", "!==":
		return boolValue(l.Text != r.Text), true
	}
	return Value{}, false
}

// joinsText reports whether an operator joins texts: "+" with a string on one side, "." of
// PHP, ".." of Lua. Null has a text of its own in some languages and none in others.
func joinsText(op string, l, r Value) bool {
	text := l.Kind == tree.String || r.Kind == tree.String
	switch op {
	case "+":
		return text && l.Kind != tree.Null && r.Kind != tree.Null
	case ".":
		return text
	}
	return op == ".."
}

// Unary folds an operator over a constant. Only what every language computes in the same way is
// folded.
func Unary(op string, v Value) (Value, bool) {
	switch {
	case op == "-" && v.Kind == tree.Number && strings.HasPrefix(v.Text, "-"):
		return Value{tree.Number, v.Text[1:]}, true
	case op == "-" && v.Kind == tree.Number:
		return Value{tree.Number, "-" + v.Text}, true
	case op == "+" && v.Kind == tree.Number:
		return v, true
	case (op == "!" || op == "not") && v.Kind == tree.Bool:
		return boolValue(v.Text != "true"), true
	}
	return Value{}, false
}

// boolValue returns a constant that is true or false.
func boolValue(b bool) Value { return Value{tree.Bool, strconv.FormatBool(b)} }

// foldArithmetic folds an operator over two integers. Fractions are left alone, as
// their text depends on the language.
func foldArithmetic(op, l, r string) (Value, bool) {
	a, err := strconv.ParseInt(l, 0, 64)
	b, err2 := strconv.ParseInt(r, 0, 64)
	if err != nil || err2 != nil {
		return Value{}, false
	}
	var n int64
	switch op {
	case "+":
		n = a + b
	case "-":
		n = a - b
	case "*":
		n = a * b
	case "/", "//", "%":
		if b == 0 {
			return Value{}, false
		}
		if n = a / b; op == "%" {
			n = a % b
		}
	case "<<", "&", "|", "^":
		return foldBits(op, a, b)
	default:
		return foldComparison(op, a, b)
	}
	return Value{tree.Number, strconv.FormatInt(n, 10)}, true
}

// foldBits folds an operator over the bits of two integers. A shift by more than the width has no
// value: the languages differ in what they make of it.
func foldBits(op string, a, b int64) (Value, bool) {
	var n int64
	switch op {
	case "<<":
		if b < 0 || b > 62 {
			return Value{}, false
		}
		n = a << b
	case "&":
		n = a & b
	case "|":
		n = a | b
	case "^":
		n = a ^ b
	}
	return Value{tree.Number, strconv.FormatInt(n, 10)}, true
}

// foldComparison folds a comparison of two integers. Both operators of JavaScript are one for
// integers.
func foldComparison(op string, a, b int64) (Value, bool) {
	switch op {
	case "==", "===":
		return boolValue(a == b), true
	case "!=", "!==":
		return boolValue(a != b), true
	case "<":
		return boolValue(a < b), true
	case "<=":
		return boolValue(a <= b), true
	case ">":
		return boolValue(a > b), true
	case ">=":
		return boolValue(a >= b), true
	}
	return Value{}, false
}

// Definition returns the expression that a Name, or a member of the enclosing
// class, has as its value at this place, when there is just one: it is written once
// in the file, or a write dominates the use and nothing writes in between. None
// otherwise.
func (s *Info) Definition(i int32) int32 {
	d := s.declarationOf(i)
	if d == i {
		return tree.None
	}
	if s.values != nil && d < 0 && s.File.Is(i, tree.Member) {
		if v, ok := s.values[s.File.Dotted(i)]; ok && v >= 0 && !s.File.Contains(v, i) {
			return v
		}
	}
	writes := s.writesOf(d, i)
	switch len(writes) {
	case 0:
		return tree.None
	case 1:
		return s.onlyDefinition(d, writes[0], i)
	}
	w := s.dominatingWrite(writes, i)
	if w.node < 0 || w.value < 0 || !s.isPlainWrite(d, w, i) {
		return tree.None
	}
	return w.value
}

// onlyDefinition returns the value of the only write of a binding, None when the use may
// see another value, or be reached before the write.
func (s *Info) onlyDefinition(d int32, w write, use int32) int32 {
	if !s.isPlainWrite(d, w, use) || s.isChangeable(d, w, use) {
		return tree.None
	}
	if s.functionOf(w.node) == s.functionOf(use) &&
		(w.node > use || !s.File.Contains(s.enclosingAlways(w.node), use)) {
		return tree.None // used before it is written, or where it may not be
	}
	return w.value
}

// isPlainWrite reports whether a write gives the binding the whole of its value, and the
// use is no part of that value.
func (s *Info) isPlainWrite(d int32, w write, use int32) bool {
	return w.value != w.node && (w.value < 0 || !s.File.Contains(w.value, use)) && !s.isPatternPart(d, w)
}

// maxWrites bounds the writes among which the right one is looked for.
const maxWrites = 1000

// writesOf returns what is written to the binding; for a name without one, what the same function
// writes to it; for a member, as long as the function of the use writes it, only that. A field
// that the function itself writes has that value there, whatever other methods write.
func (s *Info) writesOf(d, use int32) []write {
	f := s.File
	if d < 0 {
		if s.free == nil || !f.Is(use, tree.Name) {
			return nil
		}
		return boundWrites(s.free[freeName{s.functionOf(use), f.Nodes[use].Text}])
	}
	writes := boundWrites(s.writes[d])
	if len(writes) < 2 || !f.Is(s.Declarator(d), tree.Field) {
		return writes
	}
	fn := s.functionOf(use)
	var own []write
	for _, w := range writes {
		if s.functionOf(w.node) == fn {
			own = append(own, w)
		}
	}
	if len(own) == 0 {
		return writes
	}
	return own
}

// boundWrites returns the writes unless they are too many. Generated files write one variable
// thousands of times.
func boundWrites(writes []write) []write {
	if len(writes) > maxWrites {
		return nil
	}
	return writes
}

// Definitions returns the expressions that are written to the variable that a Name
// means, None for a write of something else; nothing when no write is known.
func (s *Info) Definitions(i int32) []int32 {
	d := s.declarationOf(i)
	writes := s.writesOf(d, i)
	if !s.isWritten(writes, i) {
		return nil
	}
	var values []int32
	for _, w := range writes {
		value := w.value
		switch {
		case s.File.Is(w.node, tree.Variable) && w.value < 0 && s.File.Child(w.node, tree.RoleValue) < 0:
			continue // declared without a value
		case w.value == w.node, s.isPatternPart(d, w):
			value = tree.None
		}
		values = append(values, value)
	}
	return values
}

// isWritten reports whether some write has happened for sure when the use is reached. Code at the
// top of the file runs before any function of it is called.
func (s *Info) isWritten(writes []write, use int32) bool {
	fn := s.functionOf(use)
	for _, w := range writes {
		switch from := s.functionOf(w.node); {
		case from != fn && from == tree.Root:
			return true
		case from == fn && w.node < use && s.coversUse(s.enclosingAlways(w.node), writes, use):
			return true
		}
	}
	return false
}

// coversUse reports whether one of the writes happens whenever the branch does, or its If, or the
// ones around that, up to one that contains the use. This is what makes "if c: a = 1 else: a = 2"
// a definition of a.
func (s *Info) coversUse(branch int32, writes []write, use int32) bool {
	f := s.File
	for !f.Contains(branch, use) {
		choice := f.Nodes[branch].Parent
		if f.Is(branch, tree.If) {
			choice = branch
		}
		if !f.Is(choice, tree.If) || !s.branchWritten(f.Child(choice, tree.RoleThen), writes) ||
			!s.branchWritten(f.Child(choice, tree.RoleElse), writes) {
			return false
		}
		branch = s.enclosingAlways(choice)
	}
	return true
}

// branchWritten reports whether one of the writes always happens in the branch. An If writes when
// both of its branches do.
func (s *Info) branchWritten(branch int32, writes []write) bool {
	if branch < 0 {
		return false
	}
	f := s.File
	if f.Is(branch, tree.If) {
		return s.branchWritten(f.Child(branch, tree.RoleThen), writes) &&
			s.branchWritten(f.Child(branch, tree.RoleElse), writes)
	}
	for _, w := range writes {
		if w.node == branch || f.Contains(branch, w.node) && (s.enclosingAlways(w.node) == branch ||
			f.Nodes[branch].Kind != tree.Block) {
			return true
		}
	}
	for c := range f.Children(branch) {
		if f.Is(c, tree.If) && s.branchWritten(c, writes) {
			return true
		}
	}
	return false
}

// isChangeable reports whether somebody else may write the binding, or nobody may have yet: it is
// a field that others see, or another function writes it. Private and final fields are only
// written in the file, which is known.
func (s *Info) isChangeable(d int32, w write, use int32) bool {
	f := s.File
	by := s.Declarator(d)
	if f.Is(by, tree.Field) && by == w.node && s.Semantics.ImplicitThis {
		for m := range f.All(by, tree.RoleModifier) {
			switch f.Text(m) {
			case "private", "final", "const", "readonly":
				return false
			}
		}
		return f.Text(by) == "" && f.Enclosing(by, tree.Class) >= 0
	}
	fn := s.functionOf(w.node)
	return fn != tree.Root && !f.Contains(fn, use)
}

// isPatternPart reports whether the binding is a part of the write's target. Then the value of the
// write is not that of the binding.
func (s *Info) isPatternPart(d int32, w write) bool {
	t := s.File.Child(w.node, tree.RoleTarget)
	return t >= 0 && !s.File.Is(t, tree.Name) && !s.File.Is(t, tree.Member) && s.File.Contains(t, d)
}

// functionOf returns the Function, Lambda or file that the node is in. Code at the top of the file
// is a function too.
func (s *Info) functionOf(i int32) int32 {
	if fn := s.File.Enclosing(i, tree.Function, tree.Lambda); fn >= 0 {
		return fn
	}
	return tree.Root
}

// dominatingWrite returns the last write in front of the use, if it always happens and
// no loop brings another one.
func (s *Info) dominatingWrite(writes []write, use int32) write {
	f := s.File
	none := write{tree.None, tree.None}
	fn := s.functionOf(use)
	last := none
	for _, w := range writes {
		if s.functionOf(w.node) != fn {
			return none // a function that is called in between may write
		}
		if w.node < use && !(w.value >= 0 && f.Contains(w.node, use)) && w.node > last.node {
			last = w
		}
	}
	if last.node < 0 || !f.Contains(s.enclosingAlways(last.node), use) || s.isLoopWritten(writes, last.node, use) {
		return none
	}
	return last
}

// isLoopWritten reports whether a loop around the use, but not around the write in front
// of it, writes again behind the use: then the next round sees that value.
func (s *Info) isLoopWritten(writes []write, before, use int32) bool {
	f := s.File
	for loop := enclosingLoop(f, use); loop >= 0 && !f.Contains(loop, before); loop = enclosingLoop(f, loop) {
		for _, w := range writes {
			if w.node > use && f.Contains(loop, w.node) {
				return true
			}
		}
	}
	return false
}

// enclosingLoop returns the nearest loop around a node, None when there is none.
func enclosingLoop(f *tree.File, i int32) int32 {
	return f.Enclosing(i, tree.While, tree.For, tree.ForEach, tree.DoWhile)
}

// enclosingAlways returns the outermost construct in which the node is evaluated whenever the
// construct is.
func (s *Info) enclosingAlways(i int32) int32 {
	f := s.File
	at := f.Nodes[i].Parent
	for child := i; at > 0; child, at = at, f.Nodes[at].Parent {
		n := &f.Nodes[at]
		if isShortCircuit(n) && f.Nodes[child].Role == tree.RoleRight {
			return at
		}
		if isBranching(n.Kind) && !s.alwaysRuns(at, f.Nodes[child].Role) {
			return at
		}
	}
	return max(at, 0)
}

// isShortCircuit reports whether an operator evaluates its right side only if the left one
// does not decide.
func isShortCircuit(n *tree.Node) bool {
	if n.Kind != tree.Binary {
		return false
	}
	switch n.Text {
	case "&&", "||", "and", "or", "??", "?:":
		return true
	}
	return false
}

// alwaysRuns reports whether the child with the role is evaluated whenever a branching
// construct is: its condition or initializer, or the statements of a block that is no
// branch.
func (s *Info) alwaysRuns(at int32, role tree.Role) bool {
	n := &s.File.Nodes[at]
	switch n.Kind {
	case tree.Block:
		if n.Parent >= 0 {
			switch s.File.Nodes[n.Parent].Kind {
			case tree.With, tree.Block, tree.FileKind:
				return true
			}
		}
	case tree.If, tree.While, tree.Conditional:
		if role == tree.RoleCondition {
			return true
		}
	}
	return role == tree.RoleInit && n.Kind != tree.FileKind
}

// isBranching reports whether what is below a node of the kind may not happen, or is the body of
// something. It decides how far outwards a write is certain to have happened.
func isBranching(k tree.Kind) bool {
	switch k {
	case tree.Block, tree.If, tree.While, tree.DoWhile, tree.For, tree.ForEach, tree.Case, tree.Try, tree.Catch,
		tree.Function,
		tree.Lambda, tree.Conditional, tree.Class, tree.FileKind:
		return true
	}
	return false
}
