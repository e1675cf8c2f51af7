package faults

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/run"
)

// An application is what is scanned. It counts what each path is asked for.
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
	d.call("POST", "/project/"+d.project+"/target/"+made.ID+"/scan/start", bearer, body(d.t, map[string]any{}), &started)
	return run.ID(started.ScanID)
}

// browsers returns the processes of browsers that this process and its children have
// started, by their numbers.
func (d *deployment) browsers() (out []string) {
	d.t.Helper()
	family := map[string]bool{fmt.Sprint(os.Getpid()): true}
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
		if err == nil && (strings.Contains(string(command), "--remote-debugging-pipe") || strings.Contains(string(command), "--type=")) {
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
