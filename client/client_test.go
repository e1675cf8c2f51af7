package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// service answers without a network, so that time can be a fake one.
type service struct{ *http.ServeMux }

func (s service) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

const (
	base = "https://api.example.com"
	auth = "https://auth.example.com"
)

func newService() service {
	s := service{http.NewServeMux()}
	s.HandleFunc("GET api.example.com/client-apps", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"cli":{"appId":"cli-1"},"vscode":{"appId":"v"},"intellij":{"appId":"i"}}`)
	})
	return s
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (s service) identity() *Identity {
	return &Identity{BaseURL: base, AuthURL: auth, HTTP: &http.Client{Transport: s}}
}

func (s service) client(t *testing.T, source Source) *Client {
	t.Helper()
	c, err := New(Options{BaseURL: base + "/", HTTP: &http.Client{Transport: s}, Source: source})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExchange(t *testing.T) {
	s := newService()
	var forms []url.Values
	s.HandleFunc("POST auth.example.com/oidc/token", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.Header.Get("Authorization") != "" {
			t.Errorf("header = %v", r.Header)
		}
		_ = r.ParseForm()
		forms = append(forms, r.PostForm)
		answer(w, 200, fmt.Sprintf(`{"access_token":"a%d","token_type":"Bearer","expires_in":600,"scope":"openid"}`,
			len(forms)))
	})
	var seen []string
	s.HandleFunc("GET api.example.com/user/profile", func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		if len(seen) == 3 {
			answer(w, 401, `{"message":"ended"}`)
			return
		}
		answer(w, 200, `{"id":"u","email":"a@example.com"}`)
	})
	synctest.Test(t, func(t *testing.T) {
		c := s.client(t, s.identity().PersonalToken("mpat_1"))
		profile := func() {
			t.Helper()
			if p, err := c.Profile(t.Context()); err != nil || p.Email != "a@example.com" {
				t.Fatalf("Profile = %+v, %v", p, err)
			}
		}
		profile()
		time.Sleep(569 * time.Second)
		profile() // with the same token
		profile() // is refused once: with another
		time.Sleep(570 * time.Second)
		profile() // the token has less than 30 s: with another
	})
	if diff := cmp.Diff([]string{"Bearer a1", "Bearer a1", "Bearer a1", "Bearer a2", "Bearer a3"}, seen); diff != "" {
		t.Errorf("tokens used (-want +got):\n%s", diff)
	}
	want := url.Values{
		"grant_type":         {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"client_id":          {"cli-1"},
		"subject_token":      {"mpat_1"},
		"subject_token_type": {"urn:merlon:token-type:personal_access_token"},
		"resource":           {base},
	}
	for _, form := range forms {
		if diff := cmp.Diff(want, form); diff != "" {
			t.Errorf("form (-want +got):\n%s", diff)
		}
	}
}

// TestRepeats counts the attempts for each kind of failure, and the time.
func TestRepeats(t *testing.T) {
	for _, test := range []struct {
		name     string
		fail     func(w http.ResponseWriter) // the first two attempts
		attempts int
		least    time.Duration
	}{
		{"busy", func(w http.ResponseWriter) { answer(w, 503, `{"message":"busy"}`) }, 3, time.Second},
		{"too many", func(w http.ResponseWriter) { w.Header().Set("Retry-After", "7"); answer(w, 429, `{}`) }, 3,
			14 * time.Second},
		{"gateway", func(w http.ResponseWriter) { answer(w, 502, `<html>`) }, 3, time.Second},
		{"wrong", func(w http.ResponseWriter) { answer(w, 400, `{"message":"no"}`) }, 1, 0},
		{"refused", func(w http.ResponseWriter) { answer(w, 403, `{"message":"no"}`) }, 1, 0},
		{"our fault", func(w http.ResponseWriter) { answer(w, 500, `{"message":"internal error"}`) }, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newService()
			keys := map[string]bool{}
			attempts := 0
			s.HandleFunc("POST api.example.com/team/{team}/project", func(w http.ResponseWriter, r *http.Request) {
				keys[r.Header.Get("Idempotency-Key")] = true
				var in struct{ Name string }
				if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Name != "p" {
					t.Errorf("body = %v, %v", in, err)
				}
				if attempts++; attempts < 3 {
					test.fail(w)
					return
				}
				answer(w, 201, `{"projectId":"id"}`)
			})
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				p, err := s.client(t, Static("a")).CreateProject(t.Context(), "team", "p")
				if (err == nil) != (test.attempts == 3) || err == nil && p.ID != "id" {
					t.Errorf("CreateProject = %+v, %v", p, err)
				}
				if took := time.Since(begin); took < test.least {
					t.Errorf("took %v, want at least %v", took, test.least)
				}
			})
			if attempts != test.attempts || len(keys) != 1 || keys[""] {
				t.Errorf("%d attempts with keys %v", attempts, keys)
			}
		})
	}
}

type broken struct {
	service
	failures atomic.Int32
}

func (b *broken) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.failures.Add(-1) >= 0 {
		return nil, syscall.ECONNREFUSED
	}
	return b.service.RoundTrip(req)
}

func TestRepeatsWhenTheConnectionBreaks(t *testing.T) {
	s := newService()
	s.HandleFunc("GET api.example.com/organizations", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"organizations":[{"id":"o","name":"n","concurrentScanLimit":2}]}`)
	})
	synctest.Test(t, func(t *testing.T) {
		b := &broken{service: s}
		c, err := New(Options{BaseURL: base, HTTP: &http.Client{Transport: b}, Attempts: 3})
		if err != nil {
			t.Fatal(err)
		}
		b.failures.Store(2)
		if got, err := c.Organizations(t.Context()); err != nil || len(got) != 1 || got[0].ConcurrentScanLimit != 2 {
			t.Errorf("Organizations = %+v, %v", got, err)
		}
		b.failures.Store(3)
		if got, err := c.Organizations(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("Organizations = %+v, %v", got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		b.failures.Store(3)
		if _, err := c.Organizations(ctx); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the first failure is lost: %v", err)
		}
	})
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   Error
		text   string
	}{
		"problem": {422, `{"type":"about:blank","status":422,"message":"not valid","errorCode":"x","errors":[{"location":"body.name","message":"too long"}]}`,
			Error{Status: 422, Message: "not valid", Code: "x", Details: []Detail{{"body.name", "too long"}}},
			"not valid; body.name: too long"},
		"other region": {421, `{"message":"belongs to eu","baseUrl":"https://eu","authUrl":"https://auth.eu"}`,
			Error{Status: 421, Message: "belongs to eu", BaseURL: "https://eu", AuthURL: "https://auth.eu"},
			"belongs to eu; use the address https://eu"},
		"oauth": {400, `{"error":"invalid_grant","error_description":"unknown token"}`,
			Error{Status: 400, Code: "invalid_grant", Message: "unknown token"}, "unknown token"},
		"only a code": {400, `{"error":"invalid_grant"}`,
			Error{Status: 400, Code: "invalid_grant", Message: "invalid_grant"}, "invalid_grant"},
		"somebody else": {404, `<html>`, Error{Status: 404, Message: "api.example.com answers 404 Not Found"},
			"api.example.com answers 404 Not Found"},
		"nothing": {404, `{}`, Error{Status: 404}, "the service responded with 404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService()
			s.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { answer(w, test.status, test.body) })
			_, err := s.client(t, nil).Project(t.Context(), "p")
			var got *Error
			if !errors.As(err, &got) || err.Error() != test.text {
				t.Fatalf("error = %v, want %q", err, test.text)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathsAreEscaped(t *testing.T) {
	s := newService()
	s.HandleFunc("GET api.example.com/project/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, fmt.Sprintf(`{"projectId":%q}`, r.PathValue("id")))
	})
	for _, id := range []string{"a/../../b", "a?b=c", "ü"} {
		if p, err := s.client(t, nil).Project(t.Context(), id); err != nil || p.ID != id {
			t.Errorf("Project(%q) = %+v, %v", id, p, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, address := range []string{"", "example.com", "ftp://example.com", "https://", "https://u:p@example.com",
		"https://example.com?a=b"} {
		if _, err := New(Options{BaseURL: address}); err == nil {
			t.Errorf("New(%q) works", address)
		}
	}
}

func TestSignIn(t *testing.T) {
	s := newService()
	s.HandleFunc("POST auth.example.com/oidc/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		switch r.PostForm.Get("grant_type") {
		case "authorization_code":
			want := url.Values{"grant_type": {"authorization_code"}, "client_id": {"cli-1"}, "code": {"c"},
				"code_verifier": {"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
				"redirect_uri":  {"http://127.0.0.1:1/callback"}, "resource": {base}}
			if diff := cmp.Diff(want, r.PostForm); diff != "" {
				t.Errorf("form (-want +got):\n%s", diff)
			}
			answer(w, 200, `{"access_token":"a1","refresh_token":"r1","expires_in":600}`)
		case "refresh_token":
			if r.PostForm.Get("refresh_token") == "kept" {
				answer(w, 200, `{"access_token":"a3","expires_in":600}`)
				return
			}
			answer(w, 200, `{"access_token":"a2","refresh_token":"r2","expires_in":600}`)
		}
	})
	// Verifier and challenge are those of RFC 7636, appendix B.
	in := SignIn{Redirect: "http://127.0.0.1:1/callback", State: "s",
		Verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}
	page, err := s.identity().SignInAddress(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(page)
	want := url.Values{"client_id": {"cli-1"}, "redirect_uri": {in.Redirect}, "response_type": {"code"}, "state": {"s"},
		"scope": {"openid profile email offline_access"}, "prompt": {"consent"}, "resource": {base},
		"code_challenge_method": {"S256"},
		"code_challenge":        {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}}
	if diff := cmp.Diff(want, u.Query()); diff != "" || u.Scheme+"://"+u.Host+u.Path != auth+"/oidc/auth" {
		t.Errorf("%s (-want +got):\n%s", page, diff)
	}
	for name, answer := range map[string]url.Values{
		"no code":         {"state": {"s"}, "error": {"access_denied"}},
		"another state":   {"state": {"t"}, "code": {"c"}},
		"no state":        {"code": {"c"}},
		"another service": {"state": {"s"}, "code": {"c"}, "iss": {"https://evil.example.com/oidc"}},
	} {
		if got, err := s.identity().Redeem(t.Context(), in, answer); err == nil {
			t.Errorf("Redeem with %s = %+v", name, got)
		}
	}
	got, err := s.identity().Redeem(t.Context(), in, url.Values{"state": {"s"}, "code": {"c"}, "iss": {auth + "/oidc"}})
	if err != nil || got.Access != "a1" || got.Refresh != "r1" || !got.Fresh(time.Now().Add(9*time.Minute)) ||
		got.Fresh(time.Now().Add(10*time.Minute)) {
		t.Errorf("Redeem = %+v, %v", got, err)
	}
	if got, err := s.identity().Refresh(t.Context(), "r1"); err != nil || got.Refresh != "r2" {
		t.Errorf("Refresh = %+v, %v", got, err)
	}
	if got, err := s.identity().Refresh(t.Context(), "kept"); err != nil || got.Refresh != "kept" {
		t.Errorf("Refresh = %+v, %v", got, err)
	}
}

func TestDevice(t *testing.T) {
	for name, test := range map[string]struct {
		answers []string
		want    string
		took    time.Duration
	}{
		"agreed": {[]string{"authorization_pending", "slow_down", "authorization_pending", ""}, "",
			(5 + 5 + 10 + 10) * time.Second},
		"refused":    {[]string{"authorization_pending", "access_denied"}, "said access_denied", 10 * time.Second},
		"no answer":  {[]string{"authorization_pending"}, "the code was not entered in time", 60 * time.Second},
		"code ended": {[]string{"expired_token"}, "said expired_token", 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService()
			s.HandleFunc("POST auth.example.com/oidc/device_authorization",
				func(w http.ResponseWriter, r *http.Request) {
					if r.FormValue("client_id") != "cli-1" || r.FormValue("resource") != base {
						t.Errorf("form = %v", r.Form)
					}
					answer(w, 200,
						`{"device_code":"d","user_code":"AB-CD","verification_uri":"https://auth/device","expires_in":60,"interval":5}`)
				})
			polls := 0
			s.HandleFunc("POST auth.example.com/oidc/token", func(w http.ResponseWriter, r *http.Request) {
				code := test.answers[min(polls, len(test.answers)-1)]
				polls++
				if code != "" {
					answer(w, 400, fmt.Sprintf(`{"error":%q,"error_description":"said %s"}`, code, code))
					return
				}
				answer(w, 200, `{"access_token":"a","refresh_token":"r","expires_in":600}`)
			})
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				d, err := s.identity().Device(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.identity().WaitDevice(t.Context(), d)
				if test.want == "" && (err != nil || got.Access != "a") || test.want != "" &&
					(err == nil || err.Error() != test.want) {
					t.Errorf("WaitDevice = %+v, %v", got, err)
				}
				if took := time.Since(begin); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
			})
		})
	}
}

func TestRevoke(t *testing.T) {
	s := newService()
	s.HandleFunc("POST auth.example.com/oidc/revoke", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("token") != "r" || r.FormValue("client_id") != "cli-1" {
			t.Errorf("form = %v", r.Form)
		}
		w.WriteHeader(200)
	})
	if err := s.identity().Revoke(t.Context(), "r"); err != nil {
		t.Error(err)
	}
}

func TestScan(t *testing.T) {
	s := newService()
	s.HandleFunc("POST api.example.com/project/p/scan/start", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in["branch"] != "dev" ||
			in["sourceType"] != "cli" {
			t.Errorf("body = %v, %v", in, err)
		}
		answer(w, 200, `{"success":true,"scanId":"s","url":"https://api.example.com/uploads/t","detectedLanguages":[]}`)
	})
	s.HandleFunc("PUT api.example.com/uploads/t", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "" || r.Header.Get("Content-Type") != "application/zip" ||
			string(body) != "zip" {
			t.Errorf("upload of %q with %v", body, r.Header)
		}
		answer(w, 200, `{"success":true}`)
	})
	polls := 0
	s.HandleFunc("GET api.example.com/project/p/scan/s", func(w http.ResponseWriter, _ *http.Request) {
		polls++
		switch {
		case polls < 3:
			answer(w, 200, `{"id":"s","state":"running","progress":10,"step":"looking"}`)
		default:
			answer(w, 200, `{"id":"s","state":"completed_degraded","progress":100,"analyzers":[{"analyzer":"a/b","state":"degraded","reasons":[{"code":"c"}]}]}`)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := s.client(t, Static("a"))
		started, err := c.StartScan(t.Context(), "p", NewScan{Branch: "dev", SourceType: "cli"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Upload(t.Context(), started.UploadURL, strings.NewReader("zip"), -1); err != nil {
			t.Fatal(err)
		}
		var steps []string
		got, err := c.WaitScan(t.Context(), "p", started.ID, func(s Scan) { steps = append(steps, s.Step) })
		if err != nil || got.State != CompletedDegraded || len(got.Analyzers) != 1 ||
			got.Analyzers[0].Reasons[0].Code != "c" {
			t.Errorf("WaitScan = %+v, %v", got, err)
		}
		if diff := cmp.Diff([]string{"looking", "looking", ""}, steps); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
	})
}

func TestStartScanNeedsAddress(t *testing.T) {
	s := newService()
	s.HandleFunc("POST api.example.com/project/p/scan/start", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"scanId":"s"}`)
	})
	if _, err := s.client(t, nil).StartScan(t.Context(), "p", NewScan{}); err == nil {
		t.Error("a scan without an upload address is taken")
	}
}

func TestFindings(t *testing.T) {
	s := newService()
	s.HandleFunc("GET api.example.com/project/p/results/secret", func(w http.ResponseWriter, r *http.Request) {
		page, next := "1", `"2"`
		if c := r.FormValue("cursor"); c != "" {
			page, next = c, map[string]string{"2": `"3"`, "3": "null"}[c]
		}
		if diff := cmp.Diff([]string{"to_verify", "confirmed"}, r.Form["status"]); diff != "" ||
			r.FormValue("branch") != "main" || r.Form.Has("severity") {
			t.Errorf("query = %v", r.Form)
		}
		answer(w, 200, fmt.Sprintf(`{"nextCursor":%s,"vulnerabilities":[{"id":"%s1","base":{"vulnerability":{"name":"n"}}},{"id":"%s2"}]}`, next, page, page))
	})
	var got []string
	for f, err := range s.client(t, nil).Findings(t.Context(), "p", "secret",
		Filter{Branch: "main", States: []string{"to_verify", "confirmed"}}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.ID)
	}
	if diff := cmp.Diff([]string{"11", "12", "21", "22", "31", "32"}, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	for _, err := range s.client(t, nil).Findings(t.Context(), "p", "sast", Filter{}) {
		if err == nil {
			t.Error("a list that is not there gives findings")
		}
	}
}

func TestTenancy(t *testing.T) {
	s := newService()
	for pattern, body := range map[string]string{
		"POST api.example.com/organization":                       `{"organizationId":"o"}`,
		"GET api.example.com/organization/o/teams":                `{"teams":[{"id":"t","name":"n"}]}`,
		"POST api.example.com/organization/o/team":                `{"teamId":"t"}`,
		"GET api.example.com/user/personal-access-tokens":         `[{"name":"n","createdAt":1,"expiresAt":null}]`,
		"POST api.example.com/user/personal-access-tokens":        `{"name":"n","value":"v"}`,
		"POST api.example.com/user/personal-access-tokens/delete": `{}`,
		"GET api.example.com/team/t/projects":                     `{"projects":[[{"projectId":"a"},{"projectId":"b"}]],"totalProjects":2,"totalPages":1}`,
	} {
		s.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, body) })
	}
	c, ctx := s.client(t, nil), t.Context()
	if id, err := c.CreateOrganization(ctx, NewOrganization{Name: "n"}); id != "o" || err != nil {
		t.Errorf("CreateOrganization = %q, %v", id, err)
	}
	if teams, err := c.Teams(ctx, "o"); err != nil || len(teams) != 1 || teams[0].ID != "t" {
		t.Errorf("Teams = %+v, %v", teams, err)
	}
	if id, err := c.CreateTeam(ctx, "o", "n", "d"); id != "t" || err != nil {
		t.Errorf("CreateTeam = %q, %v", id, err)
	}
	if tokens, err := c.PersonalTokens(ctx); err != nil || len(tokens) != 1 || tokens[0].ExpiresAt != nil {
		t.Errorf("PersonalTokens = %+v, %v", tokens, err)
	}
	if token, err := c.CreatePersonalToken(ctx, "n", time.Time{}); err != nil || token.Value != "v" {
		t.Errorf("CreatePersonalToken = %+v, %v", token, err)
	}
	if err := c.DeletePersonalToken(ctx, "n"); err != nil {
		t.Errorf("DeletePersonalToken = %v", err)
	}
	if p, err := c.TeamProjects(ctx, "t", Page{Number: 1, Size: 20, Search: "x"}); err != nil || len(p.Projects) != 2 ||
		p.Total != 2 || p.Projects[1].ID != "b" {
		t.Errorf("TeamProjects = %+v, %v", p, err)
	}
}
