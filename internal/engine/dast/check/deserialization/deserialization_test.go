package deserialization

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

func TestCheck(t *testing.T) {
	java := base64.StdEncoding.EncodeToString([]byte("\xac\xed\x00\x05sr\x00\x11java.lang.Integer\x12\xe2\xa0\xa4"))
	php := `O:4:"User":1:{s:4:"name";s:5:"alice";}`
	mux := http.NewServeMux()
	page := func(path, whole, complaint string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("q") != whole {
				fmt.Fprint(w, complaint)
				return
			}
			fmt.Fprint(w, "welcome")
		})
	}
	page("/bad/java", java, "java.io.StreamCorruptedException: invalid type code: 41")
	page("/bad/php", php, "Notice: unserialize(): Error at offset 5 of 38 bytes")
	page("/good/signed", java, "the signature is wrong")
	page("/good/tutorial", "x", "what unserialize() does")
	page("/good/text", "O:thello", "java.io.EOFException")
	mux.HandleFunc("/cookie", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "state", Value: java})
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "c29tZSB0ZXh0IHRoYXQgaXMgbm8gb2JqZWN0"})
	})
	q := url.QueryEscape
	operations := []string{"GET /bad/java?q=" + q(java), "GET /bad/php?q=" + q(php), "GET /good/signed?q=" + q(java),
		"GET /good/tutorial?q=" + q(php), "GET /good/text?q=O:thello", "GET /cookie"}
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations),
		"dast/deserialization/read "+
			"GET /bad/java query:q", "dast/deserialization/read GET /bad/php query:q")
	passive := activescantest.Attack(t, mux, []*activescan.Rule{Indicator},
		append(operations, "GET /good/text?q=hello&x=1"),
		activescantest.Profile(scan.Passive))
	activescantest.Expect(t, passive, "dast/deserialization/indicator GET /bad/java "+
		"query:q", "dast/deserialization/indicator GET /bad/php query:q", "dast/deserialization/indicator GET "+
		"/cookie cookie:state",
		"dast/deserialization/indicator GET /good/signed query:q", "dast/deserialization/indicator GET "+
			"/good/tutorial query:q")
	for value, want := range map[string]string{java: "Java", php: "PHP", "gASVDAAAAAAAAACMBWFsaWNllC4=": "Python",
		"BAhvOglVc2VyBjoKQG5hbWUi": "Ruby", "hello": "", "": "", "O:4": "", "QUJDREVGR0hJSktMTU5P": ""} {
		if got := serializationFormat(value); got != want {
			t.Errorf("%.30q: %q, not %q", value, got, want)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add("rO0ABXNyABFqYXZh")
	f.Fuzz(func(_ *testing.T, value string) { serializationFormat(value) })
}
