package application_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/chromium"
	"merlon/internal/engine/dast/application"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// examine scans the handler.
func examine(t *testing.T, h http.Handler, change func(*scan.Options)) scantest.Kept {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	var dialer net.Dialer
	o := scan.Options{Live: &scan.Live{Target: scan.Target{URL: server.URL + "/"}, ID: "t", Dial: dialer.DialContext,
		BrowserReason: "none in this test"},
		Analyzers: []*scan.Analyzer{application.Analyzer}}
	if change != nil {
		change(&o)
	}
	var got scantest.Kept
	if err := scan.Run(t.Context(), o, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func shop() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<html><a href="/go?to=/home">go</a> <a href="/private">p</a> <form method=post action=/leave><input name=back value=/home></form>`)
	})
	mux.HandleFunc("/home", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>home") })
	mux.HandleFunc("/private", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/go", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
	})
	mux.HandleFunc("/leave", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<html>bye, back to %s", html.EscapeString(r.FormValue("back")))
	})
	return mux
}

func TestApplication(t *testing.T) {
	got := examine(t, shop(), nil)
	redirects := 0
	for _, f := range got.Findings {
		if f.RuleID == "dast/redirect/open-redirect" {
			redirects++
			if !strings.HasSuffix(f.Location.Path, "/go") || f.Live.Parameter != "to" || f.Live.Curl == "" {
				t.Errorf("finding %+v, live %+v", f, f.Live)
			}
		}
	}
	if redirects != 1 {
		t.Errorf("%d redirects", redirects)
	}
	outcomes := map[string]finding.Outcome{}
	for _, o := range got.Operations {
		_, path, _ := strings.Cut(strings.TrimPrefix(o.URL, "http://"), "/")
		outcomes[o.Method+" /"+path] = o.Outcome
		if o.Outcome != finding.Reached && o.Reason == "" {
			t.Errorf("%s %s has no reason", o.Method, o.URL)
		}
	}
	for op, want := range map[string]finding.Outcome{"GET /": finding.Reached, "GET /go": finding.Reached,
		"GET /private": finding.Refused, "POST /leave": finding.Reached} {
		if outcomes[op] != want {
			t.Errorf("%s is %q, want %q", op, outcomes[op], want)
		}
	}
}

func TestPassiveProfileSendsNothingUnusual(t *testing.T) {
	got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || strings.Contains(r.URL.RawQuery, "example") {
			t.Errorf("%s %s was sent", r.Method, r.URL)
		}
		shop().ServeHTTP(w, r)
	}), func(o *scan.Options) { o.Live.Target.Profile = scan.Passive })
	for _, f := range got.Findings {
		if f.RuleID == "dast/redirect/open-redirect" {
			t.Error("an attack was made")
		}
	}
}

// Targets that misbehave end the scan degraded or failed, true and bounded.
func TestHostileTargets(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"huge": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			chunk := strings.Repeat("<p>x", 1<<16)
			for range 4000 { // 1 GB
				if _, err := fmt.Fprint(w, chunk); err != nil || r.Context().Err() != nil {
					return
				}
			}
		},
		"metadata": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		},
		"loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"a/", http.StatusFound) },
		"drops": func(w http.ResponseWriter, r *http.Request) {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		},
		"mazes": func(w http.ResponseWriter, r *http.Request) {
			for i := range 50 {
				fmt.Fprintf(w, "<html><a href='%s%d/?%d=1'>x</a>", r.URL.Path, i, i)
			}
		},
	} {
		dialed := ""
		got := examine(t, h, func(o *scan.Options) {
			dial := o.Live.Dial
			o.Live.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if !strings.HasPrefix(address, "127.0.0.1:") {
					dialed = address
				}
				return dial(ctx, network, address)
			}
			o.Live.Target.Requests = 150
			o.Limits.LiveTime = time.Minute
		})
		if len(got.Statuses) != 1 {
			t.Fatalf("%s: statuses %+v", name, got.Statuses)
		}
		state := got.Statuses[0]
		if dialed != "" {
			t.Errorf("%s: %s was dialed", name, dialed)
		}
		if (name == "drops" || name == "mazes") && state.State == scan.Succeeded {
			t.Errorf("%s: succeeded", name)
		}
	}
}

// A sign-in that fails ends the scan before it examines anything; with Guest it continues and
// says so.
func TestFailedSignIn(t *testing.T) {
	for guest, want := range map[bool]scan.State{false: scan.Failed, true: scan.Degraded} {
		got := examine(t, shop(), func(o *scan.Options) {
			o.Live.AllowGuest = guest
			o.Live.Target.Identities = []scan.Identity{{Name: "a", Form: &scan.FormLogin{URL: "/home", User: "u",
				Password: "p"}}}
		})
		if s := got.Statuses[0]; s.State != want || (len(got.Operations) >= 4) != guest {
			t.Errorf("guest %t: status %+v, %d operations", guest, s, len(got.Operations))
		}
	}
}

func TestScriptIsRun(t *testing.T) {
	path, err := chromium.Find()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<html><button id=b>x</button><script>b.onclick = function () { fetch(['', 'api', 'things'].join('/') + '?na' + 'me=' + b.textContent) }</script>`)
	})
	mux.HandleFunc("/api/things", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<html><p>%s", r.FormValue("name"))
	})
	got := examine(t, mux, func(o *scan.Options) { o.Live.Browser, o.Live.BrowserReason = path, "" })
	ran := false
	for _, f := range got.Findings {
		ran = ran || f.RuleID == "dast/xss/reflected" && strings.HasSuffix(f.Location.Path, "/api/things") &&
			strings.Contains(strings.Join(f.Live.Proof, " "), "browser")
	}
	if !ran {
		t.Errorf("what only script asks for was not attacked: %d findings, operations %+v, "+
			"status %+v", len(got.Findings), got.Operations, got.Statuses)
	}
}

