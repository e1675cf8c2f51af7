package faults

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/run"
)

// An application is what is scanned. It counts the requests of each path, and of each path
// with its query.
type application struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
}

func newApplication(t *testing.T, handler http.Handler) *application {
	a := &application{asked: map[string]int{}}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked[r.URL.Path]++
		if r.URL.RawQuery != "" {
			a.asked[r.URL.RequestURI()]++
		}
		a.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *application) count(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[path]
}

// counts returns how often each was asked for so far.
func (a *application) counts() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.asked)
}

func page(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!doctype html><html lang=en><title>Shop</title><body>"+text)
}

func body(t *testing.T, value any) io.Reader {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(text)
}

// startLive makes a target of the application and starts a scan of it.
func (d *deployment) startLive(url string, more map[string]any) run.ID {
	d.t.Helper()
	bearer := d.signIn()
	target := map[string]any{"name": "Shop", "url": url + "/", "environment": "staging", "profile": "standard"}
	for key, value := range more {
		target[key] = value
	}
	var made struct{ ID string }
	d.call("POST", "/project/"+d.project+"/target", bearer, body(d.t, target), &made)
	var started struct{ ScanID string }
	d.call("POST", "/project/"+d.project+"/target/"+made.ID+"/scan/start", bearer, body(d.t, map[string]any{}),
		&started)
	return run.ID(started.ScanID)
}

// browsers returns the processes of browsers that the deployment's processes have started,
// by their numbers.
func (d *deployment) browsers() (out []string) {
	d.t.Helper()
	family := map[string]bool{}
	for _, cmd := range append(d.working, d.cmd) {
		if cmd != nil {
			family[fmt.Sprint(cmd.Process.Pid)] = true
		}
	}
	parents := map[string]string{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	d.must(err)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // has ended
		}
		pid, rest, _ := strings.Cut(string(text), " ")
		fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
		if fields[0] != "Z" {
			parents[pid] = fields[1]
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, parent := range parents {
			if family[parent] && !family[pid] {
				family[pid], grown = true, true
			}
		}
	}
	for pid := range family {
		command, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err == nil && (strings.Contains(string(command), "--remote-debugging-pipe") ||
			strings.Contains(string(command), "--type=")) {
			out = append(out, pid)
		}
	}
	return out
}

// noBrowsers waits a little for the browsers to be gone.
func (d *deployment) noBrowsers() {
	d.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for len(d.browsers()) > 0 {
		if time.Now().After(deadline) {
			d.t.Fatalf("browsers go on: %v", d.browsers())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestLiveScanRunsScript finds what only script shows, in the browser that the worker
// lends its scan, and goes nowhere else.
func TestLiveScanRunsScript(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	hidden := base64.StdEncoding.EncodeToString([]byte("/find?word=shoes"))
	a := newApplication(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			page(w, fmt.Sprintf(`<p>Welcome<script>
				const other = %q;
				fetch(other + "/fetched").catch(() => {});
				new WebSocket(other.replace("http", "ws") + "/socket");
				new Image().src = other + "/picture";
				fetch(atob(%q)).then(r => r.text()).then(text => document.body.append(text))</script>`, other.URL, hidden))
		case "/find":
			page(w, "<p>Nothing is called "+r.FormValue("word"))
		default:
			http.NotFound(w, r)
		}
	}))
	data := filepath.Join(folder(t), "data")
	d := prepare(t, program(t), place{SQLite: filepath.Join(data, "merlon.db")}, "--data", data)
	d.also = []string{"--dast-allow", "127.0.0.1"}
	d.serve()
	r := d.await(d.sc, d.startLive(a.URL, nil), "ended", ended)
	if r.Failure != nil {
		t.Fatalf("ended as %s, %+v", r.State, r.Failure)
	}
	for _, s := range r.Outcome.Statuses {
		for _, reason := range s.Reasons {
			if strings.Contains(reason.Message, "script") || strings.Contains(reason.Message, "browser") {
				t.Errorf("%s: %s", s.Analyzer, reason.Message)
			}
		}
	}
	list, _ := d.findings(d.sc)
	if !slices.ContainsFunc(list, func(f string) bool { return strings.Contains(f, "/find:") }) {
		t.Errorf("the flaw of what only script asks for was not found: %q", list)
	}
	if a.count("/find") == 0 {
		t.Error("nothing that only script asks for was asked for")
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another port of this machine was asked %d times", n)
	}
	d.noBrowsers()
}

