package aws_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/registry/aws"
	"merlon/internal/registry/aws/awstest"
)

const userKey = "AKIAIOSFODNN7EXAMPLE"

func region(t testing.TB, name string) aws.Region {
	t.Helper()
	r, err := aws.ParseRegion(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// session asks an Amazon of the tests with the keys of its user.
func session(t *testing.T, a *awstest.Amazon) *aws.Session {
	c := &aws.Client{Send: http.DefaultClient.Do, Endpoint: a.Endpoint, Now: a.Clock}
	return &aws.Session{Client: c, Region: region(t, "eu-west-1"), Keys: aws.Keys{ID: userKey, Secret: "s3cret"}}
}

// TestUser asks with the keys of a user.
func TestUser(t *testing.T) {
	amazon := awstest.New(t)
	s := session(t, amazon)
	if account, err := s.Account(t.Context()); err != nil || account != "123456789012" {
		t.Errorf("account %q, %v", account, err)
	}
	if password, err := s.Password(t.Context()); err != nil || password != awstest.Password("123456789012") {
		t.Errorf("password %q, %v", password, err)
	}
	for name, change := range map[string]func(*aws.Session){
		"another key":    func(s *aws.Session) { s.Keys.ID = "AKIAIOSFODNN7ANOTHER" },
		"another secret": func(s *aws.Session) { s.Keys.Secret = "guess" },
		"a session":      func(s *aws.Session) { s.Keys.Session = "of another" },
		"a late clock": func(s *aws.Session) {
			s.Client = &aws.Client{Send: http.DefaultClient.Do, Endpoint: amazon.Endpoint, Now: func() time.Time {
				return amazon.Now.Add(time.Hour)
			}}
		},
	} {
		bad := *s
		change(&bad)
		if _, err := bad.Account(t.Context()); !errs.Is(err, errs.Forbidden) {
			t.Errorf("%s: account %v", name, err)
		}
		if _, err := bad.Password(t.Context()); !errs.Is(err, errs.Forbidden) ||
			strings.Contains(err.Error(), "guess") {
			t.Errorf("%s: password %v", name, err)
		}
	}
}

// TestLists goes through lists part by part.
func TestLists(t *testing.T) {
	amazon := awstest.New(t)
	pushed := time.Date(2026, 1, 2, 3, 4, 5, 250e6, time.UTC)
	versions := []aws.Version{{Digest: "sha256:1", Tags: []string{"1.0", "latest"}, Size: 42, Pushed: pushed},
		{Digest: "sha256:2", Tags: []string{"0.9"}, Size: 41, Pushed: pushed}}
	amazon.Images = map[string][]aws.Version{"app": versions, "team/web": nil, "team/worker": nil}
	s := session(t, amazon)
	var names []string
	page := aws.Page{Size: 2}
	for range 2 {
		found, next, err := s.Repositories(t.Context(), "123456789012", page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			names = append(names, r.Name)
		}
		page.From = next
	}
	if got := strings.Join(names, " "); got != "app team/web team/worker" || page.From != "" {
		t.Errorf("repositories %s, then %q", got, page.From)
	}
	got, next, err := s.Versions(t.Context(), "123456789012", "app", aws.Page{Size: 10})
	if diff := cmp.Diff(versions, got); err != nil || next != "" || diff != "" {
		t.Errorf("versions, %v, then %q (-want +got):\n%s", err, next, diff)
	}
	if _, _, err := s.Versions(t.Context(), "123456789012", "none", aws.Page{Size: 1}); !errs.Is(err, errs.NotFound) {
		t.Errorf("versions of nothing: %v", err)
	}
	if _, _, err := s.Repositories(t.Context(), "123456789012", aws.Page{Size: 1, From: "elsewhere"}); !errs.Is(err,
		errs.Invalid) {
		t.Errorf("from nowhere: %v", err)
	}
	if _, _, err := s.Repositories(t.Context(), "210987654321", aws.Page{Size: 1}); !errs.Is(err, errs.Forbidden) {
		t.Errorf("repositories of another account: %v", err)
	}
}

// TestAssume uses a role, within the policy that is asked for.
func TestAssume(t *testing.T) {
	amazon := awstest.New(t)
	const arn = "arn:aws:iam::210987654321:role/pull"
	amazon.Roles[arn] = awstest.Role{Trusts: userKey, ExternalID: "agreed", Account: "210987654321"}
	s := session(t, amazon)
	for _, id := range []string{"", "guess"} {
		if _, err := s.Assume(t.Context(), aws.Role{ARN: arn, ExternalID: id}); !errs.Is(err, errs.Forbidden) {
			t.Errorf("with %q: %v", id, err)
		}
	}
	keys, err := s.Assume(t.Context(),
		aws.Role{ARN: arn, ExternalID: "agreed", Policy: aws.PullPolicy(s.Region, "210987654321")})
	if err != nil || keys.Session == "" {
		t.Fatalf("keys %v, %v", keys.ID, err)
	}
	used := &aws.Session{Client: s.Client, Region: s.Region, Keys: keys}
	if account, err := used.Account(t.Context()); err != nil || account != "210987654321" {
		t.Errorf("account %q, %v", account, err)
	}
	if _, err := used.Password(t.Context()); err != nil {
		t.Errorf("password: %v", err)
	}
	s.Keys.Secret = "expired"
	if _, err := s.Assume(t.Context(), aws.Role{ARN: arn, ExternalID: "agreed"}); !errs.Is(err, errs.Unavailable) {
		t.Errorf("with keys of ours that do not hold: %v", err)
	}
}

// TestOddAnswers says something of each answer that is not understood.
func TestOddAnswers(t *testing.T) {
	var status int
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	c := &aws.Client{Send: http.DefaultClient.Do, Endpoint: func(string, aws.Region) string { return server.URL }}
	s := &aws.Session{Client: c, Region: region(t, "eu-west-1"), Keys: aws.Keys{ID: userKey, Secret: "s3cret"}}
	ask := map[string]func() error{
		"account":      func() error { _, err := s.Account(t.Context()); return err },
		"role":         func() error { _, err := s.Assume(t.Context(), aws.Role{}); return err },
		"password":     func() error { _, err := s.Password(t.Context()); return err },
		"repositories": func() error { _, _, err := s.Repositories(t.Context(), "1", aws.Page{}); return err },
		"versions":     func() error { _, _, err := s.Versions(t.Context(), "1", "x", aws.Page{}); return err },
	}
	for _, test := range []struct {
		status int
		body   string
		want   errs.Kind
	}{
		{200, "", errs.Unavailable}, {200, "<", errs.Unavailable},
		{200, `{"repositories":7,"imageDetails":7,"authorizationData":7}`, errs.Unavailable},
		{500, "", errs.Unavailable}, {403, "<html>", errs.Unavailable}, {302, "", errs.Unavailable},
		{400, `{"__type":"ThrottlingException"}`, errs.TooMany},
		{403, "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>", errs.TooMany},
		{400, `{"__type":"com.amazon#AccessDeniedException"}`, errs.Forbidden},
		{400, `{"__type":"<script>"}`, errs.Unavailable},
		{200, strings.Repeat(" ", 9<<20), errs.Unavailable},
	} {
		status, body = test.status, test.body
		for name, do := range ask {
			if err := do(); errs.KindOf(err) != test.want || strings.Contains(err.Error(), "script") {
				t.Errorf("%s of %d %.40s: %v, want %v", name, status, body, err, test.want)
			}
		}
	}
	server.Close()
	if err := ask["account"](); err == nil {
		t.Error("nobody answers, and there is no error")
	}
}

// TestRegions makes addresses of regions, and of nothing else.
func TestRegions(t *testing.T) {
	for name, want := range map[string]string{
		"eu-west-1":      "123456789012.dkr.ecr.eu-west-1.amazonaws.com",
		"ap-southeast-4": "123456789012.dkr.ecr.ap-southeast-4.amazonaws.com",
		"us-gov-west-1":  "123456789012.dkr.ecr.us-gov-west-1.amazonaws.com",
		"cn-north-1":     "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn",
	} {
		if got := region(t, name).Registry("123456789012"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	asked := ""
	s := &aws.Session{Region: region(t, "cn-north-1"),
		Client: &aws.Client{Send: func(r *http.Request) (*http.Response, error) {
			asked += r.URL.String() + " "
			return nil, errs.E(errs.Unavailable, "not here")
		}}}
	_, _ = s.Account(t.Context())
	_, _ = s.Password(t.Context())
	if want := "https://sts.cn-north-1.amazonaws.com.cn/ https://api.ecr.cn-north-1.amazonaws.com.cn/ "; asked != want {
		t.Errorf("asked %s", asked)
	}
	for _, name := range []string{"", "eu", "eu-west", "EU-WEST-1", "eu-west-1.evil", "eu-west-1/", "eu-west-1\n",
		"us-iso-east-1", "eu-west-11", "xx-west-1", "us-gov-1"} {
		if r, err := aws.ParseRegion(name); err == nil {
			t.Errorf("%q is %v", name, r)
		}
	}
}

// TestNames reads names of roles and of users.
func TestNames(t *testing.T) {
	got, err := aws.ParseRole("arn:aws-us-gov:iam::123456789012:role/a/b+c=d,e.f@g-h")
	if want := (aws.Identity{ARN: "arn:aws-us-gov:iam::123456789012:role/a/b+c=d,e.f@g-h", Partition: "aws-us-gov",
		Account: "123456789012"}); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "arn:aws:iam::123456789012:user/x", "arn:aws:iam::12345678901:role/x",
		"arn:aws-iso:iam::123456789012:role/x",
		"arn:aws:iam::123456789012:role/", "arn:aws:iam::123456789012:role/a b", "arn:aws:iam::123456789012:role/x\n",
		"arn:aws:iam::123456789012:role" + strings.Repeat("/x", 11)} {
		if i, err := aws.ParseRole(bad); err == nil {
			t.Errorf("%q is %v", bad, i)
		}
	}
	for _, good := range []string{"arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:user/x",
		"arn:aws-cn:iam::123456789012:role/x/y"} {
		if _, err := aws.ParsePrincipal(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	if i, err := aws.ParsePrincipal("arn:aws:iam::123456789012:root/x"); err == nil {
		t.Errorf("got %v", i)
	}
}

// TestExternalIDs binds identifiers to their owner and to the key.
func TestExternalIDs(t *testing.T) {
	key := []byte("a key of the deployment")
	first, second := aws.NewExternalID(key, "shop"), aws.NewExternalID(key, "shop")
	if first == second {
		t.Errorf("%s twice", first)
	}
	if !aws.IsExternalID(key, "shop", first) || !aws.IsExternalID(key, "shop", second) {
		t.Error("an identifier does not hold for its owner")
	}
	for name, held := range map[string]bool{
		"another owner":  aws.IsExternalID(key, "other", first),
		"another key":    aws.IsExternalID([]byte("another"), "shop", first),
		"another end":    aws.IsExternalID(key, "shop", first+"x"),
		"another start":  aws.IsExternalID(key, "shop", "x"+first),
		"parts of two":   aws.IsExternalID(key, "shop", first[:len(first)-26]+second[len(second)-26:]),
		"no second half": aws.IsExternalID(key, "shop", first[:strings.LastIndexByte(first, '-')]),
		"nothing":        aws.IsExternalID(key, "shop", ""),
	} {
		if held {
			t.Errorf("%s holds", name)
		}
	}
}
