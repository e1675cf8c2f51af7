package browser

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
)

// shop is an application whose pages are made by scripts: routes of the history and of
// the fragment, controls without links, listeners on the document, a banner over
// everything, a form without an element for it.
const shop = `<!doctype html><html><body>
<div class="cookie-banner" role="dialog" style="position:fixed;inset:0;background:#fff"><p>We use cookies</p><button id=agree>Accept all</button></div>
<nav hidden><a href="/about">About</a><span id=products class=entry>Products</span><button id=logout>Log out</button><button id=wipe>Delete everything</button>
<a href="#/settings/1">Settings</a></nav><main></main>
<script>
const main = document.querySelector("main"), nav = document.querySelector("nav");
const show = (html) => { main.innerHTML = html };
document.querySelector("#agree").onclick = () => { document.querySelector(".cookie-banner").remove(); nav.hidden = false; fetch("/api/start"); localStorage.setItem("token", "t") };
document.querySelector("#products").addEventListener("click", () => { history.pushState({}, "", "/products"); fetch("/api/products?page=1"); show("<ul><li class=item style='cursor:pointer'>One</li><li class=item style='cursor:pointer'>Two</li></ul>") });
document.addEventListener("click", (e) => { if (e.target.matches(".item")) { fetch("/api/products/" + e.target.textContent.length); show("<h2>Item</h2><div><div><input id=comment placeholder=comment><input type=email id=mail></div><button class=send>Send</button></div>") }
  if (e.target.matches(".send")) fetch("/api/comments", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({text: document.querySelector("#comment").value, mail: document.querySelector("#mail").value})}); });
document.querySelector("#logout").onclick = () => fetch("/api/logout-now");
document.querySelector("#wipe").onclick = () => fetch("/api/all", {method: "DELETE"});
addEventListener("hashchange", () => { if (location.hash.startsWith("#/settings")) { fetch("/api/settings"); show("<form method=post action=/profile><input name=name><input name=csrf type=hidden value=x1><select name=color><option>red<option>blue</select><button>Save</button></form><input id=find type=search>");
  document.querySelector("#find").addEventListener("keyup", (e) => fetch("/api/find?q=" + e.target.value)) } });
addEventListener("message", (e) => { if (e.data.kind === "ping") console.log(e.data.payload) });
new WebSocket(location.origin.replace("http", "ws") + "/live");
window.open && setTimeout(() => { throw new Error("broken thing") }, 10);
</script></body></html>`

// exploreShop explores the shop and returns what was found, by kind.
func exploreShop(t *testing.T, change func(*Exploration)) (found map[string][]Observation, asked []string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(shop))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	w := newWorld(t, mux)
	var mu sync.Mutex
	found = map[string][]Observation{}
	e := Exploration{Seeds: []string{w.server.URL + "/"}, Submit: true, Found: func(o Observation) {
		mu.Lock()
		defer mu.Unlock()
		found[o.Kind] = append(found[o.Kind], o)
	}}
	change(&e)
	walk, err := w.Explore(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v, %d requests: %q", walk, w.gate.count(), w.gate.asked)
	mu.Lock()
	defer mu.Unlock()
	return found, w.gate.asked
}

func TestExplore(t *testing.T) {
	found, asked := exploreShop(t, func(*Exploration) {})
	for _, want := range []string{"GET /", "GET /api/start", "GET /api/products", "GET /api/products/3",
		"POST /api/comments", "GET /api/settings", "GET /api/find", "POST /profile"} {
		if !slices.Contains(asked, want) {
			t.Errorf("%s was not asked for", want)
		}
	}
	for _, never := range []string{"GET /api/logout-now", "DELETE /api/all", "GET /about"} {
		if slices.Contains(asked, never) {
			t.Errorf("%s was asked for", never)
		}
	}
	has := func(kind string, matches func(Observation) bool) {
		t.Helper()
		if !slices.ContainsFunc(found[kind], matches) {
			t.Errorf("no such %s among %d: %+v", kind, len(found[kind]), found[kind])
		}
	}
	has("link", func(o Observation) bool { return o.Request.Path == "/about" })
	has("link", func(o Observation) bool { return o.Fragment == "#/settings/1" })
	has("route", func(o Observation) bool { return o.Request.Path == "/products" })
	has("socket", func(o Observation) bool { return o.Request.Path == "/live" })
	has("storage", func(o Observation) bool { return o.Text == "local:token" })
	has("message", func(o Observation) bool { return len(o.Text) > 20 })
	has("error", func(o Observation) bool { return o.Text == "Uncaught Error: broken thing" })
	has("request", func(o Observation) bool {
		return o.Request.Method == http.MethodPost && o.Request.Path == "/api/comments" &&
			o.Request.Body.Kind == message.JSON &&
			string(o.Request.Body.Text) == `{"text":"merlon-000000","mail":"merlon-000000@merlon.example"}`
	})
	has("form", func(o Observation) bool {
		return o.Request.Path == "/profile" && o.Request.Method == http.MethodPost &&
			slices.Equal(o.Request.Body.Params,
				[]message.Param{{Name: "name", Value: "merlon-000000"}, {Name: "csrf", Value: "x1"},
					{Name: "color", Value: "red"}})
	})
}