// newShop is an application whose pages show nothing of what they are asked for, but one.
// The last pages answer what is not linked when the gate is open: a scan does not end before.
func newShop(t *testing.T, gate <-chan struct{}) *application {
	return newApplication(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			links := ""
			for n := range shopPages {
				links += fmt.Sprintf("<a href=\"/page%d?a=x&b=1\">page %d</a> ", n, n)
			}
			page(w, links+"<a href=/find?word=shoes>find</a>")
		case strings.HasPrefix(r.URL.Path, "/page"):
			if number, err := strconv.Atoi(r.URL.Path[len("/page"):]); err == nil && number >= shopPages-2 &&
				r.URL.RawQuery != "a=x&b=1" {
				select {
				case <-gate:
				case <-r.Context().Done():
				}
			}
			page(w, "always the same")
		case r.URL.Path == "/find":
			page(w, "<p>Nothing is called "+r.FormValue("word"))
		default:
			http.NotFound(w, r)
		}
	}))
}

const shopPages = 14

// flaws are the findings of an application, with its address taken out.
func (d *deployment) flaws(url string) (out []string) {
	d.t.Helper()
	host := strings.TrimPrefix(url, "http://")
	rows, err := d.db.Query(d.t.Context(), "SELECT place, path, status, gone FROM finding WHERE project_id = ?",
		d.project)
	d.must(err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var place, path string
		var status int
		var gone bool
		d.must(rows.Scan(&place, &path, &status, &gone))
		if rest, ok := strings.CutPrefix(path, host); ok {
			out = append(out, fmt.Sprintf("%s status %d gone %v", rest, status, gone))
		}
	}
	d.must(rows.Err())
	slices.Sort(out)
	return out
}

