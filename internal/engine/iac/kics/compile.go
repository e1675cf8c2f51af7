package kics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"golang.org/x/sync/errgroup"

	"merlon/internal/engine/iac/kics/module"
)

// preparedQuery is a query that can be evaluated, with some of its rules.
type preparedQuery struct {
	// those that were compiled, by position
	rules []bool
	// shared by the queries of a batch
	compiler *ast.Compiler
	body     ast.Body
}

// platformQueries is the queries that documents of one platform can trigger.
type platformQueries struct {
	platform *platform
	chosen   []queryChoice
}

// copyCost is what another copy of the libraries costs, in queries.
const copyCost = 9

// prepareQueries makes ready the queries that were not made ready before in this process,
// in batches for the workers: those of one batch share the libraries.
func prepareQueries(ctx context.Context, wishes []platformQueries, workers int) error {
	missing := make([][]queryChoice, len(wishes))
	for i, w := range wishes { // always in the order of the platforms, so no two wait for each other
		w.platform.mu.Lock()
		// Held until all are ready: a second scan at the same time waits and then finds them.
		defer w.platform.mu.Unlock()
		missing[i] = w.platform.unprepared(w.chosen)
	}
	size := batchSize(missing, workers)
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i, w := range wishes {
		for _, batch := range cutEvenly(missing[i], size) {
			group.Go(func() error {
				done, err := w.platform.prepareBatch(ctx, batch)
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
// batches a worker may end up alone with one, with many the libraries are read again and
// again.
func batchSize(lists [][]queryChoice, workers int) int {
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
func cutEvenly(list []queryChoice, size int) [][]queryChoice {
	if len(list) == 0 {
		return nil
	}
	pieces := (len(list) + size - 1) / size
	out := make([][]queryChoice, pieces)
	for i, c := range list {
		out[i%pieces] = append(out[i%pieces], c)
	}
	return out
}

// unprepared returns what of the chosen was not made ready before, with the rules that
// were.
func (p *platform) unprepared(chosen []queryChoice) []queryChoice {
	var out []queryChoice
	for _, c := range chosen {
		if have := p.prepared[c.query]; have == nil || !coversRules(have.rules, c.rules) {
			if have != nil {
				c.rules = mergeRules(have.rules, c.rules)
			}
			out = append(out, c)
		}
	}
	return out
}

// preparedQuery returns a query that was made ready.
func (p *platform) preparedQuery(query int) *preparedQuery {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.prepared[query]
}

// prepareBatch makes some queries ready with one tree of rules. Every query calls its
// package "Cx": each has a package of its own below that.
func (p *platform) prepareBatch(ctx context.Context, chosen []queryChoice) ([]*preparedQuery, error) {
	m, err := p.modules()
	if err != nil {
		return nil, err
	}
	r := module.NewReader(m.tables)
	list, err := p.readLibraries(r, m, p.usedRules(chosen))
	if err != nil {
		return nil, err
	}
	for _, c := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, err := p.readQuery(r, m, c)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	compiler, err := module.Link(list)
	if err != nil {
		return nil, fmt.Errorf("link the queries of %s: %w", p.name, err)
	}
	out := make([]*preparedQuery, len(chosen))
	for i, c := range chosen {
		out[i] = &preparedQuery{rules: c.rules, compiler: compiler, body: policyQuery(c.query)}
	}
	return out, nil
}

// readLibraries reads the rules of the libraries that are used.
func (p *platform) readLibraries(r *module.Reader, m *modules, used map[int]bool) ([]*ast.Module, error) {
	var out []*ast.Module
	at := 0
	for _, l := range p.index.Libraries {
		path := ast.Ref{ast.DefaultRootDocument}
		for _, step := range l.Package {
			path = append(path, ast.StringTerm(step))
		}
		one := &ast.Module{Package: &ast.Package{Path: path}}
		for _, rule := range l.Rules {
			if used[rule.Name] {
				made, err := r.Rule(m.rules[at:at+rule.Size], one, l.Name)
				if err != nil {
					return nil, err
				}
				one.Rules = append(one.Rules, made)
			}
			// The rules lie one after the other: those that are not used are skipped by their size.
			at += rule.Size
		}
		out = append(out, one)
	}
	return out, nil
}

// readQuery reads the module of a query, without the rules that yield results and were not
// chosen.
func (p *platform) readQuery(r *module.Reader, m *modules, c queryChoice) (*ast.Module, error) {
	q := p.index.Queries[c.query]
	leave := map[int]bool{}
	for i, rule := range q.Rules {
		leave[rule.At] = !c.rules[i]
	}
	one := &ast.Module{Package: &ast.Package{Path: module.QueryPackage(c.query)}}
	at := q.At
	for i, size := range q.Sizes {
		if !leave[i] {
			made, err := r.Rule(m.rules[at:at+size], one, q.Name)
			if err != nil {
				return nil, err
			}
			one.Rules = append(one.Rules, made)
		}
		at += size
	}
	return one, nil
}

// usedRules returns the rules of the libraries that the queries may call, by the positions
// of their names.
func (p *platform) usedRules(chosen []queryChoice) map[int]bool {
	used := map[int]bool{}
	for _, c := range chosen {
		for _, i := range p.index.Queries[c.query].Uses {
			used[i] = true
		}
	}
	return used
}

// policyQuery is the Rego query "result = data.Cx.q7.CxPolicy".
func policyQuery(query int) ast.Body {
	policy := append(module.QueryPackage(query), ast.StringTerm("CxPolicy"))
	return ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), ast.NewTerm(policy)))
}

// resultVar is the variable of a query that takes the result.
const resultVar = "result"

// coversRules reports whether all wanted rules are there.
func coversRules(have, want []bool) bool {
	for i, w := range want {
		if w && !have[i] {
			return false
		}
	}
	return true
}

// mergeRules returns the rules of both lists.
func mergeRules(a, b []bool) []bool {
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] || b[i]
	}
	return out
}
