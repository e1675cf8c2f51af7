package flows

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"
)

var db *sql.DB

func sendReceive(w http.ResponseWriter, r *http.Request) {
	ch := make(chan string, 1)
	ch <- r.FormValue("a")
	db.Query(<-ch) // want sql
	quiet := make(chan string, 1)
	quiet <- "x"
	db.Query(<-quiet)
}

func worker(ch chan string) {
	db.Query(<-ch) // want sql
}

func goChannel(w http.ResponseWriter, r *http.Request) {
	ch := make(chan string)
	go worker(ch)
	ch <- r.FormValue("a")
}

func rangeChannel(w http.ResponseWriter, r *http.Request) {
	ch := make(chan string)
	go func() {
		ch <- r.FormValue("a")
		close(ch)
	}()
	for s := range ch {
		db.Query(s) // want sql
	}
}

func selected(w http.ResponseWriter, r *http.Request) {
	a, b := make(chan string), make(chan string)
	go func() { a <- r.FormValue("a") }()
	go func() { b <- "x" }()
	select {
	case s := <-a:
		db.Query(s) // want sql
	case s := <-b:
		db.Query(s)
	}
	select {
	case s, ok := <-a:
		if ok {
			db.Query(s) // want sql
		}
	default:
	}
}

func producer(v string) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		out <- v
	}()
	return out
}

func pipeline(w http.ResponseWriter, r *http.Request) {
	for s := range producer(r.FormValue("a")) {
	}
	for s := range producer("x") {
		db.Query(s)
	}
}

type fault struct{ message string }

func (f *fault) Error() string { return f.message }

func throw(s string) { panic(&fault{message: s}) }

func recovered(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if x := recover(); x != nil {
			db.Query(x.(*fault).message) // want sql
		}
	}()
	throw(r.FormValue("a"))
}

func recoveredDirect(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if x := recover(); x != nil {
			db.Query(fmt.Sprint(x)) // want sql
		}
	}()
	panic(r.FormValue("a"))
}

func deferred(w http.ResponseWriter, r *http.Request) {
	s := "x"
	defer func() {
		db.Query(s) // want sql
	}()
	s = r.FormValue("a")
}

func deferredArgument(w http.ResponseWriter, r *http.Request) {
	s := "x"
	defer db.Query(s)
	s = r.FormValue("a")
}

func named(r *http.Request) (out string, err error) {
	defer func() { out = r.FormValue("a") }()
	return "x", nil
}

func useNamed(w http.ResponseWriter, r *http.Request) {
	s, _ := named(r)
	db.Query(s) // want sql
}

func indexes(w http.ResponseWriter, r *http.Request) {
	var arr [3]string
	i := 0
	arr[i] = r.FormValue("a")
	i = 1
	arr[i] = "x"
	db.Query(arr[0]) // want sql
	db.Query(arr[1])
	db.Query(arr[2])
	arr[0] = "y"
	db.Query(arr[0])
}

type base struct{ name string }

func (b *base) set(s string)    { b.name = s }
func (b base) get() string      { return b.name }
func (b base) constant() string { return "x" }

type outer struct {
	base
	other string
}

func embedded(w http.ResponseWriter, r *http.Request) {
	var o outer
	o.set(r.FormValue("a"))
	db.Query(o.get())     // want sql
	db.Query(o.name)      // want sql
	db.Query(o.base.name) // want sql
	o.name = "x"
}

type pointerOuter struct {
	*base
}

func embeddedPointer(w http.ResponseWriter, r *http.Request) {
	o := pointerOuter{&base{}}
	o.set(r.FormValue("a"))
	db.Query(o.get()) // want sql
}

type getter interface{ get() string }
type holder struct{ getter }

func embeddedInterface(w http.ResponseWriter, r *http.Request) {
	h := holder{base{name: r.FormValue("a")}}
	db.Query(h.get()) // want sql
}

