package sessionid

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

func md5Hex(s string) string  { b := md5.Sum([]byte(s)); return hex.EncodeToString(b[:]) }
func sha1Hex(s string) string { b := sha1.Sum([]byte(s)); return hex.EncodeToString(b[:]) }

func TestCheck(t *testing.T) {
	begin := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for name, c := range map[string]struct {
		name string
		make func(n int, now time.Time) string // of the n-th answer
		as   string                            // cookie, field, json
		want bool
	}{
		"counter": {"appSession", func(n int, _ time.Time) string { return fmt.Sprint(n) }, "cookie", true},
		"counter in text": {"session_id", func(n int, _ time.Time) string {
			return fmt.Sprintf("user-%06d.web", 999+7*n)
		}, "cookie", true},
		"counter in hex": {"auth", func(n int, _ time.Time) string { return fmt.Sprintf("%x", 0xaf8+n) }, "cookie",
			true},
		"counter base 64": {"sid", func(n int, _ time.Time) string {
			return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "id:%d", n))
		}, "cookie", true},
		"digest": {"session", func(n int, _ time.Time) string { return md5Hex(fmt.Sprint(n)) }, "cookie",
			true},
		"digest of time": {"session", func(_ int, now time.Time) string { return sha1Hex(fmt.Sprint(now.Unix())) },
			"cookie", true},
		"time": {"session", func(_ int, now time.Time) string { return fmt.Sprint(now.Unix()) }, "cookie",
			true},
		"milliseconds": {"reset_token", func(_ int, now time.Time) string { return fmt.Sprint(now.UnixMilli()) },
			"json", true},
		"field": {"form_token", func(n int, _ time.Time) string { return md5Hex(fmt.Sprint(n)) }, "field",
			true},
		"random": {"session", func(int, time.Time) string { return md5Hex(rand.Text()) }, "cookie", false},
		"random number": {"session", func(int, time.Time) string {
			b := make([]byte, 6)
			_, _ = rand.Read(b)
			return hex.EncodeToString(b)
		}, "cookie", false},
		"same": {"session", func(int, time.Time) string { return "4711" }, "cookie", false},
		"digest with salt": {"session", func(n int, _ time.Time) string {
			return sha1Hex(fmt.Sprint(n, "salt", rand.Text()))
		}, "cookie", false},
		"expires": {"session", func(_ int, now time.Time) string {
			return fmt.Sprint(now.Add(time.Hour).Unix())
		}, "cookie", false},
		"visits": {"session_count", func(n int, _ time.Time) string { return fmt.Sprint(n) }, "cookie",
			false},
		"last visit": {"sessionStart", func(_ int, now time.Time) string { return fmt.Sprint(now.Unix()) },
			"cookie", false},
		"other": {"cart", func(n int, _ time.Time) string { return fmt.Sprint(n) }, "cookie", false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				n := int(asked.Add(1))
				now := begin.Add(time.Duration(n) * 1300 * time.Millisecond)
				text := c.make(n, now)
				w.Header().Set("Date", now.Format(http.TimeFormat))
				switch c.as {
				case "cookie":
					http.SetCookie(w, &http.Cookie{Name: c.name, Value: text})
				case "field":
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w,
						`<form action=/send method=post><input type=hidden name=%s value=%s><input name=a></form>`,
						c.name, text)
				case "json":
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"data": {"%s": %q}}`, c.name, text)
				}
			})
			got := activescantest.Attack(t, h, []*activescan.Rule{Rule}, []string{"POST /login a=1"},
				activescantest.Profile(scan.Safe))
			var want []string
			if c.want {
				want = []string{"dast/sessionid/predictable POST /login"}
			}
			activescantest.Expect(t, got, want...)
			if got.Requests > 6 {
				t.Errorf("%d requests", got.Requests)
			}
		})
	}
}

// TestShared finds a counter that others use as well.
func TestShared(t *testing.T) {
	var asked, id atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if id.Add(1); asked.Add(1) == 4 {
			id.Add(5)
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: fmt.Sprint(id.Load())})
	})
	got := activescantest.Attack(t, h, []*activescan.Rule{Rule}, []string{"GET /start"})
	activescantest.Expect(t, got, "dast/sessionid/predictable GET /start")
	if !strings.Contains(got.Findings[0].Message, "a counter") || got.Requests > 12 {
		t.Errorf("%d requests: %s", got.Requests, got.Findings[0].Message)
	}
}

func FuzzModel(f *testing.F) {
	f.Add("user-0009-x", "user-0010-x")
	f.Add(md5Hex("1"), md5Hex("2"))
	f.Add("MTc=", "MTg=")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > maxText || len(b) > maxText {
			return
		}
		splitDifference(a, b, 16)
		for _, s := range []string{a, b} {
			isNumberOrDigest(s)
		}
		for inner := range possibleForms(a) {
			if m := recognizeCounter(inner, b, form{"", func(s string) string { return s }}); m != nil {
				m.after(b)
			}
		}
	})
}
