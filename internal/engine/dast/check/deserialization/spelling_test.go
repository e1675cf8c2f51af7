package deserialization

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// table is what Java writes of a HashMap with a list and the same text twice.
const table = "rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcAUH2sHDFmDRAwACRgAKbG9hZEZhY3RvckkACXRocmVzaG9sZHhwP0AAAAAAAAx3CAAAABAAAAADdAAFb3RoZXJ0AARqYW5ldAAEbmFtZXEAfgADdAABbHNyABNqYXZhLnV0aWwuQXJyYXlMaXN0eIHSHZnHYZ0DAAFJAARzaXpleHAAAAACdwQAAAACdAABeHQAAXl4eA=="

// TestSpelling tells readers by what they take: the words below are what PHP 8.2, CPython
// 3.11, Ruby 3.1 and Java 17 were seen to make of the spellings.
func TestSpelling(t *testing.T) {
	values := map[string]string{
		"java": table, "php": `a:2:{s:4:"name";s:4:"jane";s:2:"id";i:3;}`,
		"object": base64.StdEncoding.EncodeToString([]byte(`O:4:"User":1:{s:4:"name";s:5:"alice";}`)),
		"python": base64.StdEncoding.EncodeToString([]byte("\x80\x04\x95\x1b\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x04name\x94\x8c\x04jane\x94u.")),
		"ruby":   base64.URLEncoding.EncodeToString([]byte("\x04\x08{\x06I\"\x09name\x06:\x06ETI\"\x09jane\x06;\x00T")),
	}
	atomic := func(last string) string {
		return "java.util.concurrent.atomic.AtomicBoolean\x40\x98\xb7\x0a\x4f\x3f\xfc" + last
	}
	// takes are the readers that take every class.
	takes := map[string]func(object string) bool{
		"java": func(o string) bool { return strings.Contains(o, atomic("\x33")) },
		"php": func(o string) bool {
			return strings.HasPrefix(o, `a:3:{s:4:"name";O:8:"stdClass":0:{}s:4:"name";s:4:"jane";`)
		},
		"object": func(o string) bool {
			return strings.Contains(o, `O:4:"User":2:{s:4:"name";O:8:"stdClass":0:{}s:4:"name";`)
		},
		"python": func(o string) bool { return strings.HasPrefix(o, "\x80\x04ccollections\nOrderedDict\n0\x95") },
		"ruby":   func(o string) bool { return o[0] == 4 && o[1] <= 8 },
	}
	mux := http.NewServeMux()
	var operations, want []string
	page := func(path, value string, good func(v string) bool) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if v := r.FormValue("q"); v == value || good(v) {
				fmt.Fprint(w, "welcome, jane")
				return
			}
			fmt.Fprint(w, "please sign in")
		})
		operations = append(operations, "GET "+path+"?q="+url.QueryEscape(value))
	}
	for name, value := range values {
		plain := func(v string) string {
			if d := decodeBase64(v); d != "" {
				return d
			}
			return v
		}
		page("/bad/"+name, value, func(v string) bool { return takes[name](plain(v) + "  ") })
		want = append(want, "dast/deserialization/read GET /bad/"+name+" query:q")
		page("/good/compared/"+name, value, func(string) bool { return false })
		page("/good/anything/"+name, value, func(string) bool { return true })
		page("/good/named/"+name, value,
			func(v string) bool { // takes neither class, as a filter, or makes neither, as PHP
				return strings.HasPrefix(name, "php") && strings.HasPrefix(v, "a:")
			})
	}
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations), want...)
}

// TestSpellJava counts what has a number in a stream.
func TestSpellJava(t *testing.T) {
	object := decodeBase64(table)
	whole, broken := spellJava(object)
	if at, handles := findAnnotation(object); at != strings.Index(object, "xp") || handles != 1 ||
		len(whole) != len(broken) || whole == broken {
		t.Fatalf("the annotation is at %d behind %d things", at, handles)
	}
	if again := "q\x00~\x00\x05"; !strings.Contains(whole, again) { // the same text, which was number 3
		t.Errorf("%q is not in %q", again, whole)
	}
	for _, text := range []string{"", "\xac\xed\x00\x05", "\xac\xed\x00\x05t\x00\x04jane",
		"\xac\xed\x00\x05sr\x00\x09java", object[:30]} {
		if whole, _ := spellJava(text); whole != "" {
			t.Errorf("%q is spelled %q", text, whole)
		}
	}
}

func FuzzSpell(f *testing.F) {
	for _, v := range []string{decodeBase64(table), `a:2:{s:4:"name";i:1;}`, `O:1:"A":1:{i:0;N;}`, "\x04\x08i\x06....",
		"\x80\x04N......"} {
		f.Add(v)
	}
	f.Fuzz(func(_ *testing.T, object string) {
		spellTwice(serializationFormat(object), object, "random")
		spellJava(object)
		spellPHP(object)
	})
}
