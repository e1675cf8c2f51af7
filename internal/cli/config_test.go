package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what is checked in")

// transcript runs a command line with an environment and returns the exit code
// and what it printed.
func transcript(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = Run(t.Context(), args, Host{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
		Getenv: func(name string) string { return env[name] },
	})
	return code, out.String(), errOut.String()
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "merlon.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSettingsComeFromTheStrongestSource(t *testing.T) {
	file := writeFile(t, "listen: 10.0.0.1:1\nlog-level: warn\nregion: eu\ntoken-type-vendor: [a, b]\n")
	env := map[string]string{"MERLON_LOG_LEVEL": "debug", "MERLON_REGION": "us", "MERLON_CONFIG": file}
	code, out, errOut := transcript(t, env, "config", "--region", "asia", "--data", "/d")
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	for _, want := range []string{"listen: 10.0.0.1:1\n", "log-level: debug\n", "region: asia\n", "data: /d\n",
		"token-type-vendor:\n    - a\n    - b\n", "token-lifetime: 10m0s\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the settings lack %q:\n%s", want, out)
		}
	}
}

// The settings of the listener were named dast-callback; deployments that use the old name keep
// working, from every source.
func TestOldNamesOfTheListener(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		env  map[string]string
		args []string
	}{
		"flag":        {args: []string{"--dast-callback", "10.0.0.1:8099"}},
		"variable":    {env: map[string]string{"MERLON_DAST_CALLBACK": "10.0.0.1:8099"}},
		"file":        {file: "dast-callback: 10.0.0.1:8099\n"},
		"new in file": {file: "dast-oast: 10.0.0.1:8099\n"},
	} {
		args := append([]string{"config"}, test.args...)
		if test.file != "" {
			args = append(args, "--config", writeFile(t, test.file))
		}
		if code, out, errOut := transcript(t, test.env, args...); code != ExitOK ||
			!strings.Contains(out, "dast-oast: 10.0.0.1:8099\n") {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errOut)
		}
	}
}

func TestConfigHidesSecrets(t *testing.T) {
	_, out, _ := transcript(t, nil, "config", "--database-url", "postgres://u:hunter2@h/d")
	if strings.Contains(out, "hunter2") || !strings.Contains(out, "database-url: (hidden)") {
		t.Errorf("the settings show a secret:\n%s", out)
	}
}

func TestBadSettingsAreUsageErrors(t *testing.T) {
	for name, test := range map[string]struct {
		file, want string
		args       []string
	}{
		"unknown key":            {file: "listne: x\nfoo: y\n", want: "unknown key foo, listne"},
		"not YAML":               {file: "a: [", want: "settings file"},
		"missing file":           {args: []string{"--config", "/nowhere/merlon.yaml"}, want: "/nowhere/merlon.yaml"},
		"not a level":            {args: []string{"--log-level", "loud"}, want: "log-level"},
		"half of a pair":         {args: []string{"--tls-cert", "/c.pem"}, want: "tls-key"},
		"incomplete peer region": {args: []string{"--peer-region", "eu,http://a"}, want: "NAME,BASE_URL,AUTH_URL"},
		"old spelling of a peer region": {args: []string{"--region", "eu", "--sister", "eu,http://a,http://b"},
			want: "this region"},
		"not an address":     {args: []string{"--base-url", "merlon.example"}, want: "base-url"},
		"too short a life":   {args: []string{"--token-lifetime", "20s"}, want: "token-lifetime"},
		"not a network":      {args: []string{"--trusted-proxy", "10.0.0.1"}, want: "trusted-proxy"},
		"no such option":     {args: []string{"--bogus"}, want: "bogus"},
		"argument left over": {args: []string{"surplus"}, want: "surplus"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"config"}, test.args...)
			if test.file != "" {
				args = append(args, "--config", writeFile(t, test.file))
			}
			code, _, errOut := transcript(t, nil, args...)
			if code != ExitUsage || !strings.Contains(errOut, test.want) {
				t.Errorf("exit %d, want %d; said %q, want %q in it", code, ExitUsage, errOut, test.want)
			}
		})
	}
}

func TestReferenceIsUpToDate(t *testing.T) {
	code, out, errOut := transcript(t, nil, "config", "--reference")
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	const path = "../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != out {
		t.Errorf("docs/configuration.md is not what `merlon config --reference` prints (%v); run go test "+
			"./internal/cli -run Reference -update", err)
	}
}

func TestHelpAndVersion(t *testing.T) {
	if code, out, _ := transcript(t, nil, "--help"); code != ExitOK || !strings.Contains(out, "Usage: merlon") {
		t.Errorf("--help: exit %d, printed %q", code, out)
	}
	if code, out, _ := transcript(t, nil, "version"); code != ExitOK || !strings.HasPrefix(out, "merlon ") {
		t.Errorf("version: exit %d, printed %q", code, out)
	}
	if code, _, errOut := transcript(t, nil); code != ExitUsage || errOut == "" {
		t.Errorf("no command: exit %d, said %q", code, errOut)
	}
}