func TestScriptsOfPages(t *testing.T) {
	path, err := chromium.Find()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<html><a href="/bad">b</a> <a href="/good">g</a>`)
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<html><p id=p></p><script>p.innerHTML = decodeURIComponent(location.hash.slice(1))</script>`)
	})
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<html><p id=p></p><script>p.textContent = decodeURIComponent(location.hash.slice(1))</script>`)
	})
	got := examine(t, mux, func(o *scan.Options) { o.Live.Browser, o.Live.BrowserReason = path, "" })
	var where []string
	for _, f := range got.Findings {
		if f.RuleID == "dast/xss/dom" {
			where = append(where, f.Location.Path[strings.Index(f.Location.Path, "/"):]+" "+f.Live.In)
		}
	}
	if len(where) != 1 || where[0] != "/bad fragment" {
		t.Errorf("found %v, status %+v", where, got.Statuses)
	}
}

func TestTemplatesAreRun(t *testing.T) {
	got := examine(t, shop(), func(o *scan.Options) {
		o.Live.BrowserReason, o.Live.Target.Profile = "", scan.Safe
		o.Live.Target.Templates = []scan.Description{{Name: "a.yaml", Text: "id: answers\ninfo: {name: It answers, " +
			"severity: medium}\nhttp:\n  - path: [\"{{BaseURL}}\"]\n    matchers:\n      - {type: status, status: " +
			"[200]}\n"}}
	})
	if !slices.ContainsFunc(got.Findings, func(f finding.Finding) bool {
		return f.RuleID == "template/answers" && f.Severity == finding.Medium
	}) {
		t.Errorf("found %+v, status %+v", got.Findings, got.Statuses)
	}
}

func TestTemplatesAreNotForgotten(t *testing.T) {
	got := examine(t, shop(), func(o *scan.Options) {
		o.Live.BrowserReason, o.Live.Target.Profile = "", scan.Passive
		o.Live.Target.Templates = []scan.Description{{Name: "a.yaml", Text: "id: a"}}
	})
	if s := got.Statuses[0]; s.State != scan.Degraded || !strings.Contains(s.Reasons[0].Message, "templates") {
		t.Errorf("status %+v", s)
	}
}

// A value that an API keeps runs where a page's script writes it as markup, and does not
// where it is written as text.
func TestStoredByAnAPI(t *testing.T) {
	path, err := chromium.Find()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	kept := map[string][]string{"news": {}, "notes": {}}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<html><a href="#/news">n</a><a href="#/notes">o</a><p id=p></p><script>
const load = async () => {
  const kind = location.hash.slice(2); if (!kind) return;
  const all = await (await fetch("/api/" + kind)).json();
  if (kind === "news") p.innerHTML = all.map((a) => a.text).join("<br>"); else p.textContent = all.map((a) => a.text).join(" ");
};
addEventListener("hashchange", load); load();
const post = (kind, text) => fetch("/api/" + kind, {method: "POST", body: JSON.stringify({text})});
</script>`)
	})
	mux.HandleFunc("/api/{kind}", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		kind := r.PathValue("kind")
		if kept[kind] == nil {
			http.NotFound(w, r)
			return
		}
		if r.Method == http.MethodPost {
			var sent struct{ Text string }
			if json.NewDecoder(r.Body).Decode(&sent) == nil && len(sent.Text) < 200 {
				kept[kind] = append(kept[kind], sent.Text)
			}
			kept[kind] = kept[kind][max(0, len(kept[kind])-5):]
		}
		all := []map[string]any{}
		for i, text := range kept[kind] {
			all = append(all, map[string]any{"id": i, "text": text})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(all)
	})
	kept["news"], kept["notes"] = []string{"first"}, []string{"first"}
	got := examine(t, mux, func(o *scan.Options) {
		o.Live.Browser, o.Live.BrowserReason = path, ""
		o.Live.Target.Profile, o.Live.Target.Checks = scan.Standard, []string{"xss"}
	})
	var where []string
	for _, f := range got.Findings {
		if f.RuleID == "dast/xss/stored" {
			where = append(where, f.Live.URL[strings.LastIndexByte(f.Live.URL, '/'):])
		}
	}
	if len(where) != 1 || where[0] != "/news" {
		t.Errorf("found %v, operations %+v, status %+v", where, got.Operations, got.Statuses)
	}
}

