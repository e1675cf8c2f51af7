// Package terraform evaluates Terraform without running it: modules of the
// scanned tree, variables, locals, functions, count, for_each and dynamic blocks,
// from .tf and .tf.json files (CDKTF writes the latter) and from the JSON form of
// a plan. It reads the files it is given and nothing else: no module is fetched,
// no provider is asked, no variable is taken from the environment.
//
// What only the provider or a person knows stays unknown. A reference to it is a
// text of the form "${aws_s3_bucket.logs.arn}", so that a policy that names a
// resource can still be read; everything that was computed from such a text and
// does not show it is Unknown.
//
// The language is that of https://developer.hashicorp.com/terraform/language.
package terraform

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"merlon/internal/finding"
)

// Limits of one tree. What lies beyond is named in a Problem.
const (
	maxFile       = 4 << 20   // bytes of one file
	maxDepth      = 100       // brackets within brackets
	maxOperators  = 2000      // operators in one expression
	maxInstances  = 64        // of one resource or module
	maxResources  = 50_000    // of the tree
	maxCalls      = 12        // modules within modules
	maxModules    = 2000      // module instances of the tree
	maxSteps      = 2_000_000 // turns of for expressions and calls of functions, of the tree
	maxText       = 64 << 20  // bytes that those turns may produce
	maxValue      = 1 << 20   // bytes of one value
	maxProblems   = 500
	maxBodyBlocks = 20_000 // blocks that dynamic blocks may make in the tree
)

// A Project is the Terraform of a tree, evaluated.
type Project struct {
	Modules  []*Module // root modules first, each followed by the modules it calls
	Problems []Problem
}

// A Problem says what was not evaluated.
type Problem struct {
	Code    string // "malformed", "too-large", "too-complex", "unavailable", "unreadable", "cycle"
	Message string
	Path    string
	Line    int
}

// A Module is one use of a module: the root module of a folder, or a call.
type Module struct {
	Dir       string // of the tree; "." is its root
	Address   string // "module.network[0]"; "" for a root module
	Root      *Module
	Calls     []Call // how it is reached, outermost first
	Resources []*Resource
	Outputs   []*Output
	Providers []*Block
	Others    []*Block // terraform, variable, module, locals, … as they are written

	scope *scope
}

// A Call is a module block on the way to a module.
type Call struct {
	Name  string
	Place finding.Location
}

// A Resource is one instance of a resource or data source.
type Resource struct {
	Address string // "module.a.aws_s3_bucket.logs[0]"
	Type    string
	Name    string
	Data    bool
	Body    *Block
	Module  *Module

	declaration *node
}

// Same reports whether both are instances of one block of one module instance.
func (r *Resource) Same(o *Resource) bool { return r.declaration == o.declaration }

// An Output is a value that a module shows.
type Output struct {
	Name      string
	Sensitive bool
	Body      *Block
	Value     *Attribute // nil without one
}

// A Block is a block, evaluated. Attributes that hold objects can be read as
// blocks: Terraform allows both for many, and JSON knows only one.
type Block struct {
	Type       string
	Labels     []string
	Place      finding.Location // of the header
	Attributes map[string]*Attribute
	Blocks     []*Block // in order
	// Unsure is set when it is not known whether the block, or how often, exists.
	Unsure bool
	// Open is set when blocks may be missing, because their number is unknown.
	Open map[string]bool
}

// An Attribute is an argument, evaluated.
type Attribute struct {
	Name  string
	Value any // nil, bool, float64, string, []any, map[string]any or Unknown
	Place finding.Location
	// Refs lists the resources that the value was made from.
	Refs []*Resource
	// Sensitive is set when a sensitive variable or attribute flowed into it.
	Sensitive bool

	expr  *expression
	items map[string]finding.Location
	under *Attribute // what it is laid over
}

// Unknown stands for a value that only the provider or a person knows.
type Unknown struct{}

