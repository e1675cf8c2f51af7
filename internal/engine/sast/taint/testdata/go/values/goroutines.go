package values

import (
	"database/sql"
	"errors"
	"net/http"
	"sync"
	"time"
)

var dbgoroutines *sql.DB

func goroutines(w http.ResponseWriter, r *http.Request) {
	var s string
	go func() { s = r.FormValue("a") }()
	time.Sleep(1)
	dbgoroutines.Query(s) // want sql
	var wg sync.WaitGroup
	var t string
	wg.Add(1)
	go fillIt(&t, r.FormValue("a"), &wg)
	wg.Wait()
	dbgoroutines.Query(t) // want sql
	done := make(chan struct{})
	var u string
	go func() {
		u = r.FormValue("a")
		close(done)
	}()
	<-done
	dbgoroutines.Query(u) // want sql
	var mu sync.Mutex
	m := map[string]string{}
	go func() {
		mu.Lock()
		defer mu.Unlock()
		m["a"] = r.FormValue("a")
	}()
	mu.Lock()
	dbgoroutines.Query(m["a"]) // want sql
	mu.Unlock()
	type msg struct{ a, b string }
	ch := make(chan msg)
	go func() { ch <- msg{r.FormValue("a"), "x"} }()
	x := <-ch
	dbgoroutines.Query(x.a) // want sql
	dbgoroutines.Query(x.b)
	errc := make(chan error, 1)
	go func() { errc <- errors.New(r.FormValue("a")) }()
	dbgoroutines.Query((<-errc).Error()) // want sql
	quiet := make(chan string)
	go func() { quiet <- "x" }()
	dbgoroutines.Query(<-quiet)
	chans := []chan string{make(chan string)}
	go func() { chans[0] <- r.FormValue("a") }()
	dbgoroutines.Query(<-chans[0]) // want sql
	var o sync.Once
	var p string
	o.Do(func() { p = r.FormValue("a") })
	dbgoroutines.Query(p) // want sql
	f := sync.OnceValue(func() string { return r.FormValue("a") })
	dbgoroutines.Query(f()) // want sql
}
func fillIt(p *string, s string, wg *sync.WaitGroup) {
	defer wg.Done()
	*p = s
}

func producer(v string) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		out <- v
	}()
	return out
}
func stage(in <-chan string) <-chan string {
	out := make(chan string)
	go func() {
		for s := range in {
			out <- s + "!"
		}
		close(out)
	}()
	return out
}
func pipelines(w http.ResponseWriter, r *http.Request) {
	for s := range producer(r.FormValue("a")) {
		dbgoroutines.Query(s) // want sql
	}
	for s := range stage(producer(r.FormValue("a"))) {
		dbgoroutines.Query(s) // want sql
	}
	for s := range producer("x") {
		dbgoroutines.Query(s)
	}
}
