package server

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestClientBehindProxies(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:ff::/48")}
	const xff, forwardedHeader = "X-Forwarded-For", "Forwarded"
	for name, test := range map[string]struct {
		peer, header string
		values       []string
		want         string
	}{
		"no proxy":         {"192.0.2.1:5", xff, nil, "192.0.2.1:5"},
		"stranger's claim": {"192.0.2.1:5", xff, []string{"198.51.100.7"}, "192.0.2.1:5"},
		"proxy":            {"10.1.1.1:5", xff, []string{"198.51.100.7"}, "198.51.100.7:0"},
		"client's claim": {"10.1.1.1:5", xff, []string{"127.0.0.1, 198.51.100.7, 10.2.2.2"},
			"198.51.100.7:0"},
		"client's claim of a proxy": {"10.1.1.1:5", xff, []string{"10.9.9.9, 198.51.100.7"}, "198.51.100.7:0"},
		"several headers": {"10.1.1.1:5", xff, []string{"203.0.113.9", "198.51.100.7, 10.2.2.2",
			"10.3.3.3"}, "198.51.100.7:0"},
		"client's garbage":       {"10.1.1.1:5", xff, []string{"<script>, , 198.51.100.7"}, "198.51.100.7:0"},
		"all trusted":            {"10.1.1.1:5", xff, []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3:0"},
		"garbage of a proxy":     {"10.1.1.1:5", xff, []string{"198.51.100.7, nonsense"}, "10.1.1.1:5"},
		"garbage before a proxy": {"10.1.1.1:5", xff, []string{"198.51.100.7, unknown, 10.2.2.2"}, "10.1.1.1:5"},
		"empty":                  {"10.1.1.1:5", xff, []string{""}, "10.1.1.1:5"},
		"no header":              {"10.1.1.1:5", xff, nil, "10.1.1.1:5"},
		"IPv6 client":            {"10.1.1.1:5", xff, []string{"2001:db8::1"}, "[2001:db8::1]:0"},
		"IPv6 in brackets":       {"10.1.1.1:5", xff, []string{"[2001:db8::1]"}, "[2001:db8::1]:0"},
		"IPv6 with port":         {"10.1.1.1:5", xff, []string{"[2001:db8::1]:4711"}, "[2001:db8::1]:0"},
		"IPv6 with zone":         {"10.1.1.1:5", xff, []string{"fe80::1%eth0"}, "[fe80::1]:0"},
		"IPv4 with port":         {"10.1.1.1:5", xff, []string{"198.51.100.7:4711"}, "198.51.100.7:0"},
		"IPv4 in brackets":       {"10.1.1.1:5", xff, []string{"[198.51.100.7]"}, "10.1.1.1:5"},
		"IPv4 in IPv6": {"10.1.1.1:5", xff, []string{"198.51.100.7, ::ffff:10.2.2.2"},
			"198.51.100.7:0"},
		"IPv4 peer in IPv6": {"[::ffff:10.1.1.1]:5", xff, []string{"198.51.100.7"}, "198.51.100.7:0"},
		"IPv6 proxies": {"[2001:db8:ff::1]:5", xff, []string{"198.51.100.7, 2001:db8:ff:1::2"},
			"198.51.100.7:0"},
		"the other header is ignored":  {"10.1.1.1:5", forwardedHeader, []string{"for=198.51.100.7"}, "10.1.1.1:5"},
		"port zero and leading zeroes": {"10.1.1.1:5", xff, []string{"010.1.1.1"}, "10.1.1.1:5"},
	} {
		t.Run(name, func(t *testing.T) {
			checkClient(t, proxies{networks, "x-forwarded-for"}, test.peer, http.Header{test.header: test.values},
				test.want)
		})
	}
	for name, test := range map[string]struct {
		values []string
		want   string
	}{
		"one":                  {[]string{"for=198.51.100.7;proto=https;by=10.1.1.1"}, "198.51.100.7:0"},
		"case and spaces":      {[]string{"proto=https; For=198.51.100.7 ;by=x"}, "198.51.100.7:0"},
		"several":              {[]string{"for=127.0.0.1, for=198.51.100.7", "for=10.2.2.2"}, "198.51.100.7:0"},
		"IPv6":                 {[]string{`for="[2001:db8::1]"`}, "[2001:db8::1]:0"},
		"IPv6 with port":       {[]string{`for="[2001:db8::1]:4711"`}, "[2001:db8::1]:0"},
		"IPv4 with port":       {[]string{`for="198.51.100.7:4711"`}, "198.51.100.7:0"},
		"hidden":               {[]string{"for=198.51.100.7, for=_hidden"}, "10.1.1.1:5"},
		"unknown":              {[]string{"for=unknown"}, "10.1.1.1:5"},
		"without for":          {[]string{"for=198.51.100.7, proto=https"}, "10.1.1.1:5"},
		"for twice":            {[]string{"for=198.51.100.7;for=203.0.113.9"}, "10.1.1.1:5"},
		"a comma in quotes":    {[]string{`for="1.2.3.4, for=5.6.7.8", for=198.51.100.7`}, "198.51.100.7:0"},
		"a quote without end":  {[]string{`for="198.51.100.7, for=203.0.113.9`}, "10.1.1.1:5"},
		"an escape at the end": {[]string{`for="\`}, "10.1.1.1:5"},
	} {
		t.Run("forwarded/"+name, func(t *testing.T) {
			header := http.Header{"Forwarded": test.values, "X-Forwarded-For": {"203.0.113.77"}}
			checkClient(t, proxies{networks, "forwarded"}, "10.1.1.1:5", header, test.want)
		})
	}
}

func checkClient(t *testing.T, p proxies, peer string, header http.Header, want string) {
	t.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr, r.Header = peer, header
	var got string
	resolveClientAddress(p, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r.RemoteAddr
	})).ServeHTTP(httptest.NewRecorder(), r)
	if got != want {
		t.Errorf("address %s, want %s", got, want)
	}
}

// Whatever a client writes in front of what a trusted proxy adds, the client is the one
// that the proxy saw.
func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{"", "for=1.2.3.4", `for="[::1]:5";by=x, for=_a`, `"`, `\`, ",;=", `for="a\"b", c`} {
		f.Add(seed)
	}
	networks := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, claim string) {
		if strings.Count(claim, `"`)%2 == 1 || strings.Contains(claim, `\`) {
			return // proxies do not append to a header that is not well-formed
		}
		for header, own := range map[string]string{"Forwarded": "for=198.51.100.7", "X-Forwarded-For": "198.51.100.7"} {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr, r.Header = "10.1.1.1:5", http.Header{header: {claim + "," + own}}
			client, ok := proxies{networks, header}.clientAddress(r)
			if !ok || client.String() != "198.51.100.7" {
				t.Errorf("%s: %q was read as %s", header, claim, client)
			}
		}
	})
}