// Load evaluates the Terraform files among the names. An error means that the
// context ended; everything else is a Problem.
func Load(ctx context.Context, fsys fs.FS, names []string) (*Project, error) {
	l := &loader{ctx: ctx, fs: fsys, dirs: map[string]*folder{}, grunt: map[string]*source{}, project: &Project{},
		names: map[string]bool{}}
	for _, name := range names {
		l.names[name] = true
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case Match(name):
			l.readFile(name)
		case strings.HasSuffix(name, ".json"):
			l.readDetected(name)
		}
	}
	l.evaluateRoots()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.project.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return l.project, nil
}

// Match reports whether the file is written in Terraform's language.
func Match(name string) bool {
	for _, end := range []string{".tf", ".tf.json", ".tofu", ".tofu.json", ".hcl"} {
		if strings.HasSuffix(name, end) {
			return end != ".hcl" || isTerragrunt(name) || path.Base(name) == "root.hcl"
		}
	}
	return isValuesFile(name)
}

// isValuesFile reports whether the file gives values to variables.
func isValuesFile(name string) bool {
	return strings.HasSuffix(name, ".tfvars") || strings.HasSuffix(name, ".tfvars.json")
}

// loader reads and evaluates one tree.
type loader struct {
	ctx     context.Context
	fs      fs.FS
	names   map[string]bool
	dirs    map[string]*folder
	grunt   map[string]*source // Terragrunt's files
	project *Project

	steps, text, resources, blocks int
	told                           map[string]bool
}

// folder is a module as it is written.
type folder struct {
	dir    string
	files  []*source
	values []*source // tfvars
	called bool
	used   bool
}

// report records a problem, each once.
func (l *loader) report(p Problem) {
	if l.told == nil {
		l.told = map[string]bool{}
	}
	key := p.Code + p.Path + p.Message
	if l.told[key] || len(l.project.Problems) >= maxProblems {
		return
	}
	l.told[key] = true
	l.project.Problems = append(l.project.Problems, p)
}

// evaluateRoots evaluates every root module: a folder that no other calls. Folders that
// only call each other are roots as well.
func (l *loader) evaluateRoots() {
	dirs := l.moduleFolders()
	for _, d := range dirs {
		l.markCalled(d)
	}
	var units []*source
	for name, f := range l.grunt {
		if isTerragrunt(name) {
			units = append(units, f)
		}
	}
	l.evaluateTerragrunt(units)
	for _, d := range dirs {
		if !d.called {
			l.evaluateRoot(d)
		}
	}
	for _, d := range dirs {
		if !d.used {
			l.evaluateRoot(d)
		}
	}
}

// moduleFolders returns the folders with Terraform in order, with their override files
// applied.
func (l *loader) moduleFolders() []*folder {
	var dirs []*folder
	for _, d := range l.dirs {
		// What Terraform has fetched is evaluated where it is called.
		if len(d.files) > 0 && !strings.Contains("/"+d.dir+"/", "/.terraform/") {
			dirs = append(dirs, d)
		}
	}
	for _, d := range dirs {
		d.dropShadowed()
		d.mergeOverrides()
	}
	slices.SortFunc(dirs, func(a, b *folder) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.files[0].name, b.files[0].name))
	})
	return dirs
}

// markCalled marks the folders that the module blocks of a folder call.
func (l *loader) markCalled(d *folder) {
	for _, f := range d.files {
		for _, b := range f.blocks {
			if b.kind != "module" {
				continue
			}
			if to := l.dirs[localSource(d.dir, b)]; to != nil && to != d {
				to.called = true
			}
		}
	}
}

// evaluateRoot evaluates a folder as a root module.
func (l *loader) evaluateRoot(d *folder) {
	if l.ctx.Err() != nil {
		return
	}
	m := &Module{Dir: d.dir}
	m.Root = m
	s := l.newScope(d, m, nil)
	s.setValues(d)
	s.evaluateRest()
}

// localSource returns the folder that a module block names, or "" when it is not
// one of the tree.
func localSource(dir string, b *block) string {
	a := b.attributeOf("source")
	if a == nil {
		return ""
	}
	v, diags := a.expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return ""
	}
	s := v.AsString()
	if !strings.HasPrefix(s, "./") && !strings.HasPrefix(s, "../") && s != "." && s != ".." {
		return ""
	}
	return path.Join(dir, s)
}
