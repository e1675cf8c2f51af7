package javascript

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// modules are the rules for imports and exports.
var modules = map[string]lang.Rule{
	"import_statement":    lowerImportStatement,
	"import_alias":        lowerImportAlias,
	"export_statement":    lowerExport,
	"ambient_declaration": lowerAmbient,
}

// An imported is one name that an import statement binds; concrete nodes, -1 for
// none. What the source does not spell has a text instead.
// "import a, {b as c} from 'm'" binds two: default as a, and b as c.
type imported struct {
	// The name in the module, and the local one.
	name, alias int32
	text        string // of the name
}

// lowerImportStatement lowers an import, one node for each name.
func lowerImportStatement(l *lang.Lowering, r tree.Role, i int32) {
	clause := l.Find(i, "import_clause")
	source := l.Field(i, "source")
	var names []imported
	// TypeScript: import fs = require("fs").
	switch require := l.Find(i, "import_require_clause"); {
	case require >= 0:
		source = l.Field(require, "source")
		names = []imported{{name: -1, alias: l.Find(require, "identifier")}}
	// import "./polyfill": nothing is bound, but the module runs.
	case clause < 0:
		names = []imported{{name: -1, alias: -1}} // for its effects
	default:
		for c := range l.Children(clause) {
			names = append(names, importedBy(l, c)...)
		}
		names = withoutEllipsis(l, names)
	}
	// Each node has the range of the whole statement.
	for _, n := range names {
		l.BeginText(tree.Import, r, stringValue(l, source), i)
		l.Need(tree.RolePath, i, source)
		if n.name >= 0 {
			lowerModuleName(l, tree.RoleName, n.name)
		} else if n.text != "" {
			// "default" and "*" are not in the source.
			l.Flag(l.Put(tree.Name, tree.RoleName, n.text, n.alias), tree.Implied)
		}
		l.Node(tree.RoleAlias, n.alias)
		l.Close()
	}
}

// importedBy returns the names that a part of an import clause binds.
func importedBy(l *lang.Lowering, i int32) []imported {
	switch l.Kind(i) {
	// In a rule, "import ... from 'm'" leaves open what is imported.
	case "identifier":
		if l.Source(i) == lang.EllipsisName {
			return []imported{{name: i, alias: -1}}
		}
		return []imported{{name: -1, alias: i, text: "default"}}
	case "namespace_import":
		return []imported{{name: -1, alias: l.First(i), text: "*"}}
	case "named_imports":
		var names []imported
		for c := range l.Children(i) {
			if l.Kind(c) == "import_specifier" {
				names = append(names, imported{name: l.Field(c, "name"), alias: l.Field(c, "alias")})
			}
		}
		// import {} from "m" binds nothing as well.
		if len(names) == 0 {
			return []imported{{name: -1, alias: -1}}
		}
		return names
	}
	return nil
}

// withoutEllipsis drops the ellipsis of "{..., $X, ...}" of a pattern: each name is
// a node of its own anyway.
func withoutEllipsis(l *lang.Lowering, names []imported) []imported {
	var kept []imported
	for _, n := range names {
		if n.name < 0 || l.Source(n.name) != lang.EllipsisName {
			kept = append(kept, n)
		}
	}
	// A pattern with nothing but an ellipsis keeps it: any import of the module matches.
	if len(kept) == 0 {
		return names[:min(1, len(names))]
	}
	return kept
}

// lowerModuleName lowers a name of a module, which may be a string or "default".
// Since ES2022 a name may be a string: export {a as "my name"}.
func lowerModuleName(l *lang.Lowering, r tree.Role, i int32) {
	if l.Kind(i) == "string" {
		l.Put(tree.Name, r, stringValue(l, i), i)
		return
	}
	l.Put(tree.Name, r, unescapeIdentifier(l.Source(i)), i)
}