// A target of which nothing is there was not examined.
func TestNothingIsThere(t *testing.T) {
	got := examine(t, http.NotFoundHandler(), func(o *scan.Options) { o.Live.BrowserReason = "" })
	if s := got.Statuses[0]; s.State != scan.Degraded || !strings.Contains(s.Reasons[0].Message, "nothing to scan") {
		t.Errorf("status %+v", s)
	}
}

// TestUnkept says that what a later attempt needs could not be kept.
func TestUnkept(t *testing.T) {
	got := examine(t, shop(), func(o *scan.Options) {
		o.Live.SaveCheckpoint = func([]byte) error { return errors.New("the disk is full") }
	})
	var reasons []string
	for _, r := range got.Statuses[0].Reasons {
		reasons = append(reasons, r.Message)
	}
	if all := strings.Join(reasons, "\n"); !strings.Contains(all, "could not be saved") ||
		!strings.Contains(all, "the disk is full") {
		t.Errorf("the reasons are %q", reasons)
	}
}

// A page that never answers is one reason with its place, and so leaves findings of other
// pages to be resolved: these say by which path findings name them.
func TestPageWithoutAnAnswer(t *testing.T) {
	serve := func(fixed bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/":
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<html><a href='/items/7/go?to=/'>go</a>")
				for i := range 5 { // fewer failures in a row than end a scan
					fmt.Fprintf(w, "<a href='/slow?%c=1'>slow</a>", 'a'+i)
				}
			case "/items/7/go":
				to := r.URL.Query().Get("to")
				if fixed {
					to = "/"
				}
				http.Redirect(w, r, to, http.StatusFound)
			case "/slow":
				if !fixed {
					return
				}
				if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
					_ = conn.Close()
				}
			default:
				http.NotFound(w, r)
			}
		}
	}
	only := func(o *scan.Options) { o.Live.Target.Checks = []string{"redirect"}; o.Live.BrowserReason = "" }
	before := examine(t, serve(false), only)
	if len(before.Findings) != 1 {
		t.Fatalf("findings %+v", before.Findings)
	}
	_, path, _ := strings.Cut(before.Findings[0].Location.Path, "/")
	after := examine(t, serve(true), only)
	if len(after.Findings) != 0 || after.Statuses[0].State != scan.Degraded {
		t.Fatalf("findings %+v, %s", after.Findings, after.Statuses[0].State)
	}
	told := 0
	for _, r := range after.Statuses[0].Reasons {
		if strings.HasSuffix(r.Path, "/slow") && r.Beyond {
			told++
		} else if len(r.Rules) == 0 && !r.Beyond && r.Path == "" {
			t.Errorf("of nothing is anything sure: %+v", r)
		}
	}
	if told != 1 {
		t.Errorf("the page without an answer is told %d times: %+v", told, after.Statuses[0].Reasons)
	}
	named := false
	for _, o := range after.Operations {
		_, place, _ := strings.Cut(o.FindingPath, "/")
		named = named || place == path
		if strings.Contains(o.URL, "/slow") && o.FindingPath != "" {
			t.Errorf("%s was not examined", o.URL)
		}
	}
	if !named {
		t.Errorf("no operation is named as %q: %+v", path, after.Operations)
	}
}

