package credentials

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"merlon/internal/engine/secrets/credfile"
	"merlon/internal/severity"
)

// judged returns the secrets of a text as "rule:points".
func judged(t *testing.T, path, text string) string {
	t.Helper()
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.findSecrets(context.Background(), path, text)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range found {
		out = append(out, fmt.Sprintf("%s:%d", s.rule, e.points(s)))
	}
	return strings.Join(out, " ")
}

// What is likely an example weighs so little that only auditors see it; what cannot be a secret is
// not reported at all.
func TestJudgeSecret(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	jwt := func(payload string) string {
		return encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode([]byte(payload)) + "." +
			mixed(letters, 43)
	}
	hook := "https://hooks.slack.com/services/" + "T" + mixed("ABCDEF0123456789", 10) + "/B" +
		mixed("ABCDEF0123456789", 10) + "/"
	for _, c := range []struct{ what, text, want string }{
		{"a token of a platform", `t = "` + github + `"`, "github-pat:4"},
		{"a token of a section for tests", "test:\n  t: " + github, "github-pat:1"},
		{"a placeholder of its form", `t = "ghp_` + `your_` + strings.Repeat("a1", 20)[:31] + `"`, ""},
		{"a token with a run", `t = "glwt-` + `abcdefgh` + mixed(letters, 20) + `"`, "gitlab-workspace-token:0"},
		{"a usable token", `t = "` + jwt(`{"iss":"https://id.corp.net","sub":"user-77","exp":4102444800}`) + `"`,
			"jwt:2"},
		{"an expired token", `t = "` + jwt(`{"iss":"https://id.corp.net","sub":"user-77","exp":1500000000}`) + `"`,
			"jwt:0"},
		{"the token of manuals", `t = "` + jwt(`{"sub":"1234567890","name":"John Doe","iat":1516239022}`) + `"`,
			"jwt:-2"},
		{"a key for browsers", `t = "` + jwt(`{"iss":"supabase","ref":"kqzwvrmt","role":"anon","exp":4102444800}`) +
			`"`,
			"jwt:-2"},
		{"a webhook", hook + mixed(letters, 24), "slack-webhook-url:2"},
		{"the webhook of manuals", hook + strings.Repeat("X", 24), "slack-webhook-url:-2"},
		{"an example of an API", "token:\n  type: string\n  example: " + github + "\n", "github-pat:1"},
		{"a header of a manual", `curl https://api.corp.net -H "Authorization: Bearer strong-password"`, ""},
		{"a name without a password", `curl --user "argo-cd-cli:" https://api.corp.net/token`, ""},
		{"a Secret that hides a word", "kind: Secret\napiVersion: v1\nmetadata:\n  name: a\ndata:\n  password: " +
			base64.StdEncoding.EncodeToString([]byte("mypassword")) + "\n", ""},
		{"a published key", `AccountKey="` + "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/" +
			"K1SZFPTOtr/KBHBeksoGMGw==" + `"`, "generic-api-key:-2"},
	} {
		if got := judged(t, "src/app.txt", c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

// A secret within another one is not reported, nor is the same value twice.
func TestOneSecretIsToldOnce(t *testing.T) {
	password := mixed(letters, 24)
	text := "DB_PASSWORD=" + password + "\nDATABASE_URL=postgres://app:" + password + "@db.corp.net/app\nOLD=" +
		password + "\n"
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.findSecrets(context.Background(), "deploy.env", text)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || len(found[0].again) != 1 {
		t.Errorf("got %+v, want one secret at two places", found)
	}
	if found[0].rule != "address-with-password" {
		t.Errorf("the secret goes by %s, want the most severe rule", found[0].rule)
	}
}

// The path adds what the driver does not know.
func TestPlaceTerms(t *testing.T) {
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, rule string
		want       int
	}{
		{"src/server.key", keyRule, 0},
		{"src/test/resources/server.key", keyRule, severity.Harmless},
		{"docs/manual.md", "stripe-access-token", severity.Lowered},
		{"src/pay.py", "stripe-access-token", 0},
		{"app/src/main/google-services.json", "gcp-api-key", severity.Harmless},
		{"web/src/map.ts", "gcp-api-key", severity.Harmless},
		{"server/maps.py", "gcp-api-key", 0},
		{".env.template", "stripe-access-token", severity.Harmless},
		{"pkg/fake/client.go", "stripe-access-token", severity.Harmless},
		{"charts/pay/ci/tls-values.yaml", "stripe-access-token", severity.Harmless},
		{"charts/pay/ci/tls-values.yaml", keyRule, 2 * severity.Harmless},
		{"templates/pay.yaml", "stripe-access-token", 0},
		{".ci/compose.yml", "stripe-access-token", severity.Lowered},
	} {
		got := 0
		for _, term := range placeTerms(c.path, e.rules[c.rule]) {
			got += term.Points
		}
		if got != c.want {
			t.Errorf("%s in %s: got %d, want %d", c.rule, c.path, got, c.want)
		}
	}
	if !credfile.IsPublished("AKIA" + "IOSFODNN7EXAMPLE") {
		t.Error("the example of AWS is not known")
	}
}
