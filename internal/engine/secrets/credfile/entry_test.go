package credfile

import (
	"strings"
	"testing"
)

// Values that say of themselves that they are none, or where the secret is, are not
// reported.
func TestIsPlaceholder(t *testing.T) {
	for _, c := range []struct {
		what   string
		values []string
		want   bool
	}{
		{"nothing", []string{"", " ", "\t"}, true},
		{"words for nothing", []string{"null", "None", "~", "undefined", "N/A", "unset", "default"}, true},
		{"switches", []string{"true", "false", "yes", "off"}, true},
		{"brackets", []string{"<password>", "[password]", "%PASSWORD%", "{password}", "@token@", "*"}, true},
		{"variables of shells", []string{"$PASSWORD", "${PASSWORD}", "$(cat file)", "$"}, true},
		{"expressions of templates", []string{"{{ password }}", "<%= password %>", "%(password)s", "#{password}",
			"x{{ password }}y"}, true},
		{"the environment", []string{"os.getenv('A')", "process.env.A", "ENV[\"A\"]", "env:A"}, true},
		{"vaults", []string{"vault:secret/a#b", "op://a/b", "arn:aws:secretsmanager:x", "!vault |", "ref+a://b",
			"@Microsoft.KeyVault(SecretUri=a)", "projects/a/secrets/b", "file:///run/secrets/a"}, true},
		{"encrypted values", []string{"ENC(abc)", "{cipher}abc", "$ANSIBLE_VAULT;1.1;AES256"}, true},
		{"advice", []string{"changeme", "ChangeThis123", "your-password", "yoursecretkey", "replace with yours",
			"TODO", "xxxxxxxx", "****", "my-secret-value", "AKIAIOSFODNN7EXAMPLE", "abcEXAMPLEKEY"}, true},
		{"one character over and over", []string{"aaaaaaaa", "00000000"}, true},
		{"passwords", []string{"m0nkey-7", "correct horse", "Tr0ub4dor&3", "p"}, false},
		{"hashes", []string{"$6$Zr0tLm2x$kQ8v1YdN3w", "$2b$12$abcdefghijklmnop"}, false},
		{"keys", []string{"AKIAQ3EGRBNMKXTXCVWP", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"}, false},
		{"a bracket at the start alone", []string{"[abc", "{abc", "%abc"}, false},
	} {
		for _, v := range c.values {
			if got := isPlaceholder(v); got != c.want {
				t.Errorf("%s: isPlaceholder(%q) = %v, want %v", c.what, v, got, c.want)
			}
		}
	}
}

func TestIsSecretName(t *testing.T) {
	for _, c := range []struct {
		names string
		want  bool
	}{
		{"password PASSWORD dbPassword db_password db-passwd adminPass SMTP_PASS", true},
		{"token accessToken GITHUB_TOKEN auth.token secret clientSecret SECRET_KEY_BASE psk", true},
		{"apiKey API_KEY api-key access_key secretKey privateKey encryption_key jwtKey masterKey", true},
		{"userpassword mypasswd someapikey", true},
		{"key public_key publicKey primary_key foreignKey sortKey cacheKey key_id", false},
		{"password_length passwordField resetPassword forgot_password password_hint tokenType", false},
		{"no_password csrf_token next_token page_token token_url password_required", false},
		{"user name host port timeout secretary passenger", false},
	} {
		for _, name := range strings.Fields(c.names) {
			if got := isSecretName(name); got != c.want {
				t.Errorf("isSecretName(%q) = %v, want %v", name, got, c.want)
			}
		}
	}
	if isSecretName(strings.Repeat("a", 200) + "password") {
		t.Error("a text of two hundred letters is taken for a name")
	}
	if isSecretName("") || isSecretName("123") {
		t.Error("a name without letters is taken for that of a secret")
	}
}

// In files of any kind, what could as well be a word, a path or code is not reported.
func TestIsPlausible(t *testing.T) {
	for _, c := range []struct {
		what, key string
		values    []string
		want      bool
	}{
		{"passwords", "password", []string{"m0nkey-7", "Tr0ub4dor&3", "greenmonkey"}, true},
		{"tokens", "token", []string{"1f2e3d4c5b6a", "kq8zwv1rm6ty9bx4jn7l", "/vK8s+Qx9Lw=="}, true},
		{"a word for another thing", "token", []string{"greenmonkey", "refresh"}, false},
		{"too short", "password", []string{"abc1", "x"}, false},
		{"the name again", "api_key", []string{"apiKey", "API-KEY", "api_key"}, false},
		{"the name of another secret", "password", []string{"dbPassword", "secretKey"}, false},
		{"examples", "password", []string{"password", "admin", "letmein", "supersecret"}, false},
		{"few digits", "password", []string{"12345", "1234567"}, false},
		{"many digits", "password", []string{"830592617429"}, true},
		{"paths", "password", []string{"/run/secrets/db1", "./secret1", "../secret1", "~/secret1"}, false},
		{"addresses", "token", []string{"https://example.org/t0ken"}, false},
		{"signs of YAML", "password", []string{"*anchor1", "&anchor1", "!tag1x", "|block1", ">block1"}, false},
		{"code", "password", []string{"getPassword()", "config.get(key1)", "args[0]", "settings.db.pass", "f1("},
			false},
		{"blanks and letters beyond ASCII", "password", []string{"two words 1", "pässword1"}, false},
	} {
		for _, v := range c.values {
			if got := isPlausible(c.key, v); got != c.want {
				t.Errorf("%s: isPlausible(%q, %q) = %v, want %v", c.what, c.key, v, got, c.want)
			}
		}
	}
	if isPlausible("password", strings.Repeat("a1", 4000)) {
		t.Error("a text of eight thousand bytes is taken for a secret")
	}
}

func TestIsRealAccount(t *testing.T) {
	for _, c := range []struct {
		user, password, host string
		want                 bool
	}{
		{"joe", "m0nkey-7", "db.corp.net", true},
		{"joe", "m0nkey-7", "db.corp.net:5432", true},
		{"joe", "m0nkey-7", "10.0.0.7", true},
		{"joe", "m0nkey-7", "cluster0.${ID}.mongodb.net", true},
		{"joe", "m0nkey-7", "example.com", false},
		{"joe", "m0nkey-7", "db.test", false},
		{"joe", "m0nkey-7", "host:5432", false},
		{"joe", "m0nkey-7", "your-server.net", false},
		{"joe", "m0nkey-7", "myhost", false},
		{"joe", "m0nkey-7", "${HOST}", false},
		{"joe", "m0nkey-7", "", false},
		{"joe", "joe", "db.corp.net", false},
		{"joe", "JOE", "db.corp.net", false},
		{"joe", "password", "db.corp.net", false},
		{"joe", "mypassword1", "db.corp.net", false},
		{"joe", "db_pass", "db.corp.net", false},
		{"joe", "${PASSWORD}", "db.corp.net", false},
		{"joe", "ab", "db.corp.net", false},
		{"joe", "passover-7", "db.corp.net", true},
		{"joe", "short1", "localhost", false},
		{"joe", "longer-than-8", "localhost", true},
	} {
		if got := isRealAccount(c.user, c.password, c.host); got != c.want {
			t.Errorf("%s:%s@%s: got %v, want %v", c.user, c.password, c.host, got, c.want)
		}
	}
}

func TestSplitName(t *testing.T) {
	for name, want := range map[string]string{
		"db_password": "db password", "dbPassword": "db password", "DB-PASSWORD": "db password",
		"spring.datasource.password": "spring datasource password", "HTTPServer": "httpserver", "a1b": "a b",
		"": "", "___": "",
	} {
		if got := strings.Join(splitName(name), " "); got != want {
			t.Errorf("splitName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestIsLocalHost(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "localhost:80": true, "127.0.0.1": true, "0.0.0.0": true,
		"db": true, "db:5432": true, "db.corp.net": false, "10.0.0.1": false} {
		if got := isLocalHost(host); got != want {
			t.Errorf("isLocalHost(%q) = %v, want %v", host, got, want)
		}
	}
}
