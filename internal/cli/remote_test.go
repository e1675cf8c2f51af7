package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/client"
)

// fakeServer is a service with one person, one project and one scan. Its refresh
// tokens hold once, and all end when one is used again.
type fakeServer struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	issued   int // access tokens
	refresh  string
	stolen   bool
	exchange string // personal access token of the last exchange
	uploaded map[string]string
	branch   string
	polls    int
	ended    string // answer of a scan that has ended
	lists    map[string]string
	requests []string
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	f := &fakeServer{
		t: t, lists: map[string]string{},
		ended: `{"id":"scan-1","state":"completed","progress":100,"analyses":["secret"],"createAt":"2026-11-20T09:00:00Z",
			"analyzers":[{"analyzer":"secrets/credentials","analysis":"secret","state":"succeeded","reasons":[],"files":1,"findings":1,"durationMs":5}]}`,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /client-apps", f.say(`{"cli":{"appId":"cli-1"}}`))
	mux.HandleFunc("POST /oidc/token", f.token)
	mux.HandleFunc("POST /oidc/device_authorization",
		f.say(`{"device_code":"d","user_code":"ABCD-EFGH","verification_uri":"http://x/device","expires_in":60,"interval":0}`))
	mux.HandleFunc("POST /oidc/revoke", func(_ http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.FormValue("token") == f.refresh {
			f.refresh = "none"
		}
	})
	mux.HandleFunc("GET /user/profile", f.authorized(f.say(`{"id":"u","email":"ann@example.com"}`)))
	mux.HandleFunc("POST /project/p/scan/start", f.authorized(f.start))
	mux.HandleFunc("POST /project/p/scan/scan-1/cancel", f.authorized(f.say(`{}`)))
	mux.HandleFunc("PUT /uploads/1", f.upload)
	mux.HandleFunc("GET /project/p/scan/scan-1", f.authorized(f.scan))
	mux.HandleFunc("GET /project/p/results/{type}", f.authorized(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("branch") != f.branch {
			t.Errorf("findings of branch %q are asked for", r.FormValue("branch"))
		}
		f.say(`{"nextCursor":null,"vulnerabilities":[`+f.lists[r.PathValue("type")]+`]}`)(w, r)
	}))
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.URL.Path)
		f.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeServer) say(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func (f *fakeServer) refuse(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (f *fakeServer) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		good := r.Header.Get("Authorization") == fmt.Sprintf("Bearer access-%d", f.issued)
		f.mu.Unlock()
		if !good {
			f.refuse(w, 401, `{"message":"the access token has ended"}`)
			return
		}
		next(w, r)
	}
}

func (f *fakeServer) token(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.FormValue("client_id") != "cli-1" || r.FormValue("resource") != f.URL {
		f.refuse(w, 400, `{"error":"invalid_target","error_description":"no"}`)
		return
	}
	switch r.FormValue("grant_type") {
	case "refresh_token":
		if f.stolen = f.stolen || r.FormValue("refresh_token") != f.refresh; f.stolen {
			f.refuse(w, 400, `{"error":"invalid_grant","error_description":"used before"}`)
			return
		}
	case "authorization_code":
		if r.FormValue("code") != "code-1" || r.FormValue("code_verifier") == "" {
			f.refuse(w, 400, `{"error":"invalid_grant","error_description":"wrong code"}`)
			return
		}
	case "urn:ietf:params:oauth:grant-type:token-exchange":
		f.exchange = r.FormValue("subject_token")
	}
	f.issued++
	f.refresh = fmt.Sprintf("refresh-%d", f.issued)
	f.say(fmt.Sprintf(`{"access_token":"access-%d","refresh_token":%q,"expires_in":600}`, f.issued, f.refresh))(w, r)
}