// TestExploreCareful sees what would change something, and does not send it.
func TestExploreCareful(t *testing.T) {
	found, asked := exploreShop(t, func(e *Exploration) { e.Submit = false })
	for _, never := range []string{"POST /api/comments", "POST /profile"} {
		if slices.Contains(asked, never) {
			t.Errorf("%s was asked for", never)
		}
	}
	if !slices.ContainsFunc(found["request"], func(o Observation) bool {
		return o.Request.Path == "/api/comments" && o.Refused != ""
	}) {
		t.Error("the refused request was not seen")
	}
}

// TestExploreEndless bounds an application that never runs out of states.
func TestExploreEndless(t *testing.T) {
	w := newWorld(t, html(`<script>let n = 0; const grow = () => { n++; document.body.innerHTML = "<button class=" + "abcdefghijklmnop"[n % 16].repeat(n / 16 + 1) + ">More " + n + "</button>" + "<b><i>".repeat(n); document.querySelector("button").onclick = grow }; onload = grow</script>`))
	walk, err := w.Explore(t.Context(), Exploration{Seeds: []string{w.server.URL}, Events: 15})
	if err != nil || walk.Events > 15 {
		t.Errorf("%+v, %v", walk, err)
	}
	walk, err = w.Explore(t.Context(), Exploration{Seeds: []string{w.server.URL}, States: 3})
	if err != nil || !strings.Contains(walk.Left, "states") {
		t.Errorf("%+v, %v", walk, err)
	}
}

// TestExploreWindows goes on behind windows that a page opens, and gives a new password
// to nobody who has one.
func TestExploreWindows(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(`<!doctype html><body><input type=button value=Help onclick="open('/help','_blank').focus()"><a href="/terms" target=terms>Terms</a>
<button onclick="const w = open('', 'own'); w.document.write('<script>fetch(\'/written\')</'+'script>'); this.remove()">Own</button>
<form action=/change><input type=password name=new1><input type=password name=new2><button>Change</button></form>
<form action=/join method=post><input name=email><input type=password name=p1><input type=password name=p2><button>Join</button></form>
<button onclick="fetch('/last')">Last</button></body>`))
	mux.HandleFunc("/help", html("<p>help"))
	w := newWorld(t, mux)
	var forms []string
	var mu sync.Mutex
	walk, err := w.Explore(t.Context(), Exploration{Seeds: []string{w.server.URL + "/"}, Submit: true,
		Found: func(o Observation) {
			mu.Lock()
			defer mu.Unlock()
			if o.Kind == "form" {
				content, _ := o.Request.Content()
				forms = append(forms, strings.TrimPrefix(o.Request.Address(), w.server.URL)+" "+string(content))
			}
		}})
	if err != nil || walk.Left != "" {
		t.Fatalf("%+v, %v", walk, err)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(forms)
	password := (*formvalue.Generator)(nil).Password("browser")
	want := []string{"/change?new1=" + password + "&new2=" + password + "1 ",
		"/join email=merlon-000000%40merlon.example&p1=" + password + "&p2=" + password}
	if !slices.Equal(forms, want) {
		t.Errorf("forms %q", forms)
	}
	if !slices.Contains(w.gate.asked, "GET /last") || slices.Contains(w.gate.asked, "GET /written") {
		t.Errorf("asked for %q", w.gate.asked)
	}
}

