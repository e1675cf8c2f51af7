package queries

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"golang.org/x/sync/errgroup"
)

// prepared is a query that can be asked, with some of its rules.
type prepared struct {
	rules []bool
	eval  rego.PreparedEvalQuery
}

// A wish is the queries that documents of one platform can trigger.
type wish struct {
	platform *platform
	chosen   []choice
}

// copyCost is what compiling another copy of the library costs, in queries.
const copyCost = 9

// prepare compiles what is wished for and was not compiled before in this process,
// in batches for the workers: those of one batch share the compiled library.
func prepare(ctx context.Context, wishes []wish, workers int) error {
	missing := make([][]choice, len(wishes))
	for i, w := range wishes { // always in the order of the platforms, so no two wait for each other
		w.platform.mu.Lock()
		defer w.platform.mu.Unlock()
		missing[i] = w.platform.missing(w.chosen)
	}
	size := batchSize(missing, workers)
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i, w := range wishes {
		for _, batch := range cutEvenly(missing[i], size) {
			group.Go(func() error {
				done, err := w.platform.batch(ctx, batch)
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				for i, c := range batch {
					w.platform.prepared[c.query] = done[i]
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// batchSize returns the size of batches with which the workers are done first: with few
// batches a worker may end up alone with one, with many the library is compiled again and
// again.
func batchSize(lists [][]choice, workers int) int {
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	best, least := total, math.MaxInt
	for rounds := 1; rounds <= 3; rounds++ {
		size := max(1, (total+rounds*workers-1)/(rounds*workers))
		busy := make([]int, workers)
		for _, list := range lists {
			for _, batch := range cutEvenly(list, size) {
				slices.Sort(busy)
				busy[0] += copyCost + len(batch)
			}
		}
		if last := slices.Max(busy); last < least {
			best, least = size, last
		}
	}
	return best
}

// cutEvenly cuts a list into as few pieces as the size allows, all of about the
// same length.
func cutEvenly(list []choice, size int) [][]choice {
	if len(list) == 0 {
		return nil
	}
	pieces := (len(list) + size - 1) / size
	out := make([][]choice, pieces)
	for i, c := range list {
		out[i%pieces] = append(out[i%pieces], c)
	}
	return out
}

// missing returns what of the chosen was not compiled before, with the rules that
// were.
func (p *platform) missing(chosen []choice) []choice {
	var out []choice
	for _, c := range chosen {
		if have := p.prepared[c.query]; have == nil || !covers(have.rules, c.rules) {
			if have != nil {
				c.rules = union(have.rules, c.rules)
			}
			out = append(out, c)
		}
	}
	return out
}

// ready returns a query that was compiled.
func (p *platform) ready(query int) *prepared {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.prepared[query]
}

// The queries are written in the language as it was before version 1.
const language = ast.RegoV0

// batch compiles some queries with one compiler. Every query calls its package
// "Cx": each gets a package of its own below that.
func (p *platform) batch(ctx context.Context, chosen []choice) ([]*prepared, error) {
	source, err := p.source()
	if err != nil {
		return nil, err
	}
	used := p.used(chosen)
	modules := make(map[string]*ast.Module, len(chosen)+2)
	for name, text := range map[string]string{"common": p.library.common, "platform": p.rego} {
		if strings.TrimSpace(text) == "" {
			continue
		}
		m, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{RegoVersion: language})
		if err != nil {
			return nil, fmt.Errorf("parse the %s library of %s: %w", name, p.name, err)
		}
		m.Rules = slices.DeleteFunc(m.Rules, func(r *ast.Rule) bool { return !used[r.Head.Name.String()] })
		modules[name] = m
	}
	for _, c := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := p.queries[c.query]
		m, err := ast.ParseModuleWithOpts(q.Name, source[q.At:q.At+q.Size], ast.ParserOptions{RegoVersion: language})
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", q.Name, err)
		}
		m.Package.Path = packageOf(c.query)
		m.Rules = keep(m.Rules, q, c.rules)
		modules["query/"+q.Name] = m
	}
	compiler := ast.NewCompiler().WithDefaultRegoVersion(language).WithCapabilities(capabilities())
	if compiler.Compile(modules); compiler.Failed() {
		return nil, fmt.Errorf("compile the queries of %s: %w", p.name, compiler.Errors)
	}
	out := make([]*prepared, len(chosen))
	for i, c := range chosen {
		eval, err := rego.New(
			rego.ParsedQuery(ask(c.query)), rego.Compiler(compiler), rego.Store(p.library.data), rego.SetRegoVersion(language),
		).PrepareForEval(ctx)
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", p.queries[c.query].Name, err)
		}
		out[i] = &prepared{rules: c.rules, eval: eval}
	}
	return out, nil
}

// used returns the names of the libraries' rules that the queries may call.
func (p *platform) used(chosen []choice) map[string]bool {
	used := map[string]bool{}
	for _, c := range chosen {
		for _, i := range p.queries[c.query].Uses {
			used[p.shared[i]] = true
		}
	}
	return used
}

// keep returns the rules of a module without those that yield results and were not
// chosen.
func keep(rules []*ast.Rule, q query, chosen []bool) []*ast.Rule {
	leave := map[int]bool{}
	for i, r := range q.Rules {
		leave[r.At] = !chosen[i]
	}
	var out []*ast.Rule
	for i, r := range rules {
		if !leave[i] {
			out = append(out, r)
		}
	}
	return out
}

func packageOf(query int) ast.Ref {
	return ast.Ref{ast.DefaultRootDocument, ast.StringTerm("Cx"), ast.StringTerm(fmt.Sprintf("q%d", query))}
}

// ask is the question "result = data.Cx.q7.CxPolicy".
func ask(query int) ast.Body {
	policy := append(packageOf(query), ast.StringTerm("CxPolicy"))
	return ast.NewBody(ast.Equality.Expr(ast.VarTerm("result"), ast.NewTerm(policy)))
}

// capabilities is the language without the functions that reach out of the
// evaluator: to the network, to the host, to the process.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := *ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(language))
	c.AllowNet = []string{}
	c.Builtins = nil
	for _, b := range ast.Builtins {
		switch name := b.Name; {
		case name == "http.send", name == "opa.runtime", name == "trace", name == "print",
			strings.HasPrefix(name, "net.lookup"), strings.HasPrefix(name, "providers."), strings.HasPrefix(name, "rego."),
			strings.HasPrefix(name, "rand."), strings.HasPrefix(name, "uuid."):
		default:
			c.Builtins = append(c.Builtins, b)
		}
	}
	return &c
})

func covers(have, want []bool) bool {
	for i, w := range want {
		if w && !have[i] {
			return false
		}
	}
	return true
}

func union(a, b []bool) []bool {
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] || b[i]
	}
	return out
}
