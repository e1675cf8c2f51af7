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
	l, err := open()
	if err != nil {
		return nil, nil, err
	}
	r := run{workers: max(1, workers), texts: texts{byFile: map[file]*lines{}}}
	var wishes []wish
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
		p, err := l.platform(name)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			continue
		}
		wishes = append(wishes, r.add(p, mine))
	}
	if err := prepare(ctx, wishes, r.workers); err != nil {
		return nil, nil, err
	}
	if err := r.ask(ctx); err != nil {
		return nil, nil, err
	}
	return r.flaws()
}

// A unit is documents that are deployed together.
type unit struct {
	platform *platform
	docs     []*document.Document

	left atomic.Int64 // questions that were not asked yet
	mu   sync.Mutex
	made ast.Value // what the evaluator reads, while it is needed
}

// A question is one query to one unit, with its answer.
type question struct {
	unit  *unit
	query int

	results []any
	err     error
}

type run struct {
	workers   int
	questions []*question
	texts     texts
}

// add notes whom of a platform's documents to ask what, and returns all that is to
// be made ready for it.
func (r *run) add(p *platform, docs []*document.Document) wish {
	units := split(p, docs)
	all := map[int][]bool{}
	for _, u := range units {
		for _, c := range p.choose(p.wordsOf(u.docs)) {
			if have, ok := all[c.query]; ok {
				c.rules = union(have, c.rules)
			}
			all[c.query] = c.rules
			r.questions = append(r.questions, &question{unit: u, query: c.query})
		}
	}
	var every []choice
	for query, rules := range all {
		every = append(every, choice{query, rules})
	}
	slices.SortFunc(every, func(a, b choice) int { return a.query - b.query })
	return wish{p, every}
}

// split puts the documents of one unit together, in their order. A unit that is too
// large for queries that compare each with each is cut.
func split(p *platform, docs []*document.Document) []*unit {
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

// ask puts all questions. What the evaluator reads of a unit is held from its first
// question to its last, because it takes several times the room of the documents. Each
// worker is one goroutine to the end: the evaluator goes deep, and a stack grows once.
func (r *run) ask(ctx context.Context) error {
	for _, q := range r.questions {
		q.unit.left.Add(1)
	}
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range r.workers {
		group.Go(func() error {
			for i := taken.Add(1) - 1; i < int64(len(r.questions)); i = taken.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				q := r.questions[i]
				input, err := q.unit.input()
				if err != nil {
					return err
				}
				q.results, q.err = q.ask(ctx, input)
				if q.unit.left.Add(-1) == 0 {
					q.unit.forget()
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// input returns what the evaluator reads.
func (u *unit) input() (ast.Value, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.made == nil {
		v, err := u.prepare()
		if err != nil {
			return nil, err
		}
		u.made = v
	}
	return u.made, nil
}

func (u *unit) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made = nil
}

// prepare turns the documents into what the evaluator reads, once for all queries.
func (u *unit) prepare() (ast.Value, error) {
	list := make([]*ast.Term, len(u.docs))
	for i, d := range u.docs {
		o := ast.NewObject()
		for key, value := range d.Root {
			t, err := termOf(key, value)
			if err != nil {
				return nil, fmt.Errorf("prepare %s: %w", d.Path, err)
			}
			o.Insert(ast.StringTerm(key), t)
		}
		o.Insert(ast.StringTerm("id"), ast.StringTerm(strconv.Itoa(i)))
		o.Insert(ast.StringTerm("file"), ast.StringTerm(d.Path))
		list[i] = ast.NewTerm(o)
	}
	return ast.NewObject([2]*ast.Term{ast.StringTerm("document"), ast.ArrayTerm(list...)}), nil
}

// termOf makes the term of a value of the field.
func termOf(field string, v any) (*ast.Term, error) {
	switch v := v.(type) {
	case map[string]any:
		pairs := make([][2]*ast.Term, 0, len(v))
		for key, value := range v {
			t, err := termOf(key, value)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, [2]*ast.Term{ast.StringTerm(key), t})
		}
		return ast.ObjectTerm(pairs...), nil
	case []any:
		items := make([]*ast.Term, len(v))
		for i, value := range v {
			t, err := termOf(field, value)
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

// ask evaluates the query. It has a time of its own, so that one that does not end
// does not take the others with it.
func (q *question) ask(ctx context.Context, input ast.Value) (results []any, err error) {
	defer func() {
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
	defer context.AfterFunc(ctx, stopped.Cancel)()
	ready := p.ready(q.query)
	err = topdown.NewQuery(ready.body).
		WithCompiler(ready.compiler).WithStore(store).WithTransaction(read).WithInput(ast.NewTerm(input)).WithCancel(stopped).
		Iter(ctx, func(found topdown.QueryResult) error {
			value, err := ast.JSON(found[result].Value)
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

// flaws turns the answers into flaws.
func (r *run) flaws() ([]Flaw, []Failure, error) {
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
			answer, ok := read(one)
			if !ok || answer.document >= len(q.unit.docs) {
				failures = append(failures, Failure{
					Query: p.index.Queries[q.query].Name, Path: q.unit.docs[0].Path,
					Err: errors.New("it has a result that names no document"),
				})
				continue
			}
			k := key{p, q.query, answer.override}
			if rules[k] == nil {
				rule, err := p.ruleOf(q.query, answer.override)
				if err != nil {
					return nil, nil, err
				}
				rules[k] = rule
			}
			if f, ok := r.texts.flaw(q.unit.docs[answer.document], answer); ok {
				f.Rule = rules[k]
				flaws = append(flaws, f)
			}
		}
	}
	return flaws, failures, nil
}

// texts keeps the lines of files in which was searched: those of one file are the
// same for all of its documents.
type texts struct {
	mu     sync.Mutex
	byFile map[file]*lines
}

type file struct {
	path   string
	format document.Format
}
