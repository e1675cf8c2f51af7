package kics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"golang.org/x/sync/errgroup"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// A Flaw is what a query found in a document.
type Flaw struct {
	Rule     *finding.Rule
	Document *document.Document

	Path         string // of the file in which it is written
	Line, Column int    // from 1; the column is 0 when it is unknown

	Kind     string   // of the resource: "aws_s3_bucket"; "" when the query does not say
	Name     string   // of the resource
	Expected string   // what should be there
	Actual   string   // what is there
	Key      string   // the query's own words for the place
	Steps    []string // the path of the value in the document, when the query gives it

	// Severity is that of this flaw where it differs from that of the rule.
	Severity finding.Severity
	// Fragment is what to merge into the resource, in the format of its file.
	Fragment string
	// Fix is the edit of the file that removes the flaw, where it is known.
	Fix *finding.Fix

	// Unknown is set when the place leads to a value that is not known: the query
	// saw a text that stands for it.
	Unknown bool
}

// A Failure is a query that could not be asked of some documents.
type Failure struct {
	Query string
	Path  string // of the first document
	Err   error
}

// Time bounds one query on one unit of documents. It is a last resort, far above what a
// query takes on a busy machine: the evaluator counts no steps.
const Time = 2 * time.Minute

// maxResults bounds what is taken of one query on one unit.
const maxResults = 10_000

// maxUnit bounds the documents that are looked at together: queries that compare
// each with each take the square of it.
const maxUnit = 300

// Run asks the documents of all platforms the queries that they can trigger, on at
// most so many goroutines, and returns the flaws in an order that depends on the
// documents only. A query that fails fails alone; an error means that nothing can
// be said. Without documents the library is not needed.
func Run(ctx context.Context, docs []*document.Document, workers int) ([]Flaw, []Failure, error) {
	if len(docs) == 0 {
		return nil, nil, nil
	}
	l, err := sharedLibrary()
	if err != nil {
		return nil, nil, err
	}
	r := queryRun{workers: max(1, workers), texts: fileTexts{byFile: map[textKey]*searchText{}}}
	var wishes []platformQueries
	for _, name := range document.Platforms {
		var mine []*document.Document
		for _, d := range docs {
			if d.Platform == name {
				mine = append(mine, d)
			}
		}
		if len(mine) == 0 {
			continue
		}
		p, err := l.loadPlatform(name)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			continue
		}
		wishes = append(wishes, r.addPlatform(p, mine))
	}
	if err := prepareQueries(ctx, wishes, r.workers); err != nil {
		return nil, nil, err
	}
	if err := r.evaluateAll(ctx); err != nil {
		return nil, nil, err
	}
	return r.collectFlaws()
}

// A unit is documents that are deployed together.
type unit struct {
	platform *platform
	docs     []*document.Document

	left atomic.Int64 // questions that were not asked yet
	mu   sync.Mutex
	made ast.Value // what the evaluator reads, while it is needed
}

// evaluation is one query on one unit, with its results.
type evaluation struct {
	unit  *unit
	query int

	// as the query returned them; nil when it has none or failed
	results []any
	err     error
}

// queryRun is one call of Run.
type queryRun struct {
	workers   int
	questions []*evaluation
	texts     fileTexts
}

// addPlatform notes which queries to evaluate on which units of a platform, and returns
// all that is to be made ready for it.
func (r *queryRun) addPlatform(p *platform, docs []*document.Document) platformQueries {
	units := splitUnits(p, docs)
	all := map[int][]bool{}
	for _, u := range units {
		// Most queries cannot apply to a document, which its words show without evaluating them.
		for _, c := range p.chooseQueries(p.wordsOf(u.docs)) {
			if have, ok := all[c.query]; ok {
				c.rules = mergeRules(have, c.rules)
			}
			all[c.query] = c.rules
			r.questions = append(r.questions, &evaluation{unit: u, query: c.query})
		}
	}
	var every []queryChoice
	for query, rules := range all {
		every = append(every, queryChoice{query, rules})
	}
	slices.SortFunc(every, func(a, b queryChoice) int { return a.query - b.query })
	return platformQueries{p, every}
}

// splitUnits puts the documents of one unit together, in their order. A unit that is too
// large for queries that compare each with each is cut.
func splitUnits(p *platform, docs []*document.Document) []*unit {
	var units []*unit
	byName := map[string]*unit{}
	for i, d := range docs {
		name := d.Unit
		if name == "" {
			name = fmt.Sprintf("\x00%d", i)
		}
		u := byName[name]
		if u == nil || len(u.docs) >= maxUnit {
			u = &unit{platform: p}
			byName[name] = u
			units = append(units, u)
		}
		u.docs = append(u.docs, d)
	}
	return units
}

