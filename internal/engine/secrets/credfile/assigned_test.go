package credfile

import (
	"encoding/base64"
	"strings"
	"testing"
)

// irregular is a value that nobody types; it opens nothing.
var irregular = words("q8Zk2LwTv91m", "NcB7xR4yJ6hD")

// Each text is found, or not, by the use of its value alone.
func TestFindAssigned(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("joe:m0nkey-77"))
	id := "3fa85c91-7be2-4d06-9c1f-0b6e2d8a4c57"
	for _, c := range []struct{ what, text, want string }{
		{"an assignment", `apiKey = "` + irregular + `"`, irregular},
		{"a typed constant", `const API_TOKEN: &'static str = "` + irregular + `";`, irregular},
		{"a typed variable", `private apiKey: string = '` + irregular + `';`, irregular},
		{"a short declaration", "clientSecret := `" + irregular + "`", irregular},
		{"a pair of a map", `'secret_key' => '` + irregular + `',`, irregular},
		{"an element", `config['api_key'] = '` + irregular + `'`, irregular},
		{"JSON", `{"access_token":"` + irregular + `"}`, irregular},
		{"JSON in a text", `"{\"access_token\":\"` + irregular + `\"}"`, ""},
		{"an argument", `setenv("API_TOKEN", "` + irregular + `")`, irregular},
		{"a shell", "export API_TOKEN=" + irregular + "\n", irregular},
		{"a query", "GET /v1?api_key=" + irregular + "&x=1", irregular},
		{"a header", `curl -H "Authorization: Bearer ` + irregular + `" https://x`, irregular},
		{"a header of code", `h.Set("Authorization", "Bearer ` + irregular + `")`, irregular},
		{"a header of a service", `X-Api-Key: ` + irregular, irregular},
		{"a name and a password", "Authorization: Basic " + basic, basic},
		{"a password with three kinds of characters", `password: "Tr0ub4dor&3"`, "Tr0ub4dor&3"},
		{"an element of XML", "<apiToken>" + irregular + "</apiToken>", irregular},
		{"an encrypted secret of Jenkins", "<secret>{AQAAABAAAA " + irregular + "}</secret>", irregular},
		{"a list", `api token - "` + irregular + `"`, irregular},
		{"a simple password", `:password => '4ian1937'`, "4ian1937"},
		{"a key of a service", `adobeKey = ` + irregular, irregular},
		{"a UUID of a token", `shortcut token = '` + id + `'`, id},
		{"a UUID of a key", `api_key = "` + id + `"`, id},

		{"a UUID", `session_key_id = "` + id + `"`, ""},
		{"a public key", `public_key = "` + irregular + `"`, ""},
		{"an ordinary name", `revision = "` + irregular + `"`, ""},
		{"a comparison", `if apiKey == "` + irregular + `" {`, ""},
		{"a reference", `apiKey = settings.get("payment.api.key")`, ""},
		{"a variable", `api_key = "${API_KEY_OF_2024_PAYMENT}"`, ""},
		{"a name of a secret", `secretKey: "payment-gateway-credentials-v2"`, ""},
		{"a placeholder", `api_key = "your-api-key-goes-here-123"`, ""},
		{"an element that is no secret", "<title>" + irregular + "</title>", ""},
		{"a key of a table", `rowKey = ` + irregular, ""},
		{"a bullet", "- token - see the manual of 2024", ""},
		{"an encoding", `pass = "utf-8-sig"`, ""},
		{"a path", `token: /var/run/secrets/9f8e7d6c5b4a/token2`, ""},
		{"an image", `token_image: ghcr.io/acme/tokens/9f8e7d6c5b4a`, ""},
		{"a digest", `token = "sha256:9f8e7d6c5b4a39281706f5e4d3c2b1a0"`, ""},
		{"the example of RFC 7617", "Authorization: Basic " + words("QWxhZGRpbjp", "vcGVuIHNlc2FtZQ=="), ""},
		{"a header without a credential", `Authorization: Bearer $TOKEN`, ""},
		{"a word", `password: "Kennwort"`, ""},
		{"a text for people", `password: "Enter 3 words, please!"`, ""},
	} {
		var got []string
		for _, s := range FindAssigned("src/notes.txt", c.text) {
			got = append(got, c.text[s.Start:s.End])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
	for _, path := range []string{"locale/de.json", "src/i18n/messages.yml"} {
		if got := FindAssigned(path, `api_key = "`+irregular+`"`); len(got) > 0 {
			t.Errorf("%s: found %d secrets among words of a user interface", path, len(got))
		}
	}
}

// In a program, a value without quotes is an expression.
func TestFindAssignedInCode(t *testing.T) {
	for text, want := range map[string]int{
		"apiKey := cfg9Key8FromVault7X2": 0, `"keyPass": toPkcs12Pass99Key8,`: 0,
		"`protobuf_key:\"bytes,1,opt,name=key7,proto3\"`": 0,
		`apiKey := "` + irregular + `"`:                   1,
		`curl := "X-Api-Key: ` + irregular + `"`:          1,
		`get("https://x/?api_key=` + irregular + `&a=1")`: 1,
	} {
		if got := FindAssigned("src/main.go", text); len(got) != want {
			t.Errorf("%s: got %d, want %d", text, len(got), want)
		}
	}
}

// A value that another rule found by the words around it is dropped when its name or shape says
// that it is none.
func TestMayBeSecret(t *testing.T) {
	for text, want := range map[string]bool{
		`apiKey: "` + irregular + `"`:                                true,
		`using key = ` + irregular:                                   true,
		`pre ` + irregular:                                           true,
		`api_key_uuid: "` + irregular + `"`:                          false,
		`"apk-key-hash:` + irregular + `"`:                           false,
		`"identityKey": "` + irregular + `"`:                         false,
		`KEY_VIN, "` + irregular + `"`:                               false,
		`revoke(AccessToken, "3fa85c91-7be2-4d06-9c1f-0b6e2d8a4c57`:  false,
		`apiKey: "docs/secret/rotation.md`:                           false,
		`apiKey: "settings.get(key9)`:                                false,
		`apiKey: "SomeRandomStringOfCharacters`:                      false,
		`apiKey: "` + "3fa85c91-7be2-4d06-9c1f-0b6e2d8a4c57":         true,
		`the thing: "` + "3fa85c91-7be2-4d06-9c1f-0b6e2d8a4c57":      false,
		`key ` + "3fa85c91-7be2-4d06-9c1f-0b6e2d8a4c57 and no sign.": false,
	} {
		start := strings.LastIndexAny(strings.TrimSuffix(text, `"`), ` "`) + 1
		if strings.Contains(text, "hash:") {
			start = strings.Index(text, irregular)
		}
		end := len(strings.TrimSuffix(text, `"`))
		if strings.HasSuffix(text, "no sign.") {
			start, end = 4, 40
		}
		if got := MayBeSecret(text, start, end); got != want {
			t.Errorf("MayBeSecret(%q, %q) = %v, want %v", text, text[start:end], got, want)
		}
	}
}
