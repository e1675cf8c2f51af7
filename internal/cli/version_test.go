package cli

import (
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		want []string
	}{
		"alone":           {args: nil, want: []string{"merlon "}},
		"licences":        {args: []string{"--licenses"}, want: []string{"github.com/alecthomas/kong ", "Go standard library"}},
		"texts":           {args: []string{"--license-texts"}, want: []string{"THE SOFTWARE IS PROVIDED", "proxy.golang.org"}},
		"one at a time":   {args: []string{"--licenses", "--license-texts"}, code: ExitUsage},
		"unknown options": {args: []string{"--licences"}, code: ExitUsage},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			host := Host{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
			if code := Run(t.Context(), append([]string{"version"}, test.args...), host); code != test.code {
				t.Fatalf("exit code %d, want %d: %s", code, test.code, stderr.String())
			}
			for _, want := range test.want {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in %.200q", want, stdout.String())
				}
			}
		})
	}
}
