package oidc_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// elsewhere is a host name that the browser resolves to this machine, but that is
// no local name for it.
const elsewhere = "merlon.test"

// startChromium starts a real browser, and fails the test for everything that it
// says about the content security policy.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("Chromium is not installed")
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP "+elsewhere+" 127.0.0.1"))...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	err = chromedp.Listen(ctx, func(e any) {
		if entry, ok := e.(*log.EventEntryAdded); ok && strings.Contains(entry.Entry.Text, "Content Security Policy") {
			t.Errorf("the browser says: %s", entry.Entry.Text)
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// An application waits for the browser on the loopback interface, as the command
// line does.
type application struct {
	*httptest.Server
	mu   sync.Mutex
	back url.Values
}

func newApplication(t *testing.T) *application {
	a := &application{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			a.mu.Lock()
			a.back = r.URL.Query()
			a.mu.Unlock()
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p id=arrived>You can close this page.</p>"))
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *application) result() url.Values {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.back
}

// TestChromium signs in, agrees and comes back to the application with a real
// browser, over plain HTTP under both names of the machine.
func TestChromium(t *testing.T) {
	for _, host := range []string{"localhost", "127.0.0.1"} {
		t.Run(host, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
				testChromium(t, newWorldAt(t, db, clock, host), host)
			})
		})
	}
}

func testChromium(t *testing.T, w *world, host string) {
	ctx := startChromium(t)
	app := newApplication(t)
	app.URL = strings.Replace(app.URL, "127.0.0.1", host, 1)
	browse(t, ctx,
		chromedp.Navigate(w.absolute(w.authorizePath("redirect_uri", app.URL+"/callback"))),
		chromedp.SendKeys("#email", w.user.Email),
		chromedp.SendKeys("#password", w.password+"\r"),
		chromedp.WaitVisible(`button[value="allow"]`))
	width := evaluate[string](t, ctx, `getComputedStyle(document.querySelector("main")).maxWidth`)
	script := evaluate[string](t, ctx, `document.cookie`)
	if width == "none" || script != "" {
		t.Errorf("the style sheet gave max-width %q, scripts see the cookies %q", width, script)
	}
	browse(t, ctx, chromedp.Click(`button[value="allow"]`), chromedp.WaitVisible("#arrived"))
	checkBrowserCookie(t, ctx, w.url)
	a := w.redeem(app.result().Get("code"), "redirect_uri", app.URL+"/callback").want(t, 200, "")
	w.holds(a.member(t, "access_token"), true)
	checkOtherSite(t, ctx, w, app)
}

// checkBrowserCookie checks how the browser keeps the session.
func checkBrowserCookie(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	got, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{address}})
	cookies := got.Cookies
	i := slices.IndexFunc(cookies, func(c *network.Cookie) bool { return c.Name == "__Host-merlon_session" })
	if err != nil || i < 0 {
		t.Fatalf("%s: no session cookie in %v, %v", address, cookies, err)
	}
	if c := cookies[i]; !c.HTTPOnly || !c.Secure || c.SameSite != network.CookieSameSiteLax {
		t.Errorf("%s: cookie %+v", address, c)
	}
}

// checkOtherSite lets a page of another origin on the same site, where SameSite
// does not protect, try to renew the session.
func checkOtherSite(t *testing.T, ctx context.Context, w *world, app *application) {
	t.Helper()
	statuses := make(chan int, 8)
	inner := *w.handler.Load()
	var spy http.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/auth/renew" {
			inner.ServeHTTP(rw, r)
			return
		}
		if _, err := r.Cookie("__Host-merlon_session"); err != nil {
			t.Error("the browser sent no cookie: this shows nothing")
		}
		rec := httptest.NewRecorder()
		inner.ServeHTTP(rec, r)
		statuses <- rec.Code
		rw.WriteHeader(rec.Code)
	})
	w.handler.Store(&spy)
	browse(t, ctx, chromedp.Navigate(app.URL))
	evaluate[bool](t, ctx, `fetch("`+w.url+
		`/auth/renew", {method: "POST", credentials: "include", mode: "no-cors"}).then(() => true)`)
	if status := <-statuses; status != http.StatusForbidden {
		t.Errorf("renewed by a page of another origin: %d", status)
	}
}

// TestChromiumElsewhere shows what people see who open the service over plain HTTP
// under a name that is not local: the browser keeps no cookie, and the page says
// why.
func TestChromiumElsewhere(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		ctx := startChromium(t)
		w := newWorldAt(t, db, clock, elsewhere)
		browse(t, ctx,
			chromedp.Navigate(w.url+"/auth/sign-in"),
			chromedp.SendKeys("#email", w.user.Email),
			chromedp.SendKeys("#password", w.password+"\r"))
		text, err := chromedp.Run(ctx, chromedp.Text(`[role="status"]`))
		if err != nil || !strings.Contains(text, "https") {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// TestChromiumSignUp makes an account with a real browser while somebody else has
// asked for one with the same address.
func TestChromiumSignUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		ctx := startChromium(t)
		w := newWorldAt(t, db, clock, "localhost")
		const password = "violet harbor ninety kites"
		if err := w.people.SignUp(t.Context(), "ana@example.test", identity.Origin{IP: "198.51.100.1"}); err != nil {
			t.Fatal(err)
		}
		prepared := w.link("ana@example.test", "/auth/verify")
		browse(t, ctx,
			chromedp.Navigate(w.url+"/auth/sign-up"),
			chromedp.SendKeys("#email", "ana@example.test\r"),
			chromedp.WaitVisible(`[role="status"]`))
		browse(t, ctx,
			chromedp.Navigate(w.link("ana@example.test", "/auth/verify")),
			chromedp.SendKeys("#first_name", "Ana"),
			chromedp.SendKeys("#password", password+"\r"),
			chromedp.WaitVisible(`[role="status"]`),
			chromedp.Navigate(w.url+"/auth/sign-in"),
			chromedp.SendKeys("#email", "ana@example.test"),
			chromedp.SendKeys("#password", password+"\r"),
			chromedp.WaitVisible(".sessions"))
		// The link of the other sign-up has ended.
		browse(t, ctx,
			chromedp.Navigate(prepared),
			chromedp.SendKeys("#first_name", "Eve"),
			chromedp.SendKeys("#password", "quiet walnut ferry lamps\r"),
			chromedp.WaitVisible(`[role="status"]`))
		text, err := chromedp.Run(ctx, chromedp.Text(`[role="status"]`))
		if err != nil || !strings.Contains(text, "Invalid link") {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// browse does the steps.
func browse(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// evaluate returns the value of an expression on the page.
func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}
