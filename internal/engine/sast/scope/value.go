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

// A Value is a constant.
type Value struct {
	Kind tree.Kind // String, Number, Bool, Null or Character
	Text string    // as the Text of such a node
}

// Const returns the constant that the expression is. A name is one when Definition
// knows its value.
func (s *Info) Const(i int32) (Value, bool) { return s.fold(i, 0) }

func (s *Info) fold(i int32, depth int) (Value, bool) {
	if i < 0 || depth > 64 {
		return Value{}, false
	}
	f := s.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.String, tree.Number, tree.Bool, tree.Null, tree.Character:
		return Value{n.Kind, n.Text}, n.Flags&tree.Pattern == 0
	case tree.Name, tree.Member:
		return s.fold(s.Definition(i), depth+8)
	case tree.Cast:
		return s.fold(f.Child(i, tree.RoleValue), depth+1)
	case tree.Template:
		var b strings.Builder
		for part := range f.All(i, tree.RolePart) {
			v, ok := s.fold(part, depth+1)
			if !ok || b.Len()+len(v.Text) > maxFolded {
				return Value{}, false
			}
			b.WriteString(v.Text)
		}
		return Value{tree.String, b.String()}, true
	case tree.Binary:
		l, ok := s.fold(f.Child(i, tree.RoleLeft), depth+1)
		if !ok {
			return Value{}, false
		}
		r, ok := s.fold(f.Child(i, tree.RoleRight), depth+1)
		if !ok {
			return Value{}, false
		}
		return Binary(n.Text, l, r)
	case tree.Unary:
		v, ok := s.fold(f.Child(i, tree.RoleValue), depth+1)
		if !ok {
			return Value{}, false
		}
		return Unary(n.Text, v)
	}
	return Value{}, false
}

// Binary folds an operator over two constants.
func Binary(op string, l, r Value) (Value, bool) {
	text := l.Kind == tree.String || r.Kind == tree.String
	switch {
	case op == "+" && text && l.Kind != tree.Null && r.Kind != tree.Null, op == "." && text, op == "..":
		if len(l.Text)+len(r.Text) > maxFolded {
			return Value{}, false
		}
		return Value{tree.String, l.Text + r.Text}, true
	case l.Kind == tree.Number && r.Kind == tree.Number:
		return arithmetic(op, l.Text, r.Text)
	case l.Kind == r.Kind && (op == "==" || op == "==="):
		return boolean(l.Text == r.Text), true
	case l.Kind == r.Kind && (op == "!=" || op == "!=="):
		return boolean(l.Text != r.Text), true
	}
	return Value{}, false
}

// Unary folds an operator over a constant.
func Unary(op string, v Value) (Value, bool) {
	switch {
	case op == "-" && v.Kind == tree.Number && strings.HasPrefix(v.Text, "-"):
		return Value{tree.Number, v.Text[1:]}, true
	case op == "-" && v.Kind == tree.Number:
		return Value{tree.Number, "-" + v.Text}, true
	case op == "+" && v.Kind == tree.Number:
		return v, true
	case (op == "!" || op == "not") && v.Kind == tree.Bool:
		return boolean(v.Text != "true"), true
	}
	return Value{}, false
}

func boolean(b bool) Value { return Value{tree.Bool, strconv.FormatBool(b)} }

// arithmetic folds an operator over two integers. Fractions are left alone, as
// their text depends on the language.
func arithmetic(op, l, r string) (Value, bool) {
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
	default:
		return comparison(op, a, b)
	}
	return Value{tree.Number, strconv.FormatInt(n, 10)}, true
}