// TestExploreAccount leaves the user his password in a form that shows who he is.
func TestExploreAccount(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(`<!doctype html><body><form action=/profile method=post><input name=nickname value=jane><input type=password name=p1><input type=password name=p2><button>Save</button></form></body>`))
	w := newWorld(t, mux)
	var mu sync.Mutex
	var form *message.Request
	if _, err := w.Explore(t.Context(), Exploration{Seeds: []string{w.server.URL + "/"}, Submit: true,
		Found: func(o Observation) {
			mu.Lock()
			defer mu.Unlock()
			if o.Kind == "form" {
				form = o.Request
			}
		}}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if form == nil {
		t.Fatal("no form was found")
	}
	if content, _ := form.Content(); string(content) != "nickname=jane&p1=&p2=" {
		t.Errorf("it sends %q", content)
	}
	if names := form.Names(); len(names) != 1 || names[0].Name != "nickname" {
		t.Errorf("the names of passwords are points: %v", names)
	}
}

// TestExploreSettings tells what a form shows, and leaves choices as they stand.
func TestExploreSettings(t *testing.T) {
	var sent atomic.Pointer[string]
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(`<!doctype html><body><form action=/save method=post><input name=title><input type=hidden name=id value=7><textarea name=about></textarea>
<input type=checkbox name=open><input type=checkbox name=mail checked><input type=checkbox name=terms><input type=radio name=size value=s><input type=radio name=size value=m checked>
<select name=color><option>red<option selected>blue</select><button name=do value=keep>Save</button></form>
<script>document.querySelector("[name=title]").value = "Kept"</script></body>`))
	mux.HandleFunc("/save", func(_ http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err == nil {
			text := r.PostForm.Encode()
			sent.Store(&text)
		}
	})
	w := newWorld(t, mux)
	var mu sync.Mutex
	var form *message.Request
	if _, err := w.Explore(t.Context(), Exploration{Seeds: []string{w.server.URL + "/"}, Submit: true,
		Found: func(o Observation) {
			mu.Lock()
			defer mu.Unlock()
			if o.Kind == "form" && form == nil {
				form = o.Request
			}
		}}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if form == nil || sent.Load() == nil {
		t.Fatalf("form %v, sent %v", form, sent.Load())
	}
	content, _ := form.Content()
	for what, text := range map[string]string{"told": string(content), "sent": *sent.Load()} {
		got, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Get("title") != "Kept" || got.Get("about") == "" || got.Has("open") || got.Get("mail") != "on" ||
			got.Get("terms") != "on" || got.Get("size") != "m" || got.Get("color") != "blue" || got.Get("id") != "7" {
			t.Errorf("%s: %s", what, text)
		}
	}
	types := map[string]string{"form:id": "hidden", "form:mail": "choice", "form:terms": "choice",
		"form:size": "choice", "form:color": "choice", "form:do": "button"}
	if !maps.Equal(form.Types, types) || !slices.Equal(form.Shown, []string{"title"}) {
		t.Errorf("types %v, shown %v", form.Types, form.Shown)
	}
}

// Pages whose scripts do not end are told, and the others are explored.
func TestExploreTellsWhatDidNotEnd(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/loop", html(`<p>text</p><script>setTimeout(() => { for (;;); }, 50)</script>`))
	mux.HandleFunc("/fine", html(`<p>text</p><script>fetch("/api/fine")</script>`))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	w := newWorld(t, mux)
	walk, err := w.Explore(t.Context(), Exploration{Seeds: []string{w.server.URL + "/loop", w.server.URL + "/fine"},
		Found: func(Observation) {}})
	if err != nil {
		t.Fatal(err)
	}
	if len(walk.Ended) != 1 || !strings.HasPrefix(walk.Ended[0], w.server.URL+"/loop: ") ||
		!slices.Contains(w.gate.asked, "GET /api/fine") {
		t.Errorf("%+v, asked %q", walk, w.gate.asked)
	}
}

// TestExploreReactions finds what happens when the pointer leaves an element, and with each
// choice of a list.
func TestExploreReactions(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(`<!doctype html><body><span onmouseout="fetch('/out')">Out</span>
<p id=leave>Leave</p><select onchange="fetch('/chosen/' + this.value)"><option value="">Choose<option>a<option>b<option disabled>c</select>
<form action=/save><select name=quiet><option>d<option>e</select></form>
<script>document.querySelector("#leave").addEventListener("pointerleave", () => fetch("/left"))</script></body>`))
	for _, path := range []string{"/out", "/left", "/chosen/"} {
		mux.HandleFunc(path, html(""))
	}
	w := newWorld(t, mux)
	if _, err := w.Explore(t.Context(), Exploration{Seeds: []string{w.server.URL + "/"}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GET /out", "GET /left", "GET /chosen/a", "GET /chosen/b"} {
		if !slices.Contains(w.gate.asked, want) {
			t.Errorf("%s was not asked for: %q", want, w.gate.asked)
		}
	}
}
