package license

import "testing"

func TestOfPublisher(t *testing.T) {
	for _, test := range []struct{ ecosystem, name, want string }{
		{"Go", "golang.org/x/net", "BSD-3-Clause"}, {"Go", "golang.org/xnet", ""}, {"Go", "k8s.io/api", "Apache-2.0"},
		{"Go", "google.golang.org/grpc/cmd/x", "Apache-2.0"}, {"Go", "google.golang.org/grpcother", ""},
		{"npm", "@types/node", "MIT"}, {"npm", "types", ""}, {"PyPI", "golang.org/x/net", ""},
		{"NuGet", "microsoft.extensions.Logging", "MIT"}, {"NuGet", "MicrosoftExtensions", ""},
		{"Maven", "org.springframework.boot:spring-boot", "Apache-2.0"}, {"Maven", "org.springframeworks:x", ""},
		{"RubyGems", "rails", "MIT"}, {"RubyGems", "railsy", ""},
	} {
		if got := OfPublisher(test.ecosystem, test.name, "8.0.1"); got != test.want {
			t.Errorf("%s %s: got %q, want %q", test.ecosystem, test.name, got, test.want)
		}
	}
	if got := OfPublisher("NuGet", "System.Text.Json", "4.7.2"); got != "" {
		t.Errorf("an older version: got %q", got)
	}
	// Every row is an expression that classification knows.
	for ecosystem, list := range publishers() {
		for _, p := range list {
			if e := Expression(p.license); e != p.license || !Known(e) {
				t.Errorf("%s %s: %q is no expression of the list", ecosystem, p.prefix, p.license)
			}
		}
	}
}
