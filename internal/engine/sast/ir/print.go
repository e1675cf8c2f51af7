package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints all functions of the file, as tests carry them. The tests in testdata compare with
// it.
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
	fn.writeHeader(&b)
	for i := range fn.Blocks {
		blk := &fn.Blocks[i]
		fmt.Fprintf(&b, "b%d:", i)
		if blk.Except != NoBlock {
			fmt.Fprintf(&b, " except b%d", blk.Except)
		}
		b.WriteByte('\n')
		for k := blk.Start; k < blk.End; k++ {
			b.WriteString("  " + fn.instrText(&fn.Code[k]))
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

// writeHeader prints the line with the function's name, parameters, captures and flags. Functions
// without a name are told apart by their number. Captures are printed by their inner names: the
// outer ones are in the form of the function around.
func (fn *Function) writeHeader(b *strings.Builder) {
	b.WriteString(functionKinds[fn.Kind] + " " + fn.Qualified)
	if fn.Name == "" || fn.Kind == TopLevel {
		fmt.Fprintf(b, "#%d", fn.Index)
	}
	var params []string
	if fn.This != NoVar && fn.Locals[fn.This].Kind == Receiver {
		params = append(params, fn.varName(fn.This))
	}
	for _, p := range fn.Params {
		params = append(params, []string{"", "*", "**"}[p.Rest]+strings.TrimSpace(fn.varName(p.Var)+" "+p.Type))
	}
	b.WriteString("(" + strings.Join(params, ", ") + ")")
	for i, c := range fn.Captures {
		b.WriteString([]string{" captures ", ", "}[min(i, 1)] + fn.varName(c.Inner))
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
}

// varName returns the printed name of a variable. A second variable of the same name gets its
// number behind the name.
func (fn *Function) varName(v Var) string {
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

// instrText prints one instruction.
func (fn *Function) instrText(in *Instr) string {
	dst := ""
	if in.Dst != NoVar {
		dst = fn.varName(in.Dst) + " = "
	}
	return dst + in.Op.String() + fn.operandText(in)
}

// operandText prints what stands behind the operation of an instruction. The form is close to
// source, for people; it is not read back.
func (fn *Function) operandText(in *Instr) string {
	a, b := fn.varName(in.A), fn.varName(in.B)
	switch in.Op {
	case Const:
		return " " + []string{"", "", "", "", "char ", "regex ", "unknown "}[in.X] + strconv.Quote(in.Text)
	case LoadField:
		return " " + a + "." + in.Text
	case StoreField:
		return " " + a + "." + in.Text + " = " + b
	case LoadIndex:
		return " " + a + fn.keyText(in)
	case StoreIndex:
		return " " + a + fn.keyText(in) + " = " + fn.varName(in.C)
	case Slice:
		return " " + a + "[" + b + ":" + fn.varName(in.C) + "]"
	case Invoke:
		return fn.callText(&fn.Calls[in.X])
	case Closure:
		return fmt.Sprintf(" #%d %s", in.X, in.Text)
	case ClassValue, New:
		return " " + in.Text
	case Binary:
		return " " + a + " " + in.Text + " " + b
	case Concat:
		text := ""
		for _, v := range fn.Operands(in) {
			text += " " + fn.varName(v)
		}
		return text
	}
	return fn.plainText(in)
}

// plainText prints the operands of globals and of operations with one operand. A global is printed
// with its name even when that is empty, since an empty one is a mistake that must be seen.
func (fn *Function) plainText(in *Instr) string {
	text := ""
	global := in.Op == LoadGlobal || in.Op == StoreGlobal
	if in.Text != "" || global {
		text = " " + in.Text
	}
	switch {
	case in.A == NoVar:
	case global:
		text += " of " + fn.varName(in.A)
	default:
		text += " " + fn.varName(in.A)
	}
	if in.Op == StoreGlobal {
		text += " = " + fn.varName(in.B)
	}
	return text
}

// keyText prints the key of an element. A constant key is in quotes, as source has it, and an
// unknown one is empty.
func (fn *Function) keyText(in *Instr) string {
	switch {
	case in.Text != "":
		return "[" + strconv.Quote(in.Text) + "]"
	case in.B == NoVar:
		return "[]"
	}
	return "[" + fn.varName(in.B) + "]"
}

var callKinds = []string{"", " method", " new", " super", " self", " markup", " init"}

// callText prints what is called with what. Everything that decides about the targets is printed:
// the kind, the qualified name, the declared type of the receiver, and the value that is called.
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
		b.WriteString(" on " + fn.varName(c.Receiver))
	}
	if c.Type != "" {
		b.WriteString(":" + c.Type)
	}
	if c.Callee != NoVar {
		b.WriteString(" value " + fn.varName(c.Callee))
	}
	var args []string
	for _, a := range fn.Args(c) {
		text := []string{"", "*", "**"}[a.Rest] + fn.varName(a.Value)
		if a.Name != "" {
			text = a.Name + "=" + text
		}
		args = append(args, text)
	}
	b.WriteString(" (" + strings.Join(args, ", ") + ")")
	return b.String()
}
