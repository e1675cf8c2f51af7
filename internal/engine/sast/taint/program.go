package taint

import "merlon/internal/engine/sast/ir"

// A Program is what the analysis asks about the whole program. Package flow
// implements it.
type Program interface {
	// SCCs returns the functions in groups that call each other, callees first.
	SCCs() [][]*ir.Function
	// Targets returns the functions that a call may mean, by its types.
	Targets(fn *ir.Function, call *ir.Call) []*ir.Function
	// FunctionValues returns the functions that a variable may hold.
	FunctionValues(fn *ir.Function, v ir.Var) []*ir.Function
	// Exposed returns the functions that the value of a module holds.
	Exposed(module string) []*ir.Function
	// Function returns the functions with the qualified name.
	Function(name string) []*ir.Function
	// Class returns the class with the qualified name, nil when there is none.
	Class(name string) *ir.Class
	// Method returns the methods that the name means for an object of the class;
	// several when it is overloaded.
	Method(class *ir.Class, name string) []*ir.Function
}

// method returns the method that an object of the class has for so many arguments.
func (r *run) method(class, name string, args int) *ir.Function {
	c := r.program.Class(class)
	if c == nil {
		return nil
	}
	list := r.program.Method(c, name)
	for _, fn := range list {
		if len(fn.Params) == args {
			return fn
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// function returns the function of the program with the name, nil when there is
// none.
func (r *run) function(name string) *ir.Function {
	if list := r.program.Function(name); len(list) > 0 {
		return list[0]
	}
	return nil
}

// soleMethod returns the method of a class that stands for a function: the only
// one that is no constructor.
func (r *run) soleMethod(class string) *ir.Function {
	c := r.program.Class(class)
	if c == nil {
		return nil
	}
	var sole *ir.Function
	for _, fn := range c.Methods {
		switch {
		case fn.Kind == ir.Constructor || fn.Static:
		case sole != nil:
			return nil
		default:
			sole = fn
		}
	}
	return sole
}

// declares reports whether the program sets the global.
func (r *run) declares(name string) bool { return r.declared[name] }
