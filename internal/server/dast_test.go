package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/livetarget"
	"merlon/internal/livetarget/ownership"
	"merlon/internal/outbound"
	"merlon/internal/scan"
)

// A scan reaches the hosts of its target and those that it signs in at, and nothing
// else: not even what the client may reach.
func TestGate(t *testing.T) {
	listen := func() *url.URL {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "there")
		}))
		t.Cleanup(server.Close)
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	app, issuer, other := listen(), listen(), listen()
	client, err := outbound.New(outbound.Options{Agent: "test", Allow: []string{"127.0.0.1"},
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	whole := &scan.Target{URL: app.String() + "/",
		Identities: []scan.Identity{{Name: "a", OAuth: &scan.OAuthLogin{Token: issuer.String() + "/token",
			Grant: "client_credentials"}}}}
	listed := []ownership.Authorization{{Origin: livetarget.OriginOf(app), Listed: []string{"127.0.0.1"}}}
	for name, c := range map[string]struct {
		address string
		refused bool
	}{
		"the target":      {app.Host, false},
		"the sign-in":     {issuer.Host, false},
		"another port":    {other.Host, true},
		"another host":    {"example.org:80", true},
		"the metadata":    {"169.254.169.254:80", true},
		"not an address":  {"127.0.0.1", true},
		"other spelling":  {net.JoinHostPort("127.0.0.1.", app.Port()), false},
		"an unusual port": {"127.0.0.1:444", true},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := newGate(client, whole, listed).dialTarget(t.Context(), "tcp", c.address)
			if conn != nil {
				_ = conn.Close()
			}
			if c.refused != errs.Is(err, errs.Forbidden) || !c.refused && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A proof by DNS shows the whole host, one on a port that port only.
func TestGatePorts(t *testing.T) {
	client, err := outbound.New(outbound.Options{Agent: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	whole := &scan.Target{URL: "https://app.example:8443/"}
	origin := livetarget.Origin{Scheme: "https", Host: "app.example", Port: "8443"}
	for name, c := range map[string]struct {
		grounds []ownership.Authorization
		want    []string
	}{
		"nothing": {nil, []string{"app.example:8443"}},
		"file": {[]ownership.Authorization{{Origin: origin, Proof: &ownership.Proof{Method: ownership.File}}},
			[]string{"app.example:8443"}},
		"dns": {[]ownership.Authorization{{Origin: origin, Proof: &ownership.Proof{Method: ownership.DNS}}},
			[]string{"app.example:443", "app.example:80", "app.example:8443"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for address := range newGate(client, whole, c.grounds) {
				got = append(got, address)
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Where the service keeps things no scan goes.
func TestDastClosed(t *testing.T) {
	for name, c := range map[string]struct {
		store config.Store
		want  string
	}{
		"files":    {config.Store{}, "127.0.0.1:8080"},
		"postgres": {config.Store{DatabaseURL: "postgres://u:p@db.example/x"}, "127.0.0.1:8080 db.example:5432"},
		"port":     {config.Store{DatabaseURL: "postgres://u:p@db.example:6000/x"}, "127.0.0.1:8080 db.example:6000"},
		"s3": {config.Store{BlobURL: "s3://bucket?endpoint=http%3A%2F%2Fminio.example"}, "127.0.0.1:8080 " +
			"minio.example:80"},
		"s3 by TLS": {config.Store{BlobURL: "s3://bucket?endpoint=https%3A%2F%2Fminio.example"}, "127.0.0.1:8080 " +
			"minio.example:443"},
		"own s3": {config.Store{BlobURL: "s3://bucket?endpoint=http%3A%2F%2Fminio.example%3A9000"},
			"127.0.0.1:8080 minio.example:9000"},
		"both kinds": {config.Store{DatabaseURL: "postgresql://db.example/x",
			BlobURL: "s3://b?endpoint=https%3A%2F%2Fm.example"}, "127.0.0.1:8080 db.example:5432 m.example:443"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(dastClosed(c.store, nil, "127.0.0.1:8080"), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Without the master key nobody opens targets.
func TestNoKeyNoTargets(t *testing.T) {
	owners, err := newOwners(&deployment{}, config.Dast{}, nil, slog.New(slog.DiscardHandler))
	if owners != nil || err != nil || newTargets(&deployment{}, owners) != nil {
		t.Errorf("got %v, %v", owners, err)
	}
}

// A keeper that nobody waits for keeps nothing.
func TestKeeperEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k := &checkpointStore{last: time.Now().Add(time.Hour)}
	cancel()
	if err := k.saveCheckpoint(ctx, []byte("x")); err == nil {
		t.Error("it was kept")
	}
}

// A scan of hosts whose ownership was not shown is slow and short, whatever its target
// says, and signs nobody in.
func TestRestrain(t *testing.T) {
	wish := func(p scan.Profile) *scan.Target {
		return &scan.Target{URL: "https://a.example/", Include: []string{"https://b.example/*"}, Profile: p, Rate: 1000,
			Parallel: 64, Requests: 1_000_000, Identities: []scan.Identity{{Name: "jane", Bearer: "t"}}}
	}
	one := []ownership.Authorization{{}}
	for name, c := range map[string]struct {
		target     *scan.Target
		grounds    []ownership.Authorization
		restrained bool
	}{
		"nothing shown":     {wish(scan.Passive), nil, true},
		"one of two shown":  {wish(scan.Passive), one, true},
		"both shown":        {wish(scan.Passive), append(one, ownership.Authorization{}), false},
		"an attack is held": {wish(scan.Safe), append(one, ownership.Authorization{}), false},
	} {
		reasons := restrictUnverified(c.target, c.grounds)
		got := c.target
		if c.restrained != (got.Rate == 10 && got.Requests == 1000 && got.Parallel == 1 && len(got.Identities) == 0 &&
			len(reasons) == 1) || !c.restrained && (got.Rate != 1000 || len(got.Identities) != 1 || reasons != nil) {
			t.Errorf("%s: %+v, %v", name, got, reasons)
		}
	}
	headers := &scan.Target{URL: "https://a.example/", Profile: scan.Passive,
		Headers: []scan.Header{{Name: "authorization", Value: "Bearer t"}, {Name: "X-Team", Value: "blue"}}}
	if reasons := restrictUnverified(headers, nil); len(headers.Headers) != 1 || headers.Headers[0].Name != "X-Team" ||
		len(reasons) != 1 {
		t.Errorf("headers: %+v, %v", headers, reasons)
	}
	small := &scan.Target{URL: "https://a.example/", Profile: scan.Passive, Rate: 2, Requests: 50}
	if reasons := restrictUnverified(small, nil); small.Rate != 2 || small.Requests != 50 || reasons != nil {
		t.Errorf("what asks for less gets more: %+v, %v", small, reasons)
	}
}
