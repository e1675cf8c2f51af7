// Package module compiles modules of the Rego language ahead of time and keeps what
// the compiler of the Open Policy Agent made of them: to read it takes a small part of
// the time of parsing, checking and rewriting the source.
//
// The form is our own. It holds rules as the stages of the compiler leave them, so it
// belongs to the version of the compiler that wrote it, and is written anew with each.
// Compile and Writer are what writes it, Reader and Link what a scan uses.
package module

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Format begins the stamp (the comment) of an archive of modules. A change of what
// the generator writes, or of how it is read, takes the next number, so that an archive
// that an older generator left behind is refused and not misread.
const Format = "format 1,"

// Language is the version of the language that the modules are written in: as it was
// before version 1.
const Language = ast.RegoV0

// Parse reads a module. The name stands in errors.
func Parse(name, text string) (*ast.Module, error) {
	return ast.ParseModuleWithOpts(name, text, ast.ParserOptions{RegoVersion: Language})
}

// QueryPackage is the package of a query, by its position: all call theirs the same.
func QueryPackage(query int) ast.Ref {
	return ast.Ref{ast.DefaultRootDocument, ast.StringTerm("Cx"), ast.StringTerm(fmt.Sprintf("q%d", query))}
}

// Compile runs all stages of the compiler on the modules and returns them as they are
// then, under their names.
func Compile(modules map[string]*ast.Module) (map[string]*ast.Module, error) {
	c := ast.NewCompiler().WithDefaultRegoVersion(Language).WithCapabilities(Capabilities())
	if c.Compile(modules); c.Failed() {
		return nil, c.Errors
	}
	return c.Modules, nil
}

// Capabilities is the language without the functions that reach out of the evaluator:
// to the network, to the host, to the process.
var Capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := *ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(Language))
	c.AllowNet = []string{}
	c.Builtins = nil
	for _, b := range ast.Builtins {
		if !reachesOut(b.Name) {
			c.Builtins = append(c.Builtins, b)
		}
	}
	return &c
})

// reachesOut reports whether a function of the language is one that is left out.
func reachesOut(name string) bool {
	switch name {
	case "http.send", "opa.runtime", "trace", "print":
		return true
	}
	for _, prefix := range []string{"net.lookup", "providers.", "rego.", "rand.", "uuid."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Link makes modules that were compiled before ready to be evaluated together: they are
// put into the tree of rules and indexed, and not checked again. They are not changed,
// so rules may stand in more than one of what is linked.
func Link(modules []*ast.Module) (*ast.Compiler, error) {
	skeletons, whole := make(map[string]*ast.Module, len(modules)), make(map[string]*ast.Module, len(modules))
	for i, m := range modules {
		name := fmt.Sprintf("%d", i)
		skeletons[name], whole[name] = &ast.Module{Package: m.Package}, m // the compiler copies what it is given
	}
	// The first stage of those that are left runs on the skeletons, what follows on the modules.
	c := ast.NewCompiler().WithDefaultRegoVersion(Language).WithCapabilities(Capabilities()).
		WithSkipStages(doneStages...)
	c.WithStageAfterID(ast.StageInitLocalVarGen, ast.CompilerStageDefinition{Name: "LoadModules",
		MetricName: "compile_stage_load_modules", Stage: func(c *ast.Compiler) *ast.Error {
			c.Modules = whole
			return nil
		}})
	if c.Compile(skeletons); c.Failed() {
		return nil, c.Errors
	}
	return c, nil
}

// doneStages are the stages of the compiler that were run when the modules were written.
var doneStages = func() []ast.StageID {
	var out []ast.StageID
	for _, s := range ast.AllStages() {
		switch s {
		case ast.StageInitLocalVarGen, ast.StageSetModuleTree, ast.StageSetRuleTree, ast.StageBuildRuleIndices,
			ast.StageBuildComprehensionIndices:
		default:
			out = append(out, s)
		}
	}
	return out
}()

// errForm is what Reader says of bytes that Writer did not write.
var errForm = errors.New("not a compiled rule")