func comparison(op string, a, b int64) (Value, bool) {
	switch op {
	case "==", "===":
		return boolean(a == b), true
	case "!=", "!==":
		return boolean(a != b), true
	case "<":
		return boolean(a < b), true
	case "<=":
		return boolean(a <= b), true
	case ">":
		return boolean(a > b), true
	case ">=":
		return boolean(a >= b), true
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
	if len(writes) == 0 {
		return tree.None
	}
	if len(writes) == 1 {
		w := writes[0]
		if w.value == w.node || w.value >= 0 && s.File.Contains(w.value, i) || s.patterned(d, w) ||
			s.changeable(d, w, i) {
			return tree.None
		}
		if s.functionOf(w.node) == s.functionOf(i) && (w.node > i || !s.File.Contains(s.always(w.node), i)) {
			return tree.None // used before it is written, or where it may not be
		}
		return w.value
	}
	w := s.dominating(writes, i)
	if w.node < 0 || w.value < 0 || w.value == w.node || s.File.Contains(w.value, i) || s.patterned(d, w) {
		return tree.None
	}
	return w.value
}

// maxWrites bounds the writes among which the right one is looked for.
const maxWrites = 1000

// writesOf returns what is written to the binding; for a name without one, what the
// same function writes to it; for a member, as long as the function of the use writes
// it, only that.
func (s *Info) writesOf(d, use int32) []write {
	f := s.File
	if d < 0 {
		if s.free == nil || !f.Is(use, tree.Name) {
			return nil
		}
		return few(s.free[freeName{s.functionOf(use), f.Nodes[use].Text}])
	}
	writes := few(s.writes[d])
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

// few returns the writes unless they are too many.
func few(writes []write) []write {
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
	if !s.written(writes, i) {
		return nil
	}
	var values []int32
	for _, w := range writes {
		value := w.value
		switch {
		case s.File.Is(w.node, tree.Variable) && w.value < 0 && s.File.Child(w.node, tree.RoleValue) < 0:
			continue // declared without a value
		case w.value == w.node, s.patterned(d, w):
			value = tree.None
		}
		values = append(values, value)
	}
	return values
}

// written reports whether some write has happened for sure when the use is reached.
func (s *Info) written(writes []write, use int32) bool {
	fn := s.functionOf(use)
	for _, w := range writes {
		switch from := s.functionOf(w.node); {
		case from != fn && from == tree.Root:
			return true
		case from == fn && w.node < use && s.covers(s.always(w.node), writes, use):
			return true
		}
	}
	return false
}

// covers reports whether one of the writes happens whenever the branch does, or its
// If, or the ones around that, up to one that contains the use.
func (s *Info) covers(branch int32, writes []write, use int32) bool {
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
		branch = s.always(choice)
	}
	return true
}

// branchWritten reports whether one of the writes always happens in the branch.
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
		if w.node == branch || f.Contains(branch, w.node) && (s.always(w.node) == branch ||
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

// changeable reports whether somebody else may write the binding, or nobody may have
// yet: it is a field that others see, or another function writes it.
func (s *Info) changeable(d int32, w write, use int32) bool {
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

// patterned reports whether the binding is a part of the write's target.
func (s *Info) patterned(d int32, w write) bool {
	t := s.File.Child(w.node, tree.RoleTarget)
	return t >= 0 && !s.File.Is(t, tree.Name) && !s.File.Is(t, tree.Member) && s.File.Contains(t, d)
}

// functionOf returns the Function, Lambda or file that the node is in.
func (s *Info) functionOf(i int32) int32 {
	if fn := s.File.Enclosing(i, tree.Function, tree.Lambda); fn >= 0 {
		return fn
	}
	return tree.Root
}

// dominating returns the last write in front of the use, if it always happens and
// no loop brings another one.
func (s *Info) dominating(writes []write, use int32) write {
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
	if last.node < 0 {
		return none
	}
	if !f.Contains(s.always(last.node), use) {
		return none
	}
	for loop := f.Enclosing(use, tree.While, tree.For, tree.ForEach, tree.DoWhile); loop >= 0 &&
		!f.Contains(loop, last.node); {
		for _, w := range writes {
			if w.node > use && f.Contains(loop, w.node) {
				return none
			}
		}
		loop = f.Enclosing(loop, tree.While, tree.For, tree.ForEach, tree.DoWhile)
	}
	return last
}

// always returns the outermost construct in which the node is evaluated whenever the
// construct is.
func (s *Info) always(i int32) int32 {
	f := s.File
	at := f.Nodes[i].Parent
	for child := i; at > 0; child, at = at, f.Nodes[at].Parent {
		n := &f.Nodes[at]
		if n.Kind == tree.Binary && f.Nodes[child].Role == tree.RoleRight {
			switch n.Text {
			case "&&", "||", "and", "or", "??", "?:":
				return at
			}
		}
		if !branching(n.Kind) {
			continue
		}
		parent := n.Parent
		switch role := f.Nodes[child].Role; {
		case n.Kind == tree.Block && parent >= 0 && (f.Nodes[parent].Kind == tree.With || f.Nodes[parent].Kind == tree.Block || f.Nodes[parent].Kind == tree.FileKind):

		case (n.Kind == tree.If || n.Kind == tree.While || n.Kind == tree.Conditional) && role == tree.RoleCondition, role == tree.RoleInit && n.Kind != tree.FileKind:

		default:
			return at
		}
	}
	return max(at, 0)
}

// branching reports whether what is below a node of the kind may not happen, or is
// the body of something.
func branching(k tree.Kind) bool {
	switch k {
	case tree.Block, tree.If, tree.While, tree.DoWhile, tree.For, tree.ForEach, tree.Case, tree.Try, tree.Catch,
		tree.Function,
		tree.Lambda, tree.Conditional, tree.Class, tree.FileKind:
		return true
	}
	return false
}