// lowerImportAlias lowers "import a = b.c".
func lowerImportAlias(l *lang.Lowering, r tree.Role, i int32) {
	alias, path := l.First(i), int32(-1)
	for c := range l.Children(i) {
		if c != alias {
			path = c
		}
	}
	// The text of the import is the path itself: import a = b.c makes a another name of it.
	l.BeginText(tree.Import, r, l.Source(path), i)
	l.Need(tree.RolePath, i, path)
	l.Node(tree.RoleAlias, alias)
	l.Close()
}

// lowerExport lowers an export statement. A declaration takes its words as Modifiers.
func lowerExport(l *lang.Lowering, r tree.Role, i int32) {
	source, clause := l.Field(i, "source"), l.Find(i, "export_clause")
	switch {
	// "export const a = 1": openDeclaration takes the words of the export.
	case l.Field(i, "declaration") >= 0:
		l.Node(r, l.Field(i, "declaration"))
	// "export default e".
	case l.Field(i, "value") >= 0:
		lowerExported(l, r, i, exportedName{token: "default", value: l.Field(i, "value")})
	// "export {a as b}", with a source "export {a} from 'm'".
	case clause >= 0:
		for c := range l.Children(clause) {
			n := exportedName{name: l.Field(c, "alias"), value: l.Field(c, "name"), source: source}
			if n.name < 0 {
				n.name = n.value
			}
			lowerExported(l, r, i, n)
		}
	// TypeScript: "export = e" replaces the whole module, as module.exports does.
	case l.Has(i, "="):
		lowerExported(l, r, i, exportedName{token: "=", value: l.First(i)})
	// "export * as ns from 'm'".
	case l.Has(i, "namespace_export"):
		inner := l.Find(i, "namespace_export")
		name := l.First(inner)
		if name < 0 {
			name = l.Find(inner, "default")
		}
		lowerExported(l, r, i, exportedName{name: name, value: l.Find(inner, "*"), source: source})
	// "export * from 'm'" passes on every name but default.
	case l.Has(i, "*"):
		lowerExported(l, r, i, exportedName{token: "*", value: -1, source: source})
	default:
		l.Fallback(r, i, l.Node)
	}
}

// An exportedName is one name of an export: a concrete node, or a token of the
// statement.
type exportedName struct {
	// -1 for none; then token is set.
	name int32
	// "default", "=" or "*": the word that stands for the name.
	token string
	// The exported expression or local name, -1 for none.
	value  int32
	source int32 // the module that it is passed on from; 0 for none
}

// lowerExported adds an Export.
func lowerExported(l *lang.Lowering, r tree.Role, i int32, n exportedName) {
	e := l.Begin(tree.Export, r, i)
	l.Parts(tree.RoleAnnotation, i, "decorator")
	// A source of 0 is none, since node 0 is the root.
	if n.source > 0 {
		l.File.Nodes[e].Text = stringValue(l, n.source)
		l.Node(tree.RolePath, n.source)
	}
	if n.token != "" {
		l.Put(tree.Name, tree.RoleName, n.token, l.Find(i, n.token))
	} else {
		lowerModuleName(l, tree.RoleName, n.name)
	}
	switch l.Kind(n.value) {
	// No value: every name of the other module.
	case "":
	case "*":
		l.Put(tree.Name, tree.RoleValue, "*", n.value)
	case "default":
		l.Put(tree.Name, tree.RoleValue, "default", n.value)
	default:
		l.Node(tree.RoleValue, n.value)
	}
	l.Close()
}

// lowerAmbient lowers "declare …": a declaration takes it as a Modifier.
func lowerAmbient(l *lang.Lowering, r tree.Role, i int32) {
	first := l.First(i)
	// "declare global { }" is a block and no declaration.
	if kind := l.Kind(first); kind == "statement_block" || kind == "property_identifier" || first < 0 {
		l.Fallback(r, i, l.Node)
		return
	}
	l.Node(r, first)
}