// evaluateAll evaluates all queries. What the evaluator reads of a unit is held from its
// first query to its last, because it takes several times the memory of the documents.
// Each worker is one goroutine to the end: the evaluator goes deep, and a stack grows
// once.
func (r *queryRun) evaluateAll(ctx context.Context) error {
	for _, q := range r.questions {
		q.unit.left.Add(1)
	}
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range r.workers {
		group.Go(func() error {
			// A shared counter distributes the evaluations: they differ widely in time, so fixed
			// shares would leave workers idle.
			for i := taken.Add(1) - 1; i < int64(len(r.questions)); i = taken.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				q := r.questions[i]
				input, err := q.unit.evaluatorInput()
				if err != nil {
					return err
				}
				q.results, q.err = q.evaluate(ctx, input)
				if q.unit.left.Add(-1) == 0 {
					q.unit.releaseInput()
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// evaluatorInput returns what the evaluator reads.
func (u *unit) evaluatorInput() (ast.Value, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.made == nil {
		v, err := u.buildInput()
		if err != nil {
			return nil, err
		}
		u.made = v
	}
	return u.made, nil
}

// releaseInput lets the memory of the input go.
func (u *unit) releaseInput() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made = nil
}

// buildInput turns the documents into what the evaluator reads, once for all queries.
func (u *unit) buildInput() (ast.Value, error) {
	list := make([]*ast.Term, len(u.docs))
	for i, d := range u.docs {
		o := ast.NewObject()
		for key, value := range d.Root {
			t, err := newTerm(key, value)
			if err != nil {
				return nil, fmt.Errorf("prepare %s: %w", d.Path, err)
			}
			o.Insert(ast.StringTerm(key), t)
		}
		// Results name their document by this number.
		o.Insert(ast.StringTerm("id"), ast.StringTerm(strconv.Itoa(i)))
		o.Insert(ast.StringTerm("file"), ast.StringTerm(d.Path))
		list[i] = ast.NewTerm(o)
	}
	return ast.NewObject([2]*ast.Term{ast.StringTerm("document"), ast.ArrayTerm(list...)}), nil
}

// newTerm makes the term of a value of the field.
func newTerm(field string, v any) (*ast.Term, error) {
	switch v := v.(type) {
	case map[string]any:
		pairs := make([][2]*ast.Term, 0, len(v))
		for key, value := range v {
			t, err := newTerm(key, value)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, [2]*ast.Term{ast.StringTerm(key), t})
		}
		return ast.ObjectTerm(pairs...), nil
	case []any:
		items := make([]*ast.Term, len(v))
		for i, value := range v {
			t, err := newTerm(field, value)
			if err != nil {
				return nil, err
			}
			items[i] = t
		}
		return ast.ArrayTerm(items...), nil
	case string:
		if filterFields[field] {
			if tree, ok := filterTree(v); ok {
				v = tree
			}
		}
		return ast.StringTerm(v), nil
	}
	value, err := ast.InterfaceToValue(v)
	if err != nil {
		return nil, err
	}
	return ast.NewTerm(value), nil
}

// evaluate evaluates the query. It has a time limit of its own, so that one that does not
// end does not take the others with it.
func (q *evaluation) evaluate(ctx context.Context, input ast.Value) (results []any, err error) {
	defer func() {
		// The evaluator is a library: a fault in it must not end the scan.
		if p := recover(); p != nil {
			err = fmt.Errorf("the evaluator gave up: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	p := q.unit.platform
	store := p.library.data
	read, err := store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Abort(ctx, read)
	stopped := topdown.NewCancel()
	// The evaluator does not watch the context; it polls this flag.
	defer context.AfterFunc(ctx, stopped.Cancel)()
	ready := p.preparedQuery(q.query)
	err = topdown.NewQuery(ready.body).
		WithCompiler(ready.compiler).WithStore(store).WithTransaction(read).WithInput(ast.NewTerm(input)).
		WithCancel(stopped).
		Iter(ctx, func(found topdown.QueryResult) error {
			value, err := ast.JSON(found[resultVar].Value)
			results, _ = value.([]any)
			return err
		})
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("it did not end within %s", Time)
		}
		return nil, err
	}
	if len(results) > maxResults {
		return results[:maxResults], fmt.Errorf("it has %d results; the first %d were taken", len(results), maxResults)
	}
	return results, nil
}

// collectFlaws turns the results into flaws.
func (r *queryRun) collectFlaws() ([]Flaw, []Failure, error) {
	var flaws []Flaw
	var failures []Failure
	type key struct {
		platform *platform
		query    int
		override string
	}
	rules := map[key]*finding.Rule{}
	for _, q := range r.questions {
		p := q.unit.platform
		if q.err != nil {
			failures = append(failures, Failure{Query: p.index.Queries[q.query].Name, Path: q.unit.docs[0].Path,
				Err: q.err})
		}
		for _, one := range q.results {
			answer, ok := readResult(one)
			if !ok || answer.document >= len(q.unit.docs) {
				failures = append(failures, Failure{
					Query: p.index.Queries[q.query].Name, Path: q.unit.docs[0].Path,
					Err: errors.New("it has a result that names no document"),
				})
				continue
			}
			k := key{p, q.query, answer.override}
			if rules[k] == nil {
				rule, err := p.newRule(q.query, answer.override)
				if err != nil {
					return nil, nil, err
				}
				rules[k] = rule
			}
			if f, ok := r.texts.toFlaw(q.unit.docs[answer.document], answer); ok {
				f.Rule = rules[k]
				flaws = append(flaws, f)
			}
		}
	}
	return flaws, failures, nil
}

// fileTexts keeps the lines of files in which was searched: those of one file are the same
// for all of its documents.
type fileTexts struct {
	mu     sync.Mutex
	byFile map[textKey]*searchText
}

// textKey is a file in one format: the format decides how lines are joined.
type textKey struct {
	path   string
	format document.Format
}
