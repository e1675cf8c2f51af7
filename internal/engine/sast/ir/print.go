package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints all functions of the file, as tests carry them.
func (f *File) String() string {
	var b strings.Builder
	for _, c := range f.Classes {
		fmt.Fprintf(&b, "%s %s", c.Kind, c.Qualified)
		if len(c.Bases) > 0 {
			b.WriteString(" : " + strings.Join(c.Bases, ", "))
		}
		b.WriteByte('\n')
	}
	for _, fn := range f.Functions {
		if len(fn.Code) > 1 || fn.Kind != TopLevel {
			b.WriteString(fn.String())
		}
	}
	for _, s := range f.Skipped {
		fmt.Fprintf(&b, "skipped %d: %s\n", s.Node, s.Reason)
	}
	return b.String()
}

var functionKinds = []string{"top", "function", "method", "constructor", "init", "static", "lambda"}

// String prints the function: a line with its name, parameters and captured
// variables, then its blocks.
//
//	method pkg.Class.run(this, a String, *rest) captures x
//	b0:
//	  %1 = const "x"
//	  y = copy %1
//	  return %1
func (fn *Function) String() string {
	var b strings.Builder
	b.WriteString(functionKinds[fn.Kind] + " " + fn.Qualified)
	if fn.Name == "" || fn.Kind == TopLevel {
		fmt.Fprintf(&b, "#%d", fn.Index)
	}
	var params []string
	if fn.This != NoVar && fn.Locals[fn.This].Kind == Receiver {
		params = append(params, fn.name(fn.This))
	}
	for _, p := range fn.Params {
		params = append(params, []string{"", "*", "**"}[p.Rest]+strings.TrimSpace(fn.name(p.Var)+" "+p.Type))
	}
	b.WriteString("(" + strings.Join(params, ", ") + ")")
	for i, c := range fn.Captures {
		b.WriteString([]string{" captures ", ", "}[min(i, 1)] + fn.name(c.Inner))
	}
	for _, flag := range []struct {
		set  bool
		word string
	}{{fn.Static, " static"}, {fn.Async, " async"}, {fn.Generator, " generator"}} {
		if flag.set {
			b.WriteString(flag.word)
		}
	}
	b.WriteByte('\n')
	for i := range fn.Blocks {
		blk := &fn.Blocks[i]
		fmt.Fprintf(&b, "b%d:", i)
		if blk.Except != NoBlock {
			fmt.Fprintf(&b, " except b%d", blk.Except)
		}
		b.WriteByte('\n')
		for k := blk.Start; k < blk.End; k++ {
			b.WriteString("  " + fn.line(&fn.Code[k]))
			if k == blk.End-1 {
				for _, s := range blk.Succs {
					fmt.Fprintf(&b, " b%d", s)
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// name returns the printed name of a variable.
func (fn *Function) name(v Var) string {
	switch {
	case v == NoVar:
		return "_"
	case !fn.IsLocal(v):
		return "%" + strconv.Itoa(int(v)-len(fn.Locals))
	}
	l := &fn.Locals[v]
	name := l.Name
	if name == "" {
		name = "<pattern>"
	}
	for i := range v {
		if fn.Locals[i].Name == l.Name {
			return name + "." + strconv.Itoa(int(v))
		}
	}
	return name
}

// line prints one instruction.
func (fn *Function) line(in *Instr) string {
	var b strings.Builder
	if in.Dst != NoVar {
		b.WriteString(fn.name(in.Dst) + " = ")
	}
	b.WriteString(in.Op.String())
	a, bb, c := fn.name(in.A), fn.name(in.B), fn.name(in.C)
	key := func() string {
		switch {
		case in.Text != "":
			return "[" + strconv.Quote(in.Text) + "]"
		case in.B == NoVar:
			return "[]"
		}
		return "[" + bb + "]"
	}
	switch in.Op {
	case Const:
		b.WriteString(" " + []string{"", "", "", "", "char ", "regex ", "unknown "}[in.X] + strconv.Quote(in.Text))
	case LoadField:
		b.WriteString(" " + a + "." + in.Text)
	case StoreField:
		b.WriteString(" " + a + "." + in.Text + " = " + bb)
	case LoadIndex:
		b.WriteString(" " + a + key())
	case StoreIndex:
		b.WriteString(" " + a + key() + " = " + c)
	case Slice:
		b.WriteString(" " + a + "[" + bb + ":" + c + "]")
	case LoadGlobal, StoreGlobal:
		b.WriteString(" " + in.Text)
		if in.A != NoVar {
			b.WriteString(" of " + a)
		}
		if in.Op == StoreGlobal {
			b.WriteString(" = " + bb)
		}
	case Invoke:
		b.WriteString(fn.callText(&fn.Calls[in.X]))
	case Closure:
		fmt.Fprintf(&b, " #%d %s", in.X, in.Text)
	case ClassValue, New:
		b.WriteString(" " + in.Text)
	case Binary:
		b.WriteString(" " + a + " " + in.Text + " " + bb)
	case Concat:
		for _, v := range fn.Operands(in) {
			b.WriteString(" " + fn.name(v))
		}
	default:
		if in.Text != "" {
			b.WriteString(" " + in.Text)
		}
		if in.A != NoVar {
			b.WriteString(" " + a)
		}
	}
	return b.String()
}

var callKinds = []string{"", " method", " new", " super", " self", " markup", " init"}

// callText prints what is called with what.
func (fn *Function) callText(c *Call) string {
	var b strings.Builder
	b.WriteString(callKinds[c.Kind] + " " + c.Name)
	if c.Qualified != "" {
		b.WriteString(" " + c.Qualified)
	}
	if c.Direct >= 0 {
		fmt.Fprintf(&b, " #%d", c.Direct)
	}
	if c.Receiver != NoVar {
		b.WriteString(" on " + fn.name(c.Receiver))
	}
	if c.Type != "" {
		b.WriteString(":" + c.Type)
	}
	if c.Callee != NoVar {
		b.WriteString(" value " + fn.name(c.Callee))
	}
	var args []string
	for _, a := range fn.Args(c) {
		text := []string{"", "*", "**"}[a.Rest] + fn.name(a.Value)
		if a.Name != "" {
			text = a.Name + "=" + text
		}
		args = append(args, text)
	}
	b.WriteString(" (" + strings.Join(args, ", ") + ")")
	return b.String()
}
