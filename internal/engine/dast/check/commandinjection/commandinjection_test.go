package commandinjection

import (
	"fmt"
	"html"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/check/xss"
)

// run runs a program in an empty environment and returns what it prints.
func run(name string, args ...string) string {
	c := exec.Command(name, args...)
	c.Env = []string{"PATH=/usr/bin:/bin"}
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}

func handler(f func(v string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<pre>%s</pre>", html.EscapeString(f(r.FormValue("q"))))
	}
}

func TestOutput(t *testing.T) {
	mux := http.NewServeMux()
	bad := map[string]func(string) string{
		"/plain":   func(v string) string { return run("sh", "-c", "echo looking up "+v) },
		"/single":  func(v string) string { return run("sh", "-c", "echo 'looking up "+v+"'") },
		"/double":  func(v string) string { return run("sh", "-c", `echo "looking up `+v+`"`) },
		"/failing": func(v string) string { return run("sh", "-c", "ls /nonexistent/"+v+" 2>/dev/null") },
		"/pipe": func(v string) string {
			return run("sh", "-c", "echo "+strings.NewReplacer(";", "", "&", "").Replace(v))
		},
		"/inner": func(v string) string {
			return run("sh", "-c", "echo "+strings.NewReplacer(";", "", "&", "", "|", "").Replace(v))
		},
		"/whole": func(v string) string {
			words := strings.Fields(v)
			if len(words) == 0 {
				return ""
			}
			return run(words[0], words[1:]...)
		},
		"/variable": func(v string) string {
			return run("sh", "-c", "export "+strings.Split(v, "=")[0]+"; eval \""+
				strings.Join(strings.Split(v, "=")[1:], "=")+"\"")
		},
	}
	// What a filter lets pass is a command still. Where it refuses a value, it says so.
	filtered := func(refuse, start, end string) func(string) string {
		refused, starts, ends := regexp.MustCompile(refuse), regexp.MustCompile(start), regexp.MustCompile(end)
		return func(v string) string {
			if refused.MatchString(v) || !starts.MatchString(v) || !ends.MatchString(v) {
				return "bad address"
			}
			return run("sh", "-c", "ls /nonexistent/"+v+" 2>/dev/null")
		}
	}
	bad["/no-space"] = filtered(` `, ``, ``)
	bad["/no-white"] = filtered(`\s`, `^\w`, `\w$`)
	bad["/no-signs"] = filtered(`[;|&$ ]`, `^\w`, ``)
	bad["/line"] = filtered(`^$`, `(?m)^abc$`, ``)
	bad["/ends"] = filtered(`'`+"`", `^\w`, `\w$`)
	host := regexp.MustCompile(`^[a-z0-9.]+$`)
	good := map[string]func(string) string{
		"/argument": func(v string) string { return run("echo", "--", v) },
		"/quoted":   func(v string) string { return run("sh", "-c", "echo '"+strings.ReplaceAll(v, "'", `'\''`)+"'") },
		"/checked": func(v string) string {
			if !host.MatchString(v) {
				return "bad host " + v
			}
			return run("sh", "-c", "echo "+v)
		},
		"/echo":  func(v string) string { return v },
		"/twice": func(v string) string { return strings.ToUpper(v) + v },
		"/removed": func(v string) string {
			return strings.Map(func(c rune) rune {
				if strings.ContainsRune("$();|", c) {
					return -1
				}
				return c
			}, v)
		},
		"/ends-checked": func(v string) string {
			if strings.ContainsAny(v, " \n\t;|$`") {
				return "bad address"
			}
			return run("echo", v)
		},
		"/number": func(v string) string { return fmt.Sprint(time.Now().UnixNano()) },
		"/error":  func(v string) string { return "sh: 1: Syntax error: Unterminated quoted string near " + v },
	}
	var operations, want []string
	for path, f := range bad {
		mux.HandleFunc(path, handler(f))
		value := "abc"
		if path == "/variable" {
			value = "HOST=echo%20abc"
		}
		operations = append(operations, "GET "+path+"?q="+value)
		want = append(want, "dast/command/output GET "+path+" query:q")
	}
	for path, f := range good {
		mux.HandleFunc(path, handler(f))
		operations = append(operations, "GET "+path+"?q=abc", "POST "+path+" q=HOST%3Dabc")
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, want...)
	if got.Requests > 13*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}

var (
	called = regexp.MustCompile(`called curl -m 3 (\S+)`)
	slept  = regexp.MustCompile(`slept (\S+)`)
)

func TestSlow(t *testing.T) {
	mux := http.NewServeMux()
	silent := func(path string, f func(string) string) {
		mux.HandleFunc(path, handler(func(v string) string { f(v); return "thank you" }))
	}
	silent("/bad", func(v string) string { // a shell that only says how long it would sleep: it is slept for here
		for _, m := range slept.FindAllStringSubmatch(run("sh", "-c", "sleep() { echo slept $1 >&2; }; echo '"+v+"'"),
			-1) {
			d, err := time.ParseDuration(m[1] + "s")
			if err != nil {
				t.Error(err)
			}
			time.Sleep(d)
		}
		return ""
	})
	silent("/good", func(v string) string { return run("echo", v) })
	client := activescantest.Fetch(t)
	silent("/calls", func(v string) string { // shells without the programs: what they would ask for is asked for here
		for _, m := range called.FindAllStringSubmatch(run("sh", "-c", "curl() { echo called curl $*; exit; "+
			"}; echo '"+v+"'"), -1) {
			client(m[1])
		}
		return ""
	})
	got := activescantest.Timed(t, mux, []*activescan.Rule{Slow}, []string{"GET /bad?q=a", "GET /good?q=a"})
	activescantest.Expect(t, got, "dast/command/time GET /bad query:q")
	got = activescantest.Attack(t, mux, []*activescan.Rule{Slow}, []string{"GET /calls?q=a", "GET /good?q=a"},
		activescantest.Listening(t))
	activescantest.Expect(t, got, "dast/command/callback GET /calls query:q")
}

// A header that a page shows is attacked as a parameter is.
func TestShownHeaders(t *testing.T) {
	mux := http.NewServeMux()
	for path, echo := range map[string]func(agent string) string{
		"/bad":  func(agent string) string { return run("sh", "-c", "echo 'you are "+agent+"'") },
		"/good": func(agent string) string { return "you are " + agent },
		"/none": func(string) string { return "you are somebody" },
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<html><p>%s</p>", html.EscapeString(echo(r.UserAgent())))
		})
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{xss.Rule, Rule},
		[]string{"GET /bad", "GET /good", "GET /none"})
	activescantest.Expect(t, got, "dast/command/output GET /bad header:User-Agent")
}
