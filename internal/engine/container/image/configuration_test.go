package image

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"merlon/internal/finding"
	"merlon/internal/image/imagetest"
	"merlon/internal/scan"
)

// good is a configuration without a fault.
func good() v1.Config {
	return v1.Config{User: "10001", ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "true"}}}
}

var copied = imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{{Name: "app", Content: "x"}}}

// Each rule finds what it is about, and is silent on what looks like it.
func TestConfiguration(t *testing.T) {
	with := func(change func(*v1.Config)) v1.Config {
		c := good()
		change(&c)
		return c
	}
	run := func(step string) []imagetest.Layer {
		return []imagetest.Layer{copied, {Step: step, Files: []imagetest.File{{Name: "b", Content: "b"}}}}
	}
	env := func(list ...string) v1.Config { return with(func(c *v1.Config) { c.Env = list }) }
	base := func(name string) v1.Config {
		return with(func(c *v1.Config) { c.Labels = map[string]string{"org.opencontainers.image.base.name": name} })
	}
	only := []imagetest.Layer{copied}
	for name, c := range map[string]struct {
		config v1.Config
		layers []imagetest.Layer
		want   []string // rule and line
	}{
		"good":    {good(), only, nil},
		"no user": {with(func(c *v1.Config) { c.User = "" }), only, []string{"root-user 0"}},
		"root":    {with(func(c *v1.Config) { c.User = "root:root" }), only, []string{"root-user 0"}},
		"zero":    {with(func(c *v1.Config) { c.User = "0" }), only, []string{"root-user 0"}},
		"latest":  {base("docker.io/library/node:latest"), only, []string{"moving-base 0"}},
		"no tag":  {base("localhost:5000/node"), only, []string{"moving-base 0"}},
		"tag":     {base("localhost:5000/node:20.1"), only, nil},
		"pinned":  {base("node@sha256:" + strings.Repeat("a", 64)), only, nil},
		"ssh": {with(func(c *v1.Config) { c.ExposedPorts["22/tcp"] = struct{}{} }), only,
			[]string{"remote-login 0"}},
		"no health":  {with(func(c *v1.Config) { c.Healthcheck = nil }), only, []string{"no-health-check 0"}},
		"no service": {with(func(c *v1.Config) { c.Healthcheck, c.ExposedPorts = nil, nil }), only, nil},
		"password": {env("PATH=/bin", "DB_PASSWORD=correct-horse-battery"), only,
			[]string{"secret-in-environment 2"}},
		"token by form": {env("GH=" + token), only, []string{"secret-in-environment 1"}},
		"file of a secret": {env("DB_PASSWORD_FILE=/run/secrets/db", "TOKEN=", "API_KEY=${KEY}", "AUTH=true",
			"PASSWORD=changeme", "SECRET=<your secret>", "PASS=/run/pass", "KEYCLOAK_VERSION=24"), only, nil},
		"build argument": {good(), run("|1 NPM_TOKEN=abcdef0123456789 /bin/sh -c npm ci"),
			[]string{"secret-in-history 2"}},
		"new builder": {good(), run("RUN |2 NPM_TOKEN=abcdef0123456789 A=b /bin/sh -c npm ci # buildkit"),
			[]string{"secret-in-history 2"}},
		"in a command": {good(), run("RUN /bin/sh -c git clone https://x:" + token + "@example.test/a # buildkit"),
			[]string{"secret-in-history 2"}},
		"mounted":          {good(), run("RUN /bin/sh -c TOKEN=$(cat /run/secrets/token) make # buildkit"), nil},
		"plain arguments":  {good(), run("|2 VERSION=1.2 AUTHOR=me /bin/sh -c make"), nil},
		"remote add":       {good(), run("ADD http://example.test/a.tar.gz /opt # buildkit"), []string{"remote-add 2"}},
		"remote add https": {good(), run("ADD https://example.test/a.tar.gz /opt"), []string{"remote-add 2"}},
		"checksum":         {good(), run("ADD --checksum=sha256:aa https://example.test/a.tar.gz /opt"), nil},
		"piped": {good(), run("RUN /bin/sh -c curl -fsSL https://example.test/i.sh | bash # buildkit"),
			[]string{"piped-script 2"}},
		"fetched": {good(), run("RUN /bin/sh -c curl -fsSL https://example.test/i.sh -o i.sh && sha256sum " +
			"-c sums # buildkit"), nil},
		"unchecked": {good(), run("RUN /bin/sh -c apt-get install --allow-unauthenticated x"),
			[]string{"unchecked-download 2"}},
		"writable": {good(), run("RUN /bin/sh -c chmod -R 777 /srv # buildkit"),
			[]string{"writable-for-all 2"}},
		"executable": {good(), run("RUN /bin/sh -c chmod 755 /srv # buildkit"), nil},
		"of the base": {good(), []imagetest.Layer{{Step: "RUN /bin/sh -c chmod " +
			"777 /tmp", Files: []imagetest.File{{Name: "b", Content: "b"}}}, {Step: "CMD [\"sh\"]"}, copied}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := examine(t, scan.Options{Profile: finding.AllProfile}, c.config, c.layers...)
			var got []string
			for _, f := range r.findings {
				got = append(got, strings.TrimPrefix(f.RuleID, "container/image/")+" "+
					string(rune('0'+f.Location.StartLine)))
				for _, secret := range []string{token, "abcdef0123456789", "correct-horse"} {
					if text := f.Message + strings.Join(lines(f.Snippet), "") + f.Location.Path; strings.Contains(text,
						secret) || f.Layer != nil && strings.Contains(f.Layer.Instruction, secret) {
						t.Errorf("the secret is shown: %+v", f)
					}
				}
				if rule := r.rules[f.RuleID]; len(rule.CWE) == 0 || rule.HowToPrevent == "" || rule.Description == "" {
					t.Errorf("rule %+v", rule)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A program that nobody expects to run as root is told, one that is removed is not.
func TestSetuid(t *testing.T) {
	r := examine(t, scan.Options{}, good(),
		imagetest.Layer{Step: "ADD rootfs.tar /",
			Files: []imagetest.File{{Name: "usr/bin/odd", Content: "x", Mode: 0o4755}}},
		imagetest.Layer{Step: "CMD [\"sh\"]"},
		imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{{Name: "bin/tool", Content: "x", Mode: 0o4755},
			{Name: "bin/su", Content: "x", Mode: 0o4755}, {Name: "bin/gone", Content: "x", Mode: 0o4755},
			{Name: "bin/mine", Content: "x", Mode: 0o4755, UID: 1000}, {Name: "bin/group", Content: "x", Mode: 0o2755},
			{Name: "bin/plain", Content: "x", Mode: 0o755}}},
		imagetest.Layer{Step: "RUN rm", Files: []imagetest.File{{Name: "bin/.wh.gone"}}})
	var got []string
	for _, f := range r.findings {
		got = append(got, f.RuleID+" "+f.Location.Path)
	}
	if diff := cmp.Diff([]string{"container/image/setuid-program bin/group", "container/image/setuid-program bin/tool"},
		got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func lines(s *finding.Snippet) []string {
	if s == nil {
		return nil
	}
	return s.Lines
}