func methodValue(w http.ResponseWriter, r *http.Request) {
	b := &base{}
	f := b.set
	f(r.FormValue("a"))
	g := base.get
	h := (*base).set
	c := &base{}
	h(c, r.FormValue("a"))
}

func identity[T any](v T) T { return v }

type stack[T any] struct{ items []T }

func (s *stack[T]) push(v T) { s.items = append(s.items, v) }
func (s *stack[T]) pop() T {
	v := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return v
}

func apply[A, B any](list []A, f func(A) B) []B {
	var out []B
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

func generic(w http.ResponseWriter, r *http.Request) {
	db.Query(identity(r.FormValue("a")))         // want sql
	db.Query(identity[string](r.FormValue("a"))) // want sql
	db.Query(identity("x"))
	s := &stack[string]{}
	s.push(r.FormValue("a"))
	db.Query(s.pop()) // want sql
	q := &stack[string]{}
	q.push("x")
	db.Query(q.pop())
	for _, v := range apply([]string{r.FormValue("a")}, func(s string) string { return s + "!" }) {
		db.Query(v) // want sql
	}
	for _, v := range apply([]string{r.FormValue("a")}, func(s string) string { return "x" }) {
	}
}

func typeSwitch(w http.ResponseWriter, r *http.Request) {
	var v any = r.FormValue("a")
	switch t := v.(type) {
	case string:
		db.Query(t) // want sql
	case fmt.Stringer:
	}
	if s, ok := v.(string); ok {
		db.Query(s) // want sql
	}
}

func mapOfFuncs(w http.ResponseWriter, r *http.Request) {
	m := map[string]func(string){
		"a": func(s string) { db.Query(s) }, // want sql
		"b": func(s string) { db.Query("x") },
	}
	m["a"](r.FormValue("a"))
	m["b"](r.FormValue("a"))
}

var handlers = map[string]func(string){"q": runQuery}

func runQuery(s string) { db.Query(s) } // want sql

func globalMap(w http.ResponseWriter, r *http.Request) {
	if h, ok := handlers[r.FormValue("h")]; ok {
		h(r.FormValue("a"))
	}
}

func variadic(parts ...string) string { return parts[1] }
func joined(parts ...string) string   { return strings.Join(parts, ",") }

func variadics(w http.ResponseWriter, r *http.Request) {
	db.Query(variadic("x", r.FormValue("a"))) // want sql
	db.Query(variadic(r.FormValue("a"), "x"))
	list := []string{r.FormValue("a")}
	db.Query(joined(list...)) // want sql
}

func pair(s string) (string, string) { return s, "x" }

func multiple(w http.ResponseWriter, r *http.Request) {
	a, b := pair(r.FormValue("a"))
	db.Query(a) // want sql
	db.Query(b)
	a, b = b, a
	db.Query(a)
	db.Query(b) // want sql
}

func first(a, b string) string { return a }

func spread(w http.ResponseWriter, r *http.Request) {
	db.Query(first(pair(r.FormValue("a")))) // want sql
}

func fill(p *string, s string) { *p = s }

type record struct {
	name  string
	other string
	inner struct{ deep string }
	next  *record
}

func pointers(w http.ResponseWriter, r *http.Request) {
	var rec record
	p := &rec.name
	*p = r.FormValue("a")
	db.Query(rec.name) // want sql
	db.Query(rec.other)
	var s string
	fill(&s, r.FormValue("a"))
	db.Query(s) // want sql
	var t record
	fill(&t.inner.deep, r.FormValue("a"))
	db.Query(t.name)
	list := make([]string, 3)
	fill(&list[1], r.FormValue("a"))
	db.Query(list[1]) // want sql
	pp := &p
	**pp = "x"
}

func slicesOf(w http.ResponseWriter, r *http.Request) {
	a := []string{"x", r.FormValue("a"), "y"}
	db.Query(a[1:][0]) // want sql
	db.Query(a[2:][0])
	db.Query(a[:2][1]) // want sql
	b := append([]string{"z"}, a...)
	db.Query(b[2]) // want sql
	db.Query(b[0])
	c := make([]string, 3)
	copy(c, a)
	db.Query(c[1]) // want sql
	d := slices.Clone(a)
	db.Query(d[1]) // want sql
	slices.Sort(d)
	db.Query(d[0]) // want sql
	e := append(a[:1], a[2:]...)
	db.Query(strings.Join(e, ""))
	var f [][]string
	f = append(f, a)
	db.Query(f[0][1]) // want sql
	sort.Strings(c)
	db.Query(c[2]) // want sql
	clear(c)
	g := slices.Insert([]string{"x"}, 0, r.FormValue("a"))
	db.Query(g[0]) // want sql
}

func builders(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	b.WriteString("select ")
	b.WriteString(r.FormValue("a"))
	db.Query(b.String()) // want sql
	b.Reset()
	b.WriteString("x")
	db.Query(b.String())
	var buf bytes.Buffer
	buf.WriteString(r.FormValue("a"))
	db.Query(buf.String()) // want sql
	fmt.Fprintf(&b, "%s", r.FormValue("a"))
	db.Query(b.String()) // want sql
	c := bytes.NewBufferString(r.FormValue("a"))
	db.Query(c.String()) // want sql
	var d bytes.Buffer
	io.Copy(&d, r.Body)
	db.Query(d.String()) // want sql
	var e bytes.Buffer
	e.ReadFrom(r.Body)
	db.Query(string(e.Bytes())) // want sql
	var f bytes.Buffer
	io.WriteString(&f, r.FormValue("a"))
	db.Query(f.String()) // want sql
	bw := bufio.NewWriter(&f)
	bw.WriteString("x")
}

func scans(w http.ResponseWriter, r *http.Request) {
	var s string
	fmt.Sscanf(r.FormValue("a"), "%s", &s)
	db.Query(s) // want sql
	var t string
	fmt.Fscan(r.Body, &t)
	db.Query(t) // want sql
	var u, v string
	fmt.Sscan(r.FormValue("a"), &u, &v)
	db.Query(v) // want sql
	sc := bufio.NewScanner(r.Body)
	for sc.Scan() {
		db.Query(sc.Text()) // want sql
	}
	rd := bufio.NewReader(r.Body)
	line, _ := rd.ReadString('\n')
	db.Query(line) // want sql
	buf := make([]byte, 10)
	r.Body.Read(buf)
	db.Query(string(buf)) // want sql
	buf2 := make([]byte, 10)
	io.ReadFull(r.Body, buf2)
	db.Query(string(buf2)) // want sql
	all, _ := io.ReadAll(io.LimitReader(r.Body, 10))
	db.Query(string(all)) // want sql
}

type payload struct {
	Name string
	Tags []string
	Sub  struct{ X string }
	N    int
}

func jsons(w http.ResponseWriter, r *http.Request) {
	var p payload
	body, _ := io.ReadAll(r.Body)
	json.Unmarshal(body, &p)
	db.Query(p.Name)    // want sql
	db.Query(p.Tags[0]) // want sql
	db.Query(p.Sub.X)   // want sql
	db.Query(fmt.Sprint(p.N))
	var q payload
	json.NewDecoder(r.Body).Decode(&q)
	db.Query(q.Name) // want sql
	var m map[string]any
	json.NewDecoder(r.Body).Decode(&m)
	db.Query(m["a"].(string)) // want sql
	t := new(payload)
	if err := json.Unmarshal(body, t); err != nil {
		return
	}
	db.Query(t.Name) // want sql
	text, _ := json.Marshal(p)
	db.Query(string(text)) // want sql
}

func templated(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	t := template.Must(template.New("x").Parse("select {{.}}"))
	t.Execute(&b, r.FormValue("a"))
	db.Query(b.String()) // want sql
	var c bytes.Buffer
	t.Execute(&c, "x")
	db.Query(c.String())
}

func closures(w http.ResponseWriter, r *http.Request) {
	s := "x"
	set := func(v string) { s = v }
	set(r.FormValue("a"))
	db.Query(s) // want sql
	make := func() func() string {
		v := r.FormValue("a")
		return func() string { return v }
	}
	db.Query(make()()) // want sql
	var wg sync.WaitGroup
	results := []string{"", ""}
	for i := range results {
		wg.Add(1)
		go func() {
			defer wg.Done()
			results[i] = r.FormValue("a")
		}()
	}
	wg.Wait()
	db.Query(results[0]) // want sql
}

func synced(w http.ResponseWriter, r *http.Request) {
	var m sync.Map
	m.Store("a", r.FormValue("a"))
	v, _ := m.Load("a")
	db.Query(v.(string)) // want sql
	m.Range(func(k, v any) bool {
		db.Query(v.(string)) // want sql
		return true
	})
	var a atomic.Value
	a.Store(r.FormValue("a"))
	db.Query(a.Load().(string)) // want sql
	var o sync.Once
	var s string
	o.Do(func() { s = r.FormValue("a") })
	db.Query(s) // want sql
	var p atomic.Pointer[string]
	x := r.FormValue("a")
	p.Store(&x)
	db.Query(*p.Load()) // want sql
	pool := sync.Pool{New: func() any { return "x" }}
	pool.Put(r.FormValue("a"))
	db.Query(pool.Get().(string)) // want sql
}

type key struct{}

func contexts(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithValue(r.Context(), key{}, r.FormValue("a"))
	db.Query(ctx.Value(key{}).(string)) // want sql
}

func errorsOf(w http.ResponseWriter, r *http.Request) {
	err := fmt.Errorf("bad %s", r.FormValue("a"))
	db.Query(err.Error()) // want sql
	e2 := errors.New(r.FormValue("a"))
	db.Query(e2.Error()) // want sql
	var e3 error = &fault{r.FormValue("a")}
	var f *fault
	if errors.As(e3, &f) {
		db.Query(f.message) // want sql
	}
	e4 := fmt.Errorf("w %w", e3)
	db.Query(errors.Unwrap(e4).Error()) // want sql
}

func stringsOf(w http.ResponseWriter, r *http.Request) {
	a := r.FormValue("a")
	before, after, _ := strings.Cut(a, "x")
	db.Query(before)                                         // want sql
	db.Query(after)                                          // want sql
	db.Query(strings.Map(func(r rune) rune { return r }, a)) // want sql
	db.Query(strings.Repeat(a, 2))                           // want sql
	db.Query(strings.NewReplacer("a", "b").Replace(a))       // want sql
	for _, f := range strings.Fields(a) {
		db.Query(f) // want sql
	}
	for part := range strings.SplitSeq(a, ",") {
		db.Query(part) // want sql
	}
	db.Query(string([]byte(a)))     // want sql
	db.Query(string([]rune(a)[1:])) // want sql
	db.Query(a[1:3])                // want sql
	u, _ := url.Parse(a)
	db.Query(u.Query().Get("x")) // want sql
	x, _ := url.QueryUnescape(a)
	db.Query(x) // want sql
	b := []byte("x")
	b = append(b, a...)
	db.Query(string(b))            // want sql
	db.Query(fmt.Sprintln("x", a)) // want sql
	c := fmt.Appendf(nil, "%s", a)
	db.Query(string(c)) // want sql
	rd := strings.NewReader(a)
	all, _ := io.ReadAll(rd)
	db.Query(string(all)) // want sql
	var d strings.Builder
	tee := io.TeeReader(r.Body, &d)
	io.Copy(io.Discard, tee)
	db.Query(d.String()) // want sql
	pr, pw := io.Pipe()
	go func() { pw.Write([]byte(a)) }()
	z, _ := io.ReadAll(pr)
}

func mapsOf(w http.ResponseWriter, r *http.Request) {
	m := map[string]string{"a": r.FormValue("a"), "b": "x"}
	db.Query(m["a"]) // want sql
	db.Query(m["b"])
	delete(m, "a")
	db.Query(m["a"])
	n := map[string]string{r.FormValue("k"): "x"}
	for k := range n {
		db.Query(k) // want sql
	}
	for _, v := range n {
		db.Query(v)
	}
	c := maps.Clone(map[string]string{"a": r.FormValue("a")})
	db.Query(c["a"]) // want sql
	for k := range maps.Keys(n) {
		db.Query(k) // want sql
	}
	l := slices.Collect(maps.Keys(n))
	db.Query(l[0]) // want sql
	d := map[string]string{}
	maps.Copy(d, c)
	db.Query(d["a"]) // want sql
	if v, ok := c["a"]; ok {
		db.Query(v) // want sql
	}
}

func seq(v string) func(yield func(string) bool) {
	return func(yield func(string) bool) { yield(v) }
}

func rangeFunc(w http.ResponseWriter, r *http.Request) {
	for s := range seq(r.FormValue("a")) {
	}
	for s := range seq("x") {
		db.Query(s)
	}
}

type option func(*record)

func withName(s string) option { return func(r *record) { r.name = s } }

func newRecord(opts ...option) *record {
	r := &record{}
	for _, o := range opts {
		o(r)
	}
	return r
}

func options(w http.ResponseWriter, r *http.Request) {
	rec := newRecord(withName(r.FormValue("a")))
	db.Query(rec.name) // want sql
	db.Query(rec.other)
}

func linked(w http.ResponseWriter, r *http.Request) {
	head := &record{name: "x"}
	head.next = &record{name: r.FormValue("a")}
	for n := head; n != nil; n = n.next {
		db.Query(n.name) // want sql
	}
}

type runner interface{ run(string) }
type quietRunner struct{}
type loudRunner struct{}

func (quietRunner) run(s string) { db.Query("x") }
func (loudRunner) run(s string)  { db.Query(s) } // want sql

func dispatched(w http.ResponseWriter, r *http.Request) {
	for _, x := range []runner{quietRunner{}, loudRunner{}} {
		x.run(r.FormValue("a"))
	}
}

type middleware func(http.Handler) http.Handler

func wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		db.Query(r.URL.Path) // want sql
		next.ServeHTTP(w, r)
	})
}