// A page whose form has no method, and whose script sends JSON: the browser signs in, and the
// password is in no address. Without a browser the scan says why it cannot.
func TestSignInByScript(t *testing.T) {
	path, err := chromium.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []bool{true, false} {
		var mu sync.Mutex
		signed := false
		mux := http.NewServeMux()
		mux.HandleFunc("/login", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `<html><form id=f><input id=u name=user><input id=p name=word type=password><button>Sign in</button></form><script>
				f.onsubmit = function (e) { e.preventDefault(); fetch('/api/login', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({user: u.value, word: p.value})}).then(() => location = '/') }</script>`)
		})
		mux.HandleFunc("/api/login", func(w http.ResponseWriter, r *http.Request) {
			var in struct{ User, Word string }
			if json.NewDecoder(r.Body).Decode(&in) != nil || in.User != "jane" || in.Word != "s3cret-word" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			mu.Lock()
			signed = true
			mu.Unlock()
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "in", Path: "/"})
		})
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			if c, err := r.Cookie("sid"); err != nil || c.Value != "in" {
				http.Redirect(w, r, "/login", http.StatusFound)
				return
			}
			fmt.Fprint(w, "<html>hello")
		})
		got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.String(), "s3cret-word") {
				t.Errorf("the password is in an address: %s", r.URL)
			}
			mux.ServeHTTP(w, r)
		}), func(o *scan.Options) {
			o.Live.Target.Profile = scan.Safe
			o.Live.Target.Identities = []scan.Identity{{Name: "jane", Form: &scan.FormLogin{URL: "/login", User: "jane",
				Password: "s3cret-word"}, Marker: scan.Marker{URL: "/", In: "hello"}}}
			if with {
				o.Live.Browser, o.Live.BrowserReason = path, ""
			}
		})
		status := got.Statuses[0]
		if said := fmt.Sprint(status.Reasons); with && (!signed || status.State == scan.Failed) ||
			!with && (status.State != scan.Failed || !strings.Contains(said, "would send the password in its "+
				"address")) {
			t.Errorf("browser %t: signed in %t, status %+v", with, signed, status)
		}
	}
}
