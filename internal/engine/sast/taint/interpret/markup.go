package interpret

import (
	"cmp"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/value"
)

// This file interprets elements of markup in a program (JSX): attributes of elements of
// a page are properties that are set, those of components are what the component's
// function, or the object of its class, is given.

// Fields of markup.
// The fields under which the analysis keeps what React keeps in props. They are the names that
// components use themselves.
const (
	propsField    = "props"
	childrenField = "children"
	providedField = "provided" // what an element gives to all components inside of it
)

// interpretMarkup interprets an element. What comes out is no text: a framework writes it, with
// what is between tags encoded.
// A call site of markup has the attributes as named arguments and the children as unnamed
// ones. The result is unknown without taint: React escapes what stands between tags, so that
// only special attributes (dangerouslySetInnerHTML, href) are sinks.
func (a *analysis) interpretMarkup(c *callsite.Site) *value.Value {
	props := a.Allocate(c.State, c.Index, 3, value.ObjectInfo{Kind: value.KindMap, Complete: true},
		&value.Object{Size: value.Unsized})
	for _, arg := range c.Args {
		// A child has no name: all of them are in props.children.
		name := cmp.Or(arg.Name, childrenField)
		// <A {...props} />: the object is spread, any attribute may come from it.
		if arg.Many {
			name = value.AnyKey
		}
		v := arg.Value.WithTaint(arg.Value.Taint.At(a.Function, arg.Node))
		a.Store(c.State, props, name, v)
		// The attributes are noted only in the last round, when the values are final.
		if a.Noting && name != value.AnyKey {
			a.noteAttribute(c, name, arg.Node, v)
		}
	}
	// An element of a page (<div>) has no function: its attributes were all there was to do.
	if c.Function == nil {
		return value.Unknown
	}
	a.provideContext(c, props)
	// The components that the call graph knows. Without one, the element may be a variable with a
	// component in it.
	targets, _ := c.Targets()
	if len(targets) == 0 && !a.Run.Local {
		for _, fn := range a.Run.Program.FunctionValues(a.Function, c.Call.Callee) {
			targets = append(targets, callsite.Target{Function: fn})
		}
	}
	for k, t := range targets {
		x := c.Bind(c.State, t, int32(k))
		// A component has one parameter, the object of the attributes; more parameters stay
		// unknown.
		x.Parameters = make([]*value.Value, len(t.Function.Params))
		if len(x.Parameters) > 0 {
			x.Parameters[0] = props
		}
		a.Apply(c.State, x)
	}
	// No function: it is a class, or a component of a library.
	if len(targets) == 0 {
		a.renderComponent(c, props)
	}
	return value.Unknown
}

// noteAttribute notes what arrives at an attribute that is a sink.
// The owner of the attribute decides which models apply: "jsx.a" for elements of a page, the
// qualified name of the component for others.
func (a *analysis) noteAttribute(c *callsite.Site, name string, node int32, v *value.Value) {
	owner := "jsx." + c.Call.Name
	if c.Function != nil {
		owner = cmp.Or(c.Function.API, c.Call.Qualified)
	}
	a.NoteAssignmentAt(c.State, node, owner, name, v)
}

// provideContext keeps what an element gives to the components inside of it: the value of a
// context's provider.
// <Theme.Provider value={x}>: the value is stored at the context object itself, where
// useContext reads it.
func (a *analysis) provideContext(c *callsite.Site, props *value.Value) {
	i := a.Function.Def(c.Call.Callee)
	// Only a load of the member Provider is a context; Theme itself is in operand A.
	if i < 0 || a.Function.Code[i].Op != ir.LoadField || a.Function.Code[i].Text != "Provider" {
		return
	}
	if v := a.Load(c.State, props, "value"); v != value.Unknown {
		a.Store(c.State, a.Read(c.State, a.Function.Code[i].A), providedField, v)
	}
}

// renderComponent runs what the class of a component has, on an object with the attributes.
// The methods run in the order in which React calls them: the constructor fills the state,
// componentDidMount fetches, render shows it.
func (a *analysis) renderComponent(c *callsite.Site, props *value.Value) {
	name := cmp.Or(c.Function.API, c.Call.Qualified)
	class := a.Run.Program.Class(name)
	if class == nil || a.Run.Local {
		return
	}
	this := a.Allocate(c.State, c.Index, 4, value.ObjectInfo{Kind: value.KindObject, Complete: true, Type: name},
		&value.Object{Size: value.Unsized})
	this.API = name
	a.Store(c.State, this, propsField, props)
	for k, method := range []string{"constructor", "componentDidMount", "render"} {
		for _, fn := range a.Run.Program.Method(class, method) {
			// 40 and above keeps the numbers of these calls apart from those of the targets.
			x := c.Bind(c.State, callsite.Target{Function: fn, Receiver: this}, int32(40+k))
			x.Parameters = make([]*value.Value, len(fn.Params))
			if len(x.Parameters) > 0 {
				x.Parameters[0] = props
			}
			a.Apply(c.State, x)
		}
	}
}