func valueCopy(w http.ResponseWriter, r *http.Request) {
	a := record{name: "x"}
	b := a
	b.name = r.FormValue("a")
	db.Query(b.name) // want sql
	c := &a
	c.name = r.FormValue("a")
	db.Query(a.name) // want sql
	arr := [2]string{"x", "y"}
	brr := arr
	brr[0] = r.FormValue("a")
	db.Query(brr[0]) // want sql
}

func labelled(w http.ResponseWriter, r *http.Request) {
	s := "x"
outer:
	for i := 0; i < 3; i++ {
		for {
			s = r.FormValue("a")
			break outer
		}
	}
	db.Query(s) // want sql
	switch x := r.FormValue("b"); {
	case x == "a":
		fallthrough
	case x == "b":
		db.Query(x)
	default:
		db.Query(x) // want sql
	}
	goto end
end:
	db.Query(s) // want sql
}

type A1 struct{ f A2 }
type A2 struct{ f A3 }
type A3 struct{ f A4 }
type A4 struct{ f A5 }
type A5 struct{ f A6 }
type A6 struct{ v, u string }

func deep(w http.ResponseWriter, r *http.Request) {
	var a, b A1
	a.f.f.f.f.f.v = r.FormValue("a")
	db.Query(fmt.Sprint(a)) // want sql
	db.Query(a.f.f.f.f.f.v) // want sql
	db.Query(a.f.f.f.f.f.u)
	db.Query(fmt.Sprint(b))
	show(a)
}

func show(o any) {
	db.Query(fmt.Sprintf("%v", o)) // want sql
}
