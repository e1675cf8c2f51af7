package ownership

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"merlon/internal/errs"
	"merlon/internal/livetarget"
	"merlon/internal/outbound"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

var (
	key = []byte("0123456789abcdef0123456789abcdef")
	sc  = tenant.Scope{Organization: "o", Project: "p"}
)

// memory is a Store.
type memory struct {
	now    time.Time
	proofs map[string]Proof
	told   []string
	hosts  map[string][]netip.Addr
}

func (m *memory) HostAddresses(_ context.Context, sc tenant.Scope, host string) ([]netip.Addr, error) {
	return m.hosts[string(sc.Organization)+" "+host], nil
}

func (m *memory) SaveHostAddresses(_ context.Context, sc tenant.Scope, host string, seen []netip.Addr) error {
	m.hosts[string(sc.Organization)+" "+host] = seen
	return nil
}

func name(sc tenant.Scope, p Proof) string {
	return string(sc.Organization) + " " + p.Subject + " " + string(p.Method)
}

func (m *memory) Proofs(_ context.Context, sc tenant.Scope, subjects []string) (out []Proof, _ error) {
	for at, p := range m.proofs {
		if strings.HasPrefix(at, string(sc.Organization)+" ") && slices.Contains(subjects, p.Subject) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (m *memory) SaveProof(_ context.Context, sc tenant.Scope, p Proof) (Proof, error) {
	if old, ok := m.proofs[name(sc, p)]; ok {
		p.First = old.First
	} else {
		p.First = m.now
	}
	p.Checked = m.now
	m.proofs[name(sc, p)] = p
	return p, nil
}

func (m *memory) DeleteProof(_ context.Context, sc tenant.Scope, p Proof) error {
	delete(m.proofs, name(sc, p))
	return nil
}

func (m *memory) RecordListed(_ context.Context, _ tenant.Scope, host string, entries []string) error {
	m.told = append(m.told, host+" "+strings.Join(entries, ","))
	return nil
}

// txt are records of the DNS; "away" under a name makes it not answer.
type txt map[string]string

func (r txt) look(_ context.Context, name string) ([]string, error) {
	switch v, ok := r[name]; {
	case v == "away":
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	case ok:
		return []string{"v=spf1 -all", v}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func newOwners(t *testing.T, records txt, allow ...string) (*Verifier, *memory) {
	t.Helper()
	client, err := outbound.New(outbound.Options{Allow: allow, Setting: "dast-allow", Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), proofs: map[string]Proof{},
		hosts: map[string][]netip.Addr{}}
	resolve := func(_ context.Context, host string) ([]netip.Addr, error) {
		if ip, err := netip.ParseAddr(host); err == nil {
			return []netip.Addr{ip}, nil
		}
		return []netip.Addr{netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8::7")}, nil
	}
	return New(Verifier{Store: m, Client: client, Key: key, Now: func() time.Time {
		return m.now
	}, TXT: records.look, Resolve: resolve}), m
}

func origin(t *testing.T, address string) livetarget.Origin {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return livetarget.OriginOf(u)
}

// TestDomains says whose records count for a host.
func TestDomains(t *testing.T) {
	for host, want := range map[string]string{
		"shop.example.org":              "shop.example.org example.org",
		"a.b.shop.example.co.uk":        "a.b.shop.example.co.uk b.shop.example.co.uk shop.example.co.uk example.co.uk",
		"example.org":                   "example.org",
		"acme.github.io":                "acme.github.io",
		"www.acme.github.io":            "www.acme.github.io", // shared hosting: the exact host
		"acme.herokuapp.com":            "acme.herokuapp.com",
		"x.eu-west-1.elb.amazonaws.com": "x.eu-west-1.elb.amazonaws.com",
		"bucket.s3.amazonaws.com":       "bucket.s3.amazonaws.com",
		"co.uk":                         "co.uk", // nobody below it gains by it, and it is nobody's
		"app.corp.internal":             "app.corp.internal",
		"localhost":                     "",
		"10.0.0.1":                      "",
		"2001:db8::1":                   "",
	} {
		if got := strings.Join(parentDomains(host), " "); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

// TestTokensAreBound gives each organization and each subject a token of its own.
func TestTokensAreBound(t *testing.T) {
	seen := map[string]string{}
	for _, org := range []tenant.OrganizationID{"o", "o2"} {
		for _, address := range []string{"https://a.example.org", "https://b.example.org", "https://a.example.org:8443",
			"http://a.example.org"} {
			for _, p := range Challenges(key, org, origin(t, address)) {
				at := string(org) + " " + p.Subject
				if other, ok := seen[p.token]; ok && other != at {
					t.Errorf("%s and %s have one token", other, at)
				}
				seen[p.token] = at
				if !strings.Contains(p.Value, p.token) || len(p.token) != 40 {
					t.Errorf("%s: %q", at, p.Value)
				}
			}
		}
	}
	if len(seen) != 2*(4+3) {
		t.Errorf("%d tokens: %v", len(seen), seen)
	}
}

// TestLook looks into answers that hold the token where it belongs, and into others.
func TestLook(t *testing.T) {
	var serve http.HandlerFunc
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r) }))
	defer server.Close()
	o, _ := newOwners(t, nil, "127.0.0.1")
	places := map[Method]Challenge{}
	for _, p := range Challenges(key, "o", origin(t, server.URL)) {
		places[p.Method] = p
	}
	write := func(format string, args ...any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, format, args...) }
	}
	file, header, meta := places[File], places[Header], places[Meta]
	other := strings.Repeat("0", 40)
	for what, tt := range map[string]struct {
		place Challenge
		serve http.HandlerFunc
		want  errs.Kind // Internal: it is there
	}{
		"the file":              {file, write("%s\n", file.Value), 0},
		"another token":         {file, write("%s%s", prefix, other), errs.Conflict},
		"a page with the token": {file, write("you asked for %s", file.Value), errs.Conflict},
		"no file":               {file, http.NotFound, errs.Conflict},
		"a redirect": {file, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				_, _ = fmt.Fprint(w, file.Value)
				return
			}
			http.Redirect(w, r, "/there", http.StatusFound)
		}, errs.Conflict},
		"a failure": {file, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, errs.Unavailable},
		"the header": {header, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add(headerName, other)
			w.Header().Add(headerName, header.token)
		}, 0},
		"no header": {header, write("%s", header.token), errs.Conflict},
		"a header of a redirect": {header, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(headerName, header.token)
			http.Redirect(w, r, "/x", http.StatusFound)
		}, errs.Conflict},
		"the element": {meta, write("<!doctype html><html><head><title>x</title>%s</head><body>",
			meta.Value), 0},
		"an element of the body": {meta, write("<html><head></head><body><p>%s</p>", meta.Value), errs.Conflict},
		"a comment":              {meta, write("<html><head><!-- %s --></head>", meta.Value), errs.Conflict},
		"a text":                 {meta, write("<html><head><title>%s</title></head>", meta.Value), errs.Conflict},
		"the element for another": {meta, write(`<head><meta name="%s" content="%s"></head>`, metaName, other),
			errs.Conflict},
	} {
		t.Run(what, func(t *testing.T) {
			serve = tt.serve
			_, err := o.checkChallenge(t.Context(), tt.place, "shop.example.org")
			if tt.want == 0 && err != nil || tt.want != 0 && !errs.Is(err, tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	// Without the administrator's word, a private address is not even asked.
	closed, _ := newOwners(t, nil)
	serve = write("%s", file.Value)
	if _, err := closed.checkChallenge(t.Context(), file, "127.0.0.1"); !outbound.Refused(err) {
		t.Errorf("a private address: %v", err)
	}
}

// TestAdmit says which scans may begin.
func TestAdmit(t *testing.T) {
	records := txt{}
	o, m := newOwners(t, records)
	record := func(org tenant.OrganizationID, domain string) (name, value string) {
		for _, p := range Challenges(key, org, origin(t, "https://"+domain)) {
			if p.Method == DNS && p.Subject == domain {
				return p.Where + ".", p.Value
			}
		}
		t.Fatal("no place for ", domain)
		return "", ""
	}
	shop := &scan.Target{URL: "https://shop.example.org/"}
	refused := func(what string, t2 *scan.Target, parts ...string) {
		t.Helper()
		_, err := o.Authorize(t.Context(), sc, t2)
		if !errs.Is(err, errs.Forbidden) {
			t.Errorf("%s: got %v, want a refusal", what, err)
			return
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %q", what, err, part)
			}
		}
	}
	refused("nothing shown", shop, "never shown", "passive")
	passive := *shop
	passive.Profile = scan.Passive
	if g, err := o.Authorize(t.Context(), sc, &passive); err != nil || len(g) != 0 {
		t.Errorf("passive: %v, %v", g, err)
	}
	if _, err := o.Verify(t.Context(), sc, shop, DNS); !errs.Is(err, errs.Conflict) {
		t.Errorf("verified nothing: %v", err)
	}

	// Another organization's record is none.
	at, value := record("another", "example.org")
	records[at] = value
	if _, err := o.Verify(t.Context(), sc, shop, DNS); !errs.Is(err, errs.Conflict) {
		t.Errorf("another's record: %v", err)
	}
	at, value = record("o", "example.org")
	records[at] = value
	s, err := o.Verify(t.Context(), sc, shop, "")
	if err != nil || len(s) != 1 || !s[0].Verified(m.now) || s[0].Proofs[0].Subject != "example.org" {
		t.Fatalf("verified %+v, %v", s, err)
	}
	m.now = m.now.Add(29 * 24 * time.Hour)
	if g, err := o.Authorize(t.Context(), sc, shop); err != nil || len(g) != 1 || g[0].Proof == nil ||
		!g[0].Proof.Checked.Equal(m.now) {
		t.Errorf("admitted %+v, %v", g, err)
	}
	// What is seen again counts from then on; what nobody looked at for long does not.
	m.now = m.now.Add(29 * 24 * time.Hour)
	if _, err := o.Authorize(t.Context(), sc, shop); err != nil {
		t.Error(err)
	}
	m.now = m.now.Add(ProofLifetime + time.Hour)
	refused("a stale proof", shop, "verified again")
	if s, err := o.Status(t.Context(), sc, shop); err != nil || s[0].Verified(m.now) || len(s[0].Proofs) != 1 {
		t.Errorf("stale: %+v, %v", s, err)
	}
	if _, err := o.Verify(t.Context(), sc, shop, DNS); err != nil {
		t.Fatal(err)
	}

	// Every host of the scope is to be shown, and another tenant has shown nothing.
	wide := *shop
	wide.Include = []string{"https://other.example.net/*"}
	refused("another host", &wide, "other.example.net")
	foreign := tenant.Scope{Organization: "o2", Project: "q"}
	if _, err := o.Authorize(t.Context(), foreign, shop); !errs.Is(err, errs.Forbidden) {
		t.Errorf("another tenant: %v", err)
	}
	// A name below shared hosting is not covered by its neighbour's.
	records[recordName+".acme.github.io."] = "irrelevant"
	refused("shared hosting", &scan.Target{URL: "https://www.acme.github.io/"})

	// When the DNS is away nothing is lost, but no scan begins.
	records[at] = "away"
	refused("no answer", shop, "does not respond")
	if len(m.proofs) != 1 {
		t.Errorf("proofs %v", m.proofs)
	}
	delete(records, at)
	refused("a record that is gone", shop, "not found")
	if len(m.proofs) != 0 {
		t.Errorf("the proof stays: %v", m.proofs)
	}
	records[at] = value
	refused("a record that came back", shop, "never shown") // until somebody verifies it
}

// TestListed needs no proof for what the administrator lists, and records it.
func TestListed(t *testing.T) {
	o, m := newOwners(t, nil, "127.0.0.0/8")
	g, err := o.Authorize(t.Context(), sc, &scan.Target{URL: "http://127.0.0.1:8080/"})
	if err != nil || len(g) != 1 || g[0].Proof != nil || !slices.Equal(g[0].Listed, []string{"127.0.0.0/8"}) {
		t.Errorf("admitted %+v, %v", g, err)
	}
	if !slices.Equal(m.told, []string{"127.0.0.1 127.0.0.0/8"}) {
		t.Errorf("recorded %q", m.told)
	}
	for _, address := range []string{"http://10.0.0.1/", "http://169.254.169.254/", "http://192.0.2.1/"} {
		if _, err := o.Authorize(t.Context(), sc, &scan.Target{URL: address}); !errs.Is(err, errs.Forbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestAddressesArePinned attacks a host where it was when its ownership was shown.
func TestAddressesArePinned(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	records := txt{}
	o, m := newOwners(t, records, "127.0.0.1")
	var now []netip.Addr
	o.Resolve = func(context.Context, string) ([]netip.Addr, error) { return now, nil }
	at := func(texts ...string) []netip.Addr {
		var out []netip.Addr
		for _, text := range texts {
			out = append(out, netip.MustParseAddr(text))
		}
		return out
	}
	shop := &scan.Target{URL: "https://shop.example.org/"}
	for _, p := range Challenges(key, sc.Organization, origin(t, shop.URL)) {
		if p.Method == DNS {
			records[p.Where+"."] = p.Value
		}
	}
	now = at("198.51.100.7", "2001:db8:1::7")
	if _, err := o.Verify(t.Context(), sc, shop, DNS); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		now, want []netip.Addr // none: refused
	}{
		{"the same", at("198.51.100.7", "2001:db8:1::7"), at("198.51.100.7", "2001:db8:1::7")},
		{"a balancer's next address", at("198.51.100.90"), at("198.51.100.90")},
		{"one elsewhere beside it", at("203.0.113.1", "2001:db8:1:2::9"), at("2001:db8:1:2::9")},
		{"elsewhere", at("203.0.113.1"), nil},
		{"nowhere", nil, nil},
	} {
		now = c.now
		g, err := o.Authorize(t.Context(), sc, shop)
		switch {
		case c.want == nil && (!errs.Is(err, errs.Forbidden) || len(c.now) > 0 && !strings.Contains(err.Error(), "verify it again") || strings.Contains(err.Error(), "203.0")):

			t.Errorf("%s: %v", c.what, err)
		case c.want != nil && (err != nil || !slices.Equal(g[0].Addresses, c.want)):
			t.Errorf("%s: %+v, %v", c.what, g, err)
		}
	}
	if len(m.proofs) != 1 {
		t.Error("the proof is lost: the record is still there")
	}
	now = at("203.0.113.1")
	if _, err := o.Verify(t.Context(), sc, shop, DNS); err != nil {
		t.Fatal(err)
	}
	if g, err := o.Authorize(t.Context(), sc, shop); err != nil || !slices.Equal(g[0].Addresses, now) {
		t.Errorf("verified again: %+v, %v", g, err)
	}

	// This machine is one, wherever in 127.0.0.0/8 or at ::1 the name leads.
	now = at("127.0.0.1")
	if _, err := o.Verify(t.Context(), sc, shop, DNS); err != nil {
		t.Fatal(err)
	}
	now = at("127.200.0.9", "::1", "203.0.113.1")
	if g, err := o.Authorize(t.Context(), sc, shop); err != nil || !slices.Equal(g[0].Addresses, now[:2]) {
		t.Errorf("this machine: %+v, %v", g, err)
	}

	// A token that is served shows the address that served it.
	near := origin(t, server.URL)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, p := range Challenges(key, sc.Organization, near) {
			if p.Method == File {
				_, _ = fmt.Fprint(w, p.Value)
			}
		}
	})
	for _, p := range Challenges(key, sc.Organization, near) {
		if seen, err := o.checkChallenge(t.Context(), p, near.Host); p.Method == File &&
			(err != nil || !slices.Equal(seen, at("127.0.0.1"))) {
			t.Errorf("served by %v, %v", seen, err)
		}
	}
}