// hasKept waits until the scan has kept that something was attacked in vain.
func (d *deployment) hasKept(id run.ID) {
	d.t.Helper()
	deadline := time.Now().Add(patience)
	for d.count("SELECT COUNT(*) FROM run_kept WHERE run_id = ? AND LENGTH(sealed) > 300", id) == 0 {
		if r := d.run(d.sc, id); time.Now().After(deadline) || ended(r) {
			d.t.Fatalf("the scan has kept nothing: %s, %q", r.State, r.Step)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestLiveScanGoesOn interrupts a scan in the middle of its attacks. It finds the
// operations again, does not attack what was attacked in vain, and ends like one that
// nobody has interrupted.
func TestLiveScanGoesOn(t *testing.T) {
	t.Parallel()
	program := program(t)
	for name, interrupt := range map[string]func(d *deployment, id run.ID) (goOn func()){
		"killed": func(d *deployment, _ run.ID) func() {
			browsers := d.browsers()
			d.must(d.working[0].Process.Kill())
			_ = d.working[0].Wait() // it was killed
			for _, pid := range browsers {
				number, err := strconv.Atoi(pid)
				d.must(err)
				gone(d.t, number)
			}
			if len(browsers) == 0 {
				d.t.Error("there was no browser")
			}
			return func() { d.work("second", "--master-key-file", d.key(), "--dast-allow", "127.0.0.1") }
		},
		"paused": func(d *deployment, id run.ID) func() {
			at := "/project/" + d.project + "/scan/" + string(id)
			var answer struct{ Paused bool }
			d.call("POST", at+"/pause", d.signIn(), body(d.t, map[string]any{}), &answer)
			d.await(d.sc, id, "paused", func(r run.Run) bool { return r.State == run.Queued })
			d.noBrowsers()
			return func() { d.call("POST", at+"/resume", d.signIn(), body(d.t, map[string]any{}), &answer) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(folder(t), "data")
			d := prepare(t, program, place{SQLite: filepath.Join(data, "merlon.db")}, "--data", data)
			d.also = []string{"--workers", "0", "--dast-allow", "127.0.0.1", "--master-key-file", d.key()}
			d.serve()
			d.work("first", "--master-key-file", d.key(), "--dast-allow", "127.0.0.1")
			gate, open := make(chan struct{}), make(chan struct{})
			close(open)
			disturbed, calm := newShop(t, gate), newShop(t, open)
			id := d.startLive(disturbed.URL, map[string]any{"rate": 60})
			d.hasKept(id)
			goOn := interrupt(d, id)
			before := disturbed.counts()
			close(gate)
			goOn()
			r := d.await(d.sc, id, "ended", ended)
			after := disturbed.counts()
			want := d.await(d.sc, d.startLive(calm.URL, nil), "ended", ended)
			if r.State != want.State || r.Attempt != 2 || r.Failure != nil {
				t.Errorf("ended as %s at attempt %d, %+v; undisturbed as %s", r.State, r.Attempt, r.Failure, want.State)
			}
			got := d.flaws(disturbed.URL)
			if diff := cmp.Diff(d.flaws(calm.URL), got); diff != "" || len(got) == 0 {
				t.Errorf("findings, undisturbed and disturbed (-want +got):\n%s", diff)
			}
			spared := 0
			for n := range shopPages {
				path := fmt.Sprintf("/page%d", n)
				again := after[path] - before[path]
				t.Logf("%s was asked for %d times, then %d times; undisturbed %d times", path, before[path], again,
					calm.count(path))
				if again == 0 {
					t.Errorf("%s was not found again", path)
				}
				attack := path + "?a=x%27%22%28&b=1" // one that each attempt sends in the same words
				if calm.count(attack) == 0 {
					t.Errorf("%s was not attacked by %s", path, attack)
				}
				if before[attack] > 0 && after[attack] == before[attack] {
					spared++
				}
			}
			if spared == 0 {
				t.Error("every page was attacked again")
			}
			d.noBrowsers()
		})
	}
}

// TestLiveScanLosesItsBrowser kills the browser: the scan has another one. Then it is
// cancelled, which ends that.
func TestLiveScanLosesItsBrowser(t *testing.T) {
	t.Parallel()
	var browsed atomic.Int64
	a := newApplication(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-Fetch-Dest") != "" || r.Header.Get("Upgrade-Insecure-Requests") != "" {
			browsed.Add(1)
		}
		page(w, fmt.Sprintf("<a href=\"?next=%s1\">on</a><script>for (const until = Date.now() + 300; Date.now() < "+
			"until;);</script>", html.EscapeString(r.FormValue("next"))))
	}))
	data := filepath.Join(folder(t), "data")
	d := prepare(t, program(t), place{SQLite: filepath.Join(data, "merlon.db")}, "--data", data)
	d.also = []string{"--dast-allow", "127.0.0.1"}
	d.serve()
	id := d.startLive(a.URL, map[string]any{"rate": 20})
	other := func(old []string) []string {
		t.Helper()
		deadline := time.Now().Add(patience)
		for {
			now := d.browsers()
			if len(now) > 0 && !slices.ContainsFunc(now, func(pid string) bool { return slices.Contains(old, pid) }) {
				return now
			}
			if r := d.run(d.sc, id); time.Now().After(deadline) || ended(r) {
				t.Fatalf("there is no other browser: %s, %q, %+v", r.State, r.Step, r.Outcome.Statuses)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for browsed.Load() == 0 {
		other(nil)
	}
	first := other(nil)
	for _, pid := range first {
		number, err := strconv.Atoi(pid)
		d.must(err)
		_ = syscall.Kill(number, syscall.SIGKILL) // the first has ended the others
	}
	other(first)
	var answer struct{ State string }
	d.call("POST", "/project/"+d.project+"/scan/"+string(id)+"/cancel", d.signIn(), body(t, map[string]any{}), &answer)
	d.await(d.sc, id, "ended", ended)
	d.noBrowsers()
}
