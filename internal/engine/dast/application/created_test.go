package application_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// office is an application that is signed in to: notes, settings, users, transfers, a switch
// by a link and a sign of each change. Note 1 was there before.
type office struct {
	mu      sync.Mutex
	notes   map[int]string
	next    int
	most    int
	changed []string
	refuses bool // to remove notes
}

func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const token = `<input type=hidden name=csrf value=0123456789abcdef>`
	show := func(text string) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<html><a href=/notes>notes</a><a href=/settings>settings</a><a href=/users/new>users</a><a href=/money>money</a><a href=/notes/1/pin>pin</a>%s`, text)
	}
	id, _ := strconv.Atoi(strings.Split(r.URL.Path+"//", "/")[2])
	change := func(what string) {
		o.changed = append(o.changed, what)
		http.Redirect(w, r, "/notes", http.StatusSeeOther)
	}
	switch {
	case r.URL.Path == "/notes" && r.Method == http.MethodPost:
		if text := r.FormValue("text"); text != "" {
			o.notes[o.next] = text
			o.next++
			o.most = max(o.most, len(o.notes))
		}
		http.Redirect(w, r, "/notes", http.StatusSeeOther)
	case r.URL.Path == "/notes":
		list := ""
		for id, text := range o.notes {
			list += fmt.Sprintf("<li><a href=/notes/%d>%s</a>", id, html.EscapeString(text))
		}
		show(list + `<form method=post action=/notes><textarea name=text></textarea>` + token +
			`<button>Add</button></form>`)
	case strings.HasSuffix(r.URL.Path, "/delete") && r.Method == http.MethodPost:
		if id == 1 {
			o.changed = append(o.changed, "note 1 removed")
		}
		if !o.refuses {
			delete(o.notes, id)
		}
		http.Redirect(w, r, "/notes", http.StatusSeeOther)
	case strings.HasSuffix(r.URL.Path, "/pin"):
		change("pinned")
	case strings.HasPrefix(r.URL.Path, "/notes/") && o.notes[id] != "" && r.Method == http.MethodPost:
		if id == 1 {
			o.changed = append(o.changed, "note 1 changed")
		}
		o.notes[id] = r.FormValue("text")
		http.Redirect(w, r, "/notes", http.StatusSeeOther)
	case strings.HasPrefix(r.URL.Path, "/notes/") && o.notes[id] != "":
		show(fmt.Sprintf(`<form method=post action=/notes/%d><textarea name=text>%s</textarea>%s<button>OK</button></form><form method=post action=/notes/%d/delete>%s<button>Delete</button></form>`,
			id, html.EscapeString(o.notes[id]), token, id, token))
	case r.URL.Path == "/settings" && r.Method == http.MethodPost:
		change("settings")
	case r.URL.Path == "/settings":
		show(`<form method=post><input name=title value="The office"><input type=checkbox name=open><button>Save</button></form>`)
	case r.URL.Path == "/users/new":
		show(`<form method=post action=/users/save><input name=username><input type=password name=password><input type=password name=again><input type=checkbox name=is_admin value=1>` + token + `<button>Save</button></form>`)
	case r.URL.Path == "/users/save":
		change("user")
	case r.URL.Path == "/money":
		show(`<form method=post action=/transfer><input name=to><input name=amount><button>OK</button></form>`)
	case r.URL.Path == "/transfer":
		change("transfer")
	case r.URL.Path == "/":
		show("")
	default:
		http.NotFound(w, r)
	}
}

// What was there stays as it was, what is created is little, marked and listed, and it is
// removed at the end where the application offers it.
func TestWhatWasThereStays(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		api := &office{notes: map[int]string{1: "Kept"}, next: 2, refuses: refuses}
		got := examine(t, api, func(o *scan.Options) {
			o.Live.Target.Identities = []scan.Identity{{Name: "ann", Cookie: "s=1"}}
		})
		if len(api.changed) > 0 || api.notes[1] != "Kept" {
			t.Errorf("refuses %v: changed %q, note 1 %q", refuses, api.changed, api.notes[1])
		}
		if api.most < 2 || api.most > 1+5 {
			t.Errorf("refuses %v: %d notes", refuses, api.most-1)
		}
		listed, removed := 0, 0
		reasons := map[string]string{}
		for _, op := range got.Operations {
			_, path, _ := strings.Cut(strings.TrimPrefix(op.URL, "http://"), "/")
			if op.Outcome == finding.NotReached {
				reasons[op.Method+" /"+path] = op.Reason
			}
			for _, c := range op.Created {
				listed++
				if c.Removed {
					removed++
				} else if c.Reason == "" {
					t.Errorf("%+v", c)
				}
				for id, text := range api.notes {
					if id != 1 && !strings.Contains(text, c.Mark) {
						t.Errorf("note %d has no mark: %q", id, text)
					}
				}
			}
		}
		if made := api.next - 2; listed != made || (removed == made) == refuses || (len(api.notes) == 1) == refuses {
			t.Errorf("refuses %v: %d created, %d listed, %d removed, left %v", refuses, made, listed, removed,
				api.notes)
		}
		for op, want := range map[string]string{"POST /settings": "settings", "POST /users/save": "accounts",
			"POST /transfer": "money", "GET /notes/1/pin": "was there before"} {
			if !strings.Contains(reasons[op], want) {
				t.Errorf("%s: %q", op, reasons[op])
			}
		}
	}
}

// tags is an application in which objects have names and no page of their own: the list leads
// to the page that asks whether one is to be removed.
type tags struct {
	mu    sync.Mutex
	names []string
	made  int
}

func (g *tags) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := r.FormValue("tag")
	w.Header().Set("Content-Type", "text/html")
	switch r.Method + " " + r.URL.Path {
	case "GET /":
		_, _ = io.WriteString(w,
			`<html><body><a href=/tags>Tags</a><form method=post action=/tags/new><input name=tag><button>Create</button></form></body></html>`)
	case "POST /tags/new":
		g.made++
		g.names = append(g.names, name)
		http.Redirect(w, r, "/tags", http.StatusSeeOther)
	case "GET /tags":
		for _, n := range g.names {
			_, _ = fmt.Fprintf(w, `<p>%s <a href="/tags/delete?tag=%s">delete</a></p>`, html.EscapeString(n),
				html.EscapeString(url.QueryEscape(n)))
		}
	case "GET /tags/delete":
		_, _ = fmt.Fprintf(w, `<html><body>Delete %[1]s?<form method=post action=/tags/delete><input type=hidden name=tag value="%[1]s"><button>Delete</button></form></body></html>`, html.EscapeString(name))
	case "POST /tags/delete":
		g.names = slices.DeleteFunc(g.names, func(n string) bool { return n == name })
		http.Redirect(w, r, "/tags", http.StatusSeeOther)
	default:
		http.NotFound(w, r)
	}
}

// What is shown in a list only is removed by its name, which has the mark of the scan; what has
// another name stays.
func TestObjectsAreRemovedByName(t *testing.T) {
	g := &tags{names: []string{"kept", "other"}}
	got := examine(t, g, func(o *scan.Options) {
		o.Live.Target.Identities = []scan.Identity{{Name: "ann", Cookie: "s=1"}}
	})
	removed := 0
	for _, op := range got.Operations {
		for _, c := range op.Created {
			if c.Removed {
				removed++
			}
		}
	}
	if g.made == 0 || removed != g.made || !slices.Equal(g.names, []string{"kept", "other"}) {
		t.Errorf("%d made, %d removed, left %q", g.made, removed, g.names)
	}
}

// news is an application of a framework whose script sends links by other methods.
type news struct {
	mu    sync.Mutex
	items map[string]string
	made  int
}

func (n *news) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := strings.TrimPrefix(r.URL.Path, "/news/")
	w.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/":
		_, _ = io.WriteString(w,
			`<html><body><a href=/news>News</a><form method=post action=/news><input name=title><button>Create</button></form></body></html>`)
	case r.URL.Path == "/news" && r.Method == http.MethodPost:
		n.made++
		n.items[strconv.Itoa(n.made+1)] = r.FormValue("title")
		http.Redirect(w, r, "/news", http.StatusSeeOther)
	case r.URL.Path == "/news":
		for id, title := range n.items {
			_, _ = fmt.Fprintf(w, `<p><a href=/news/%s>%s</a></p>`, id, html.EscapeString(title))
		}
	case n.items[id] == "":
		http.NotFound(w, r)
	case r.Method == http.MethodPost && r.FormValue("_method") == "delete" && r.FormValue("authenticity_token") == "0123456789abcdef":

		delete(n.items, id)
		http.Redirect(w, r, "/news", http.StatusSeeOther)
	default:
		_, _ = fmt.Fprintf(w, `<html><head><meta name=csrf-param content=authenticity_token><meta name=csrf-token content=0123456789abcdef></head><body>%s <a data-method=delete href=/news/%s>Delete</a></body></html>`, html.EscapeString(n.items[id]), id)
	}
}

func TestObjectsAreRemovedByLinksWithAMethod(t *testing.T) {
	n := &news{items: map[string]string{"1": "Kept"}}
	examine(t, n, func(o *scan.Options) {
		o.Live.Target.Identities = []scan.Identity{{Name: "ann", Cookie: "s=1"}}
	})
	if n.made == 0 || len(n.items) != 1 || n.items["1"] != "Kept" {
		t.Errorf("%d made, left %q", n.made, n.items)
	}
}

// In the profile full all of it is asked.
func TestFullChangesWhatWasThere(t *testing.T) {
	api := &office{notes: map[int]string{1: "Kept"}, next: 2}
	examine(t, api, func(o *scan.Options) {
		o.Live.Target.Identities = []scan.Identity{{Name: "ann", Cookie: "s=1"}}
		o.Live.Target.Profile = scan.Full
		o.Live.Target.Checks = []string{"redirect"}
	})
	all := strings.Join(api.changed, " ")
	for _, what := range []string{"settings", "user", "transfer", "pinned"} {
		if !strings.Contains(all, what) {
			t.Errorf("%s was not changed: %q", what, all)
		}
	}
}
