package application_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// signedIn scans as a user.
func signedIn(o *scan.Options) {
	o.Live.Target.Identities = []scan.Identity{{Name: "ann", Cookie: "s=1"}}
}

// A form whose response only says "thank you", or nothing at all, creates objects like any other:
// few, marked, and all of them in the report.
func TestSilentFormsCreateFewObjects(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"thanks":        func(w http.ResponseWriter) { fmt.Fprint(w, `<html><p>Thank you for your entry.</p>`) },
		"German thanks": func(w http.ResponseWriter) { fmt.Fprint(w, `<html><p>Der Eintrag wurde gespeichert.</p>`) },
		"data": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"status":"ok"}`)
		},
		"text": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "ok")
		},
		"no content": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
		"empty page": func(http.ResponseWriter) {},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			stored, unmarked := 0, 0
			got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				w.Header().Set("Content-Type", "text/html")
				switch {
				case r.URL.Path == "/":
					fmt.Fprint(w, `<html><a href=/book>book</a>`)
				case r.URL.Path == "/book" && r.Method == http.MethodGet:
					fmt.Fprint(w, `<html><form method=post action=/book><input name=title><textarea name=text></textarea><button>OK</button></form>`)
				case r.URL.Path == "/book":
					stored++
					if _ = r.ParseForm(); !strings.Contains(r.PostForm.Encode(), "merlon-") {
						unmarked++
					}
					answer(w)
				default:
					http.NotFound(w, r)
				}
			}), signedIn)
			listed := 0
			for _, op := range got.Operations {
				listed += len(op.Created)
			}
			if stored == 0 || stored > 5 || unmarked > 0 || listed != stored {
				t.Errorf("%d stored, %d without the mark, %d listed", stored, unmarked, listed)
			}
		})
	}
}

// Pages that are named by words have one budget for the form that each of them shows.
func TestFormsOfManyPagesCreateFewObjects(t *testing.T) {
	words := strings.Fields("apple pear plum grape melon lemon lime peach cherry mango banana orange kiwi papaya quince")
	for _, action := range []string{"/posts/%s/comments", "/comment/%s", "/add.php?page=%s"} {
		var mu sync.Mutex
		stored := 0
		got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			w.Header().Set("Content-Type", "text/html")
			word, is := strings.CutPrefix(r.URL.Path, "/posts/")
			switch {
			case r.URL.Path == "/":
				for _, word := range words {
					fmt.Fprintf(w, `<a href=/posts/%s>%[1]s</a> `, word)
				}
			case r.Method == http.MethodPost:
				stored++
				http.Redirect(w, r, "/", http.StatusSeeOther)
			case is:
				fmt.Fprintf(w, `<html><h1>%s</h1><p>All about it.<form method=post action="%s"><textarea name=text></textarea><button>Add comment</button></form>`,
					word, fmt.Sprintf(action, word))
			default:
				http.NotFound(w, r)
			}
		}), signedIn)
		listed, left := 0, 0
		for _, op := range got.Operations {
			listed += len(op.Created)
			if op.Method == http.MethodPost && strings.Contains(op.Reason, "at most 5 objects") {
				left++
			}
		}
		if stored < 2 || stored > 5 || listed != stored || left < len(words)-5 {
			t.Errorf("%s: %d stored, %d listed, %d operations say why they were left", action, stored, listed, left)
		}
	}
}
