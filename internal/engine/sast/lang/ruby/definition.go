package ruby

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerMethod lowers "def m" and "def self.m"; the latter has the Modifier "static", and
// one of another object has it as Receiver.
func lowerMethod(l *lang.Lowering, r tree.Role, i int32) {
	text, name := "function", l.Field(i, "name")
	// A method at the top of a file is a private method of Object and used as a function.
	if parent := l.CST.Nodes[i].Parent; l.Kind(parent) == "body_statement" {
		switch l.Kind(l.CST.Nodes[parent].Parent) {
		case "class", "module", "singleton_class":
			text = "method"
			// initialize is called by new.
			if l.Source(name) == "initialize" {
				text = "constructor"
			}
		}
	}
	l.BeginText(tree.Function, r, text, i)
	if object := l.Field(i, "object"); l.Kind(object) == "self" {
		l.Put(tree.Modifier, tree.RoleModifier, "static", object)
	} else if object >= 0 {
		// def obj.m defines a method for one object.
		l.Begin(tree.Parameter, tree.RoleReceiver, object)
		l.Node(tree.RoleTarget, object)
		l.Close()
	}
	l.Node(tree.RoleName, name)
	lowerParameters(l, l.Field(i, "parameters"))
	switch body := l.Field(i, "body"); l.Kind(body) {
	case "body_statement":
		l.Node(tree.RoleBody, body)
	// "def m; end" has no body; "def m = expression" a single expression (Ruby 3).
	case "":
		lowerBranch(l, tree.RoleBody, i, -1)
	default:
		lowerLone(l, tree.RoleBody, i, body)
	}
	l.Close()
}

// lowerParameters adds the parameters of a method, block or lambda. Those behind ";" are
// variables of the block; they are left out.
// |x; y| declares y as a variable of the block, without a value from outside.
func lowerParameters(l *lang.Lowering, i int32) {
	if i < 0 {
		return
	}
	for c := range l.Children(i) {
		if l.FieldName(c) != "locals" {
			lowerParameter(l, c)
		}
	}
}

// lowerParameter lowers a parameter of any of the grammar's kinds: with a default, with a
// keyword, "*a", "**a", "&a", and a pattern in parentheses.
func lowerParameter(l *lang.Lowering, i int32) {
	text, name, fallback := "", l.Field(i, "name"), int32(-1)
	switch l.Kind(i) {
	case "identifier", "destructured_parameter":
		name = i
	case "optional_parameter", "keyword_parameter":
		// A keyword parameter without a default is required; the value is missing then.
		fallback = l.Field(i, "value")
	case "splat_parameter":
		text = "*"
	case "hash_splat_parameter", "hash_splat_nil":
		text = "**"
	case "block_parameter":
		text = "&"
	// "..." passes all arguments on (Ruby 2.7).
	case "forward_parameter":
		text = "..."
	default:
		l.Node(tree.RoleParameter, i)
		return
	}
	l.BeginText(tree.Parameter, tree.RoleParameter, text, i)
	if l.Kind(name) == "destructured_parameter" {
		lowerDestructured(l, tree.RoleTarget, name)
	} else {
		l.Node(tree.RoleTarget, name)
	}
	l.Node(tree.RoleValue, fallback)
	l.Close()
}

// lowerDestructured adds "(a, (b, *c))" as the Tuple that it is.
// Each level is one more nested Tuple, bounded by the depth of the tree.
func lowerDestructured(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Tuple, r, i)
	for c := range l.Children(i) {
		if l.TooDeep() {
			l.Lost(tree.RoleElement, c)
			break
		}
		if l.Kind(c) == "destructured_parameter" {
			lowerDestructured(l, tree.RoleElement, c)
		} else {
			l.Node(tree.RoleElement, c)
		}
	}
	l.Close()
}

// classRule returns the rule for classes and modules.
// A module is a Class with the text "module": it has methods, but no instances.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Class, r, text, i)
		l.Part(tree.RoleName, i, "name")
		l.Part(tree.RoleBase, i, "superclass")
		lowerBranch(l, tree.RoleBody, i, l.Field(i, "body"))
		l.Close()
	}
}

// lowerSingletonClass lowers "class << self": a Class without a name, "static".
// Methods inside are class methods.
func lowerSingletonClass(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Class, r, "class", i)
	l.Put(tree.Modifier, tree.RoleModifier, "static", max(l.Find(i, "<<"), i))
	l.Part(tree.RoleBase, i, "value")
	lowerBranch(l, tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerLambda lowers "->(x) { … }".
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	lowerParameters(l, l.Field(i, "parameters"))
	inner := l.Field(i, "body")
	// "->(x) { }" and "->(x) do end" have a block as a child.
	if l.Kind(inner) != "block" && l.Kind(inner) != "do_block" {
		l.Need(tree.RoleBody, i, inner)
	} else {
		lowerBlockBody(l, inner)
	}
	l.Close()
}

// lowerBlockArgument lowers the block of a call.
func lowerBlockArgument(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Lambda, r, "block", i)
	lowerParameters(l, l.Field(i, "parameters"))
	lowerBlockBody(l, i)
	l.Close()
}

// lowerBlockBody lowers the body of a block of a call.
func lowerBlockBody(l *lang.Lowering, i int32) { lowerBranch(l, tree.RoleBody, i, l.Field(i, "body")) }
