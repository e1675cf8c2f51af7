// Package golang lowers Go to the generic tree. It knows every construct of the
// grammar, which follows the Go Programming Language Specification up to 1.24.
package golang

import (
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Go.
var Language = &lang.Language{
	Name:      "go",
	Spellings: []string{"go", "golang"},
	Grammar:   cst.Go,
	Lower:     table.Lower,
	Patterns:  patterns,
	Semantics: lang.Semantics{
		Flow:             true,
		BlockScope:       true,
		PackagePerFolder: true,
		SlashModules:     true,
		ImportsFolders:   true,
		CommaOk:          true,
		ZeroValues:       true,
		Makers:           map[string]bool{"new": true, "make": true},
		Standard:         standard,
		Structs:          structs,
		Panic:            "panic",
		Recover:          "recover",
		Fallthrough:      "fallthrough_statement",
		Conversions: map[string]bool{
			"string": true, "bool": true, "byte": true, "rune": true, "any": true, "error": true,
			"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
			"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true, "uintptr": true,
			"float32": true, "float64": true, "complex64": true, "complex128": true,
		},
		Comment: "//",
		Literals: map[tree.Kind]string{
			tree.String: "string", tree.Bool: "bool", tree.Character: "rune",
		},
	},
}

// standard are the first parts of the paths of the standard library.
var standard = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq("archive bufio builtin bytes cmp compress container context crypto database " +
		"debug embed " +
		"encoding errors expvar flag fmt go hash html image index io iter log maps math mime net os path plugin " +
		"reflect " +
		"regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique " +
		"unsafe weak C") {
		set[name] = true
	}
	return set
}()

// structs are the structs of the standard library that hold data and whose zero value
// is ready to use.
var structs = map[string]bool{
	"strings.Builder": true, "bytes.Buffer": true, "sync.Map": true, "sync.Pool": true, "sync/atomic.Value": true,
	"sync/atomic.Pointer": true, "net/url.URL": true, "net/http.Request": true, "net/http.Cookie": true,
	"database/sql.NullString": true, "container/list.List": true,
	"text/template.Template": true, "html/template.Template": true, "os/exec.Cmd": true,
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Go, lang.Merge(declarationRules, statementRules, expressionRules, typeRules))

// lowerChildren lowers the children in the place of the node.
func lowerChildren(l *lang.Lowering, r tree.Role, i int32) { l.Nodes(r, i) }

// lowerTuple lowers a list of expressions: one stands for itself, several are a Tuple.
func lowerTuple(l *lang.Lowering, r tree.Role, i int32) {
	n := 0
	for range l.Children(i) {
		n++
	}
	if n == 1 {
		lang.Inner(l, r, i)
		return
	}
	l.Begin(tree.Tuple, r, i)
	l.Nodes(tree.RoleElement, i)
	l.Close()
}
