package browser

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// clinic is an application of script with a router in the fragment, which shows its
// records to who has a token, and forgets the token when somebody signs in wrongly.
func clinic(asked *[]string, mu *sync.Mutex) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(`<a href="#/welcome">Welcome</a><div id=app></div><script>
const app = document.querySelector("#app");
const login = async () => {
  const answer = await fetch("/api/login", {method: "POST", body: JSON.stringify({name: user.value, secret: secret.value})});
  if (!answer.ok) { localStorage.removeItem("token"); return }
  localStorage.setItem("token", await answer.text());
  location.hash = "#/records";
};
const show = () => {
  if (location.hash === "#/sign-in") { app.innerHTML = "<input id=user><input id=secret type=password><button>Sign in</button>"; app.querySelector("button").onclick = login }
  else if (location.hash === "#/records" && localStorage.getItem("token")) { app.textContent = "records"; fetch("/api/records", {headers: {"X-Token": localStorage.getItem("token")}}) }
  else app.textContent = "hello";
};
addEventListener("hashchange", show);
show();
</script>`))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Token")+" "+string(body)))
		mu.Unlock()
		if r.URL.Path == "/api/login" && string(body) != `{"name":"ann","secret":"s3cret"}` {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "tok-1")
	})
	return mux
}

// TestExploreEnters signs in by the application's own form on the way, once, and shows
// other pages of the session what its scripts have kept.
func TestExploreEnters(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	w := newWorld(t, clinic(&asked, &mu))
	as := &silent{}
	login := &Login{Form: formLogin("ann", "s3cret")}
	walk, err := w.Explore(t.Context(), Exploration{As: as, Seeds: []string{w.server.URL + "/"},
		Routes: []string{"/records", "/sign-in"}, Login: login, Submit: true})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if !slices.Contains(asked, "GET /api/records tok-1") {
		t.Errorf("asked %q", asked)
	}
	if n := len(slices.DeleteFunc(slices.Clone(asked), func(a string) bool {
		return !strings.Contains(a, "/api/login")
	})); n != 1 {
		t.Errorf("%d sign-ins: %q", n, asked)
	}
	asked = nil
	mu.Unlock()
	if walk.Entered == nil || len(walk.Entered.Storage) != 1 || walk.Entered.Storage[0].Local["token"] != "tok-1" {
		t.Errorf("entered %+v", walk.Entered)
	}
	p, err := w.Page(t.Context(), PageOptions{As: as})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Open(t.Context(), w.server.URL+"/#/records", openLimit); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(asked, "GET /api/records tok-1") {
		t.Errorf("another page of the session asked %q", asked)
	}
}

// TestExploreIsNotLetIn goes on where the credentials are wrong.
func TestExploreIsNotLetIn(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	w := newWorld(t, clinic(&asked, &mu))
	walk, err := w.Explore(context.WithoutCancel(t.Context()), Exploration{Seeds: []string{w.server.URL + "/"},
		Routes: []string{"/sign-in"}, Login: &Login{Form: formLogin("ann", "wrong")}})
	if err != nil || walk.Entered != nil || walk.States == 0 {
		t.Errorf("%+v, %v", walk, err)
	}
}