func (f *fakeServer) start(w http.ResponseWriter, r *http.Request) {
	var in struct{ Branch, SourceType string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.SourceType != "cli" {
		f.t.Errorf("start = %+v, %v", in, err)
	}
	f.mu.Lock()
	f.branch = in.Branch
	f.mu.Unlock()
	f.say(fmt.Sprintf(`{"success":true,"scanId":"scan-1","url":"%s/uploads/1"}`, f.URL))(w, r)
}

func (f *fakeServer) upload(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil || r.Header.Get("Authorization") != "" {
		f.t.Errorf("upload: %v, %v", err, r.Header)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.uploaded = map[string]string{}
	for _, file := range z.File {
		in, err := file.Open()
		if err != nil {
			f.t.Error(err)
			return
		}
		text, _ := io.ReadAll(in)
		f.uploaded[file.Name] = string(text)
	}
}

func (f *fakeServer) scan(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.polls++
	polls := f.polls
	f.mu.Unlock()
	if polls == 1 {
		f.say(`{"id":"scan-1","state":"running","progress":10,"step":"looking"}`)(w, r)
		return
	}
	f.say(f.ended)(w, r)
}

const secretFinding = `{"id":"f1","currentState":"to_verify","currentSeverity":"high","path":"a.py","vulnerableStartLine":3,"vulnerableEndLine":3,
	"language":"python","base":{"vulnerability":{"id":"6a9b","ruleId":"secrets/credentials/x","name":"A key","shortDescription":"A key in a file","severity":"HIGH","cwe":["CWE-798"]}},
	"secret":{"kind":"A key","redacted":"AK…(20)"},
	"codeSnippets":[{"startLine":2,"code":[{"line":2,"content":"a"},{"line":3,"content":"key"}]}]}`

const scaFinding = `{"id":"f2","currentState":"to_verify","currentSeverity":"critical","path":"package-lock.json","vulnerableStartLine":7,"vulnerableEndLine":7,
	"language":"npm","base":{"vulnerability":null},"library":{"packageName":"left","packageVersion":"1.0.0","ecosystem":"npm","path":["app","left"]},
	"metadata":{"ghsaId":"GHSA-1","cve":"CVE-2026-1","summary":"clears CVE-2026-1","details":"d","cwes":[{"id":"1","cweId":"CWE-79"}],"references":[{"id":"1","type":"WEB","url":"https://example.com"}]},
	"autofixRecords":[{"recommendedProposedVersion":"1.0.1"}],"cvssScore":9.8}`

// source makes a folder that is to be scanned.
func source(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	for name, text := range map[string]string{"a.py": "x", ".env": "y", ".git/HEAD": "ref: refs/heads/topic/one\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRemoteScanWithToken(t *testing.T) {
	f := newFakeServer(t)
	f.lists["secret"] = secretFinding
	env := map[string]string{"MERLON_TOKEN": "mpat_1", "MERLON_SERVER": f.URL + "/", "HOME": t.TempDir()}
	code, out, errOut := transcript(t, env, "scan", source(t), "--remote", "--project", "p")
	if code != ExitFindings || f.exchange != "mpat_1" || f.branch != "topic/one" {
		t.Fatalf("exit %d, token %q, branch %q: %s", code, f.exchange, f.branch, errOut)
	}
	if diff := cmp.Diff(map[string]string{"a.py": "x", ".env": "y"}, f.uploaded); diff != "" {
		t.Errorf("uploaded (-want +got):\n%s", diff)
	}
	for _, want := range []string{"app: 2 files\n", "HIGH (1)", "A key  [secrets/credentials/x]",
		"a.py:3  AK…(20)"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}

func TestRemoteScanExitCodes(t *testing.T) {
	status := func(state string) string {
		return `{"id":"scan-1","state":"completed_degraded","analyzers":[{"analyzer":"sca/packages","analysis":"sca","state":"` + state + `","reasons":[{"code":"malformed","message":"cannot be read","path":"go.mod"}]}]}`
	}
	for name, test := range map[string]struct {
		ended, sca string
		args       []string
		code       int
		out        string // or on standard error
	}{
		"nothing found": {"", "", nil, ExitOK, ""},
		"below": {status("succeeded"), scaFinding, []string{"--fail-on", "none"}, ExitOK,
			"left 1.0.0 -> 1.0.1 (package-lock.json:7): clears CVE-2026-1"},
		"at": {status("degraded"), scaFinding, []string{"--fail-on", "critical"}, ExitFindings,
			"clears CVE-2026-1"},
		"degraded": {status("degraded"), "", nil, ExitFailed, "sca/packages degraded"},
		"failed": {`{"id":"scan-1","state":"failed","errorMessage":"the archive is damaged"}`, "", nil,
			ExitFailed, "the archive is damaged"},
		"suspicious": {`{"id":"scan-1","state":"completed","suspicious":true,"warnings":["no Landlock"]}`, "", nil,
			ExitOK, "something else was probably uploaded"},
		"warnings": {`{"id":"scan-1","state":"completed","warnings":["no Landlock"]}`, "", nil, ExitOK,
			"server warning: no Landlock"},
		"not asked for": {status("degraded"), scaFinding, []string{"--analyses", "secret"}, ExitOK, ""},
		"json": {status("succeeded"), scaFinding, []string{"--format", "json"}, ExitFindings,
			`"sca/CVE-2026-1"`},
		"sarif": {status("succeeded"), scaFinding, []string{"--format", "sarif"}, ExitFindings,
			`"external/cwe/cwe-79"`},
		"branch":          {"", "", []string{"--branch", "b"}, ExitOK, ""},
		"without waiting": {"", "", []string{"--no-wait"}, ExitOK, "scan-1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeServer(t)
			if test.ended != "" {
				f.ended = test.ended
			}
			f.lists["sca"] = test.sca
			args := append([]string{"scan", source(t), "--remote", "--project", "p", "--server", f.URL, "--token", "t"},
				test.args...)
			code, out, errOut := transcript(t, map[string]string{"HOME": t.TempDir()}, args...)
			if code != test.code || !strings.Contains(out+errOut, test.out) {
				t.Errorf("exit %d, want %d with %q:\n%s\n%s", code, test.code, test.out, out, errOut)
			}
		})
	}
}

func TestRemoteScanFailures(t *testing.T) {
	f := newFakeServer(t)
	dir := source(t)
	home := map[string]string{"HOME": t.TempDir()}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no project": {[]string{dir, "--token", "t", "--server", f.URL}, ExitUsage, "--project"},
		"no server":  {[]string{dir, "--token", "t", "--project", "p"}, ExitUsage, "--server URL"},
		"bad server": {[]string{dir, "--token", "t", "--project", "p", "--server", "example"}, ExitUsage,
			"not an http or https address"},
		"not signed in": {[]string{dir, "--project", "p", "--server", f.URL}, ExitFailed, "merlon login"},
		"local limits": {[]string{dir, "--token", "t", "--project", "p", "--server", f.URL, "--max-files", "3"},
			ExitUsage, "--max-files"},
		"no folder": {[]string{dir + "/none", "--token", "t", "--project", "p", "--server", f.URL}, ExitFailed,
			"no such file"},
		"a text": {[]string{dir + "/a.py", "--token", "t", "--project", "p", "--server", f.URL}, ExitUsage,
			"neither a folder nor a .zip archive"},
		"other project": {[]string{dir, "--token", "t", "--project", "q", "--server", f.URL}, ExitFailed, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errOut := transcript(t, home, append([]string{"scan", "--remote"}, test.args...)...)
			if code != test.code || !strings.Contains(errOut, test.want) || out != "" {
				t.Errorf("exit %d, want %d with %q: %s%s", code, test.code, test.want, out, errOut)
			}
		})
	}
}

// TestRemoteScanOfZip uploads an archive as it is.
func TestRemoteScanOfZip(t *testing.T) {
	f := newFakeServer(t)
	path := filepath.Join(t.TempDir(), "a.zip")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Pack(t.Context(), out, source(t), client.Packing{}); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := transcript(t, map[string]string{"HOME": t.TempDir()}, "scan", path, "--remote", "--project", "p",
		"--server", f.URL, "--token", "t")
	if code != ExitOK || f.branch != "main" || f.uploaded["a.py"] != "x" {
		t.Errorf("exit %d, branch %q, uploaded %v: %s", code, f.branch, f.uploaded, errOut)
	}
}

// TestRefusedUpload has the server refuse the upload and looks for the end of the
// scan that waits for it.
func TestRefusedUpload(t *testing.T) {
	f := newFakeServer(t)
	inner := f.Config.Handler
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			f.refuse(w, 413, `{"message":"too large"}`)
			return
		}
		inner.ServeHTTP(w, r)
	})
	code, _, errOut := transcript(t, map[string]string{"HOME": t.TempDir()}, "scan", source(t), "--remote", "--project",
		"p", "--server", f.URL, "--token", "t")
	if code != ExitFailed || !strings.Contains(errOut, "too large") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	if got := f.requests[len(f.requests)-1]; got != "POST /project/p/scan/scan-1/cancel" {
		t.Errorf("the last request is %s", got)
	}
}

func TestCheckedOut(t *testing.T) {
	dir := source(t)
	if got := checkedOut(dir); got != "topic/one" {
		t.Errorf("checkedOut = %q", got)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, ".git"), []byte("gitdir: "+filepath.Join(dir, ".git")+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := checkedOut(other); got != "topic/one" {
		t.Errorf("checkedOut of a work tree = %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := checkedOut(dir); got != "" {
		t.Errorf("checkedOut of a commit = %q", got)
	}
	if got := checkedOut(t.TempDir()); got != "" {
		t.Errorf("checkedOut of no repository = %q", got)
	}
}

// browser waits for the address that login prints and goes where it leads.
type browser struct {
	t      *testing.T
	answer func(back *url.URL, state string)
	buf    bytes.Buffer
}

func (b *browser) Write(p []byte) (int, error) {
	b.buf.Write(p)
	for line := range strings.Lines(b.buf.String()) {
		if u, err := url.Parse(strings.TrimSpace(line)); err == nil && u.Path == "/oidc/auth" {
			back, err := url.Parse(u.Query().Get("redirect_uri"))
			if err != nil || u.Query().Get("code_challenge_method") != "S256" || u.Query().Get("prompt") != "consent" {
				b.t.Errorf("address = %s", u)
			}
			b.buf.Reset()
			go b.answer(back, u.Query().Get("state"))
		}
	}
	return len(p), nil
}

func get(t *testing.T, back *url.URL, query url.Values) (int, string) {
	t.Helper()
	u := *back
	u.RawQuery = query.Encode()
	resp, err := http.Get(u.String())
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func login(t *testing.T, env map[string]string, b *browser, args ...string) (int, string, string) {
	t.Helper()
	var out bytes.Buffer
	var errOut bytes.Buffer
	code := Run(t.Context(), append([]string{"login", "--no-browser"}, args...), Host{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.MultiWriter(&errOut, b),
		Getenv: func(n string) string { return env[n] },
	})
	return code, out.String(), errOut.String()
}

func TestLoginScanLogout(t *testing.T) {
	f := newFakeServer(t)
	env := map[string]string{"XDG_CONFIG_HOME": t.TempDir()}
	b := &browser{t: t, answer: func(back *url.URL, state string) {
		if code, _ := get(t, back, url.Values{"code": {"code-1"}, "state": {"guessed"}}); code != 404 {
			t.Errorf("a wrong state gets %d", code)
		}
		if code, page := get(t, back, url.Values{"code": {"code-1"}, "state": {state}}); code != 200 ||
			!strings.Contains(page, "You are signed in") {
			t.Errorf("the browser sees %d %s", code, page)
		}
	}}
	code, out, errOut := login(t, env, b, "--server", f.URL)
	if code != ExitOK || !strings.Contains(out, "as ann@example.com") {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	path := filepath.Join(env["XDG_CONFIG_HOME"], "merlon", "credentials.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("credentials: %v, %v", info, err)
	}

	// The server is the one of the last sign-in; its access token has ended.
	f.issued++
	code, _, errOut = transcript(t, env, "scan", source(t), "--remote", "--project", "p")
	if code != ExitOK {
		t.Fatalf("scan: exit %d: %s", code, errOut)
	}
	kept, err := wallet{path}.readCredentials()
	if s := kept.Servers[f.URL]; err != nil || s.Refresh != f.refresh || s.Email != "ann@example.com" {
		t.Errorf("kept %+v, %v; the server gave %s", s, err, f.refresh)
	}

	code, out, errOut = transcript(t, env, "logout")
	if code != ExitOK || !strings.Contains(out, "Signed out of "+f.URL) || f.refresh != "none" {
		t.Errorf("logout: exit %d: %s%s; refresh token %s", code, out, errOut, f.refresh)
	}
	if code, _, errOut = transcript(t, env, "scan", source(t), "--remote", "--project", "p", "--server",
		f.URL); code != ExitFailed || !strings.Contains(errOut, "merlon login") {
		t.Errorf("scan after logout: exit %d: %s", code, errOut)
	}
	if code, _, errOut = transcript(t, env, "logout", "--server", f.URL); code != ExitFailed ||
		!strings.Contains(errOut, "not signed in") {
		t.Errorf("logout again: exit %d: %s", code, errOut)
	}
}

func TestLoginRefused(t *testing.T) {
	f := newFakeServer(t)
	b := &browser{t: t, answer: func(back *url.URL, state string) {
		query := url.Values{"error": {"access_denied"}, "error_description": {"<b>no</b>"}, "state": {state}}
		if code, page := get(t, back, query); code != 400 || !strings.Contains(page, "&lt;b&gt;no") {
			t.Errorf("the browser sees %d %s", code, page)
		}
	}}
	code, _, errOut := login(t, map[string]string{"HOME": t.TempDir()}, b, "--server", f.URL)
	if code != ExitFailed || !strings.Contains(errOut, "access_denied") {
		t.Errorf("exit %d: %s", code, errOut)
	}
}

func TestLoginWithDevice(t *testing.T) {
	f := newFakeServer(t)
	code, out, errOut := transcript(t, map[string]string{"HOME": t.TempDir()}, "login", "--device", "--server", f.URL)
	if code != ExitOK || !strings.Contains(errOut, "type the code ABCD-EFGH") ||
		!strings.Contains(out, "ann@example.com") {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
}

// TestRefreshOnce has many commands find the access token ended at once.
func TestRefreshOnce(t *testing.T) {
	f := newFakeServer(t)
	w := wallet{filepath.Join(t.TempDir(), "merlon", "credentials.json")}
	f.refresh = "refresh-0"
	err := w.updateCredentials(func(c *credentials) error {
		c.Servers[f.URL] = signIn{Access: "old", Refresh: "refresh-0", Expires: time.Now().Add(-time.Hour)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			source := w.tokenSource(&client.Identity{BaseURL: f.URL}) // each as a process of its own
			if token, err := source(context.Background(), ""); err != nil || token != "access-1" {
				t.Errorf("token = %q, %v", token, err)
			}
		})
	}
	wg.Wait()
	if f.stolen || f.issued != 1 {
		t.Errorf("%d tokens were issued; used twice: %v", f.issued, f.stolen)
	}
	// A sign-in that the server has ended says so.
	f.stolen = true
	source := w.tokenSource(&client.Identity{BaseURL: f.URL})
	if token, err := source(context.Background(), "access-1"); err == nil ||
		!strings.Contains(err.Error(), "has ended: run merlon login") {
		t.Errorf("token = %q, %v", token, err)
	}
	// So does a damaged file.
	if err := os.WriteFile(w.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.readCredentials(); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("read = %v", err)
	}
}
