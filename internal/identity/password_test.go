package identity

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/trustelem/zxcvbn/frequency"

	"merlon/internal/errs"
)

func TestCheckPassword(t *testing.T) {
	tests := []struct {
		password string
		want     string // part of the error; empty for none
	}{
		{"four rusty trombones", ""},
		{"Tr0ub4dor&3-longer", ""},
		{"密码很长很长真的很长很长呀吗", ""},
		{"x8!kQ2#vP9zL", ""},
		{"x8!kQ2#vP9z", "at least 12"},
		{strings.Repeat("abcdefgh", 129), "at most 1024"},
		{"\xff\xfe\xfd123456789", "UTF-8"},
		{"abababababababab", "different"},
		{"ada.lovelace@example.com", "your e-mail address"},
		{"my ADA.lovelace@example.com!", "your e-mail address"},
		{"ada.lovelace2026", "your e-mail address"},
		{"!!ada.lovelaceexample.com1", "your e-mail address"},
		{"4d4.L0velace2026", "your e-mail address"},
		{"Countess2026!", "your name"},
		{"id.corp-login2026", "this service"},
		{"MerlonMerlon2026", "common"},
		{"password1234", "common"},
		{"Passw0rd!2026", "common"},
		{"P4ssw0rd!!!!", "common"},
		{"P4ssw0rt2026", "common"},
		{"motdepasse123", "common"},
		{"пароль123456", "common"},
		{"@dministrator99", "common"},
		{"adminadminadmin1", "common"},
		{"qwertyuiop12", "common"},
		{"1qaz2wsx3edc", "common"},
		{"123456789012", "common"},
		{"9876543210987", "common"},
		{"jennifer12345678", "common"},
		{"liverpoolfc1892", "common"},
		{"Summer2026!!!", "common"},
		{strings.Repeat("Summer2026!!!", 70), "common"},
		{strings.Repeat("four rusty trombones ", 40), ""},
		{"Łódź źdźbło świergoli", ""},
	}
	for _, tt := range tests {
		err := checkPassword(tt.password, "https://id.corp-login.example", "ada.lovelace@example.com", "Ada",
			"Countess")
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q: %v", tt.password, err)
		case tt.want != "" && (!errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%q: got %v, want an error with %q", tt.password, err, tt.want)
		}
	}
}

func TestGeneratedPasswordsAreGood(t *testing.T) {
	a, b := newPassword(), newPassword()
	if err := checkPassword(a, "root@example.com"); err != nil || a == b || len(a) != generatedLength {
		t.Errorf("got %q and %q, %v", a, b, err)
	}
}

// TestKnownPasswords checks that more than 10,000 common passwords are known: each of
// those that are long enough is refused as it is, and the others with something behind
// them.
func TestKnownPasswords(t *testing.T) {
	common := frequency.FrequencyLists["passwords"]
	if len(common) < 10_000 {
		t.Errorf("only %d common passwords are known", len(common))
	}
	refused := 0
	for i, word := range common {
		if len(word) < minPassword && (i%300 != 0 || len(word) < 5) {
			continue
		}
		password := word
		if len(word) < minPassword {
			password += "1234567890"[:minPassword-len(word)]
		}
		if err := checkPassword(password, "x@example.com"); err == nil {
			t.Errorf("%q is accepted", password)
		}
		refused++
	}
	if refused < 200 {
		t.Errorf("only %d were tried", refused)
	}
}

func BenchmarkCheckPassword(b *testing.B) {
	for b.Loop() {
		if err := checkPassword("four rusty trombones", "ada.lovelace@example.com", "Ada"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPasswordsAreJudgedInTime gives zxcvbn what costs it most.
func TestPasswordsAreJudgedInTime(t *testing.T) {
	for _, part := range []string{"a", "1", "ab1", "4@8({[<369!|1$5+7%2", "password"} {
		began := time.Now()
		_ = checkPassword(strings.Repeat(part, maxPassword)[:maxPassword], "x@example.com") // refused or not
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%q took %v", part, took)
		}
	}
}

func TestHash(t *testing.T) {
	h := newHasher()
	stored, err := h.hashPassword(t.Context(), "Åse's correct password")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("stored as %s", stored)
	}
	old := mustHash(t, argonParams{time: 1, memory: 1024, threads: 1}, "old")
	tests := []struct {
		name, password, stored string
		ok, outdated           bool
	}{
		{"right", "Åse's correct password", stored, true, false},
		{"right, composed otherwise", "A\u030ase's correct password", stored, true, false},
		{"wrong", "åse's correct password", stored, false, false},
		{"empty", "", stored, false, false},
		{"too long", strings.Repeat("x", 1<<20), stored, false, false},
		{"no account", "anything", "", false, false},
		{"old parameters", "old", old, true, true},
	}
	for _, tt := range tests {
		ok, outdated, err := h.verifyPassword(t.Context(), tt.password, tt.stored)
		if err != nil || ok != tt.ok || outdated != tt.outdated {
			t.Errorf("%s: got %v, %v, %v; want %v, %v", tt.name, ok, outdated, err, tt.ok, tt.outdated)
		}
	}
}

// mustHash returns the stored form of a password under other parameters.
func mustHash(t *testing.T, p argonParams, password string) string {
	t.Helper()
	salt := []byte("0123456789abcdef")
	key, err := newHasher().deriveKey(t.Context(), p, password, salt)
	if err != nil {
		t.Fatal(err)
	}
	return p.encodeHash(salt, key)
}

func TestStoredHashesAreBounded(t *testing.T) {
	good := presentParams.encodeHash(make([]byte, 16), make([]byte, 32))
	for _, s := range []string{
		"x", "$", "$argon2i$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AA",
		strings.Replace(good, "m=19456", "m=99999999", 1),
		strings.Replace(good, "m=19456", "m=-1", 1),
		strings.Replace(good, "t=2", "t=0", 1),
		strings.Replace(good, "t=2", "t=4000000000", 1),
		strings.Replace(good, "p=1", "p=0", 1),
		strings.Replace(good, "v=19", "v=16", 1),
		good + "AAAA", good + "!",
	} {
		if _, _, err := newHasher().verifyPassword(t.Context(), "x", s); err == nil {
			t.Errorf("%s was accepted", s)
		}
	}
}

// A flood of sign-ins waits instead of filling the memory.
func TestHashesTakeTurns(t *testing.T) {
	h := newHasher()
	for range cap(h.turns) {
		h.turns <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := h.hashPassword(ctx, "x"); err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	// Where there is no account the same work waits for the same turn.
	if _, _, err := h.verifyPassword(ctx, "x", ""); err != context.DeadlineExceeded {
		t.Errorf("without an account: got %v, want %v", err, context.DeadlineExceeded)
	}
	<-h.turns
	if _, err := h.hashPassword(t.Context(), "x"); err != nil {
		t.Errorf("with a free turn: %v", err)
	}
}

func TestNormalizeEmail(t *testing.T) {
	for in, want := range map[string]string{
		" Ada@Example.COM\n":     "ada@example.com",
		"ada+test@example.com":   "ada+test@example.com",
		"root@localhost":         "root@localhost",
		"jo@BÜCHER.example":      "jo@xn--bcher-kva.example",
		"o'neil@example.com":     "o'neil@example.com",
		"":                       "",
		"@example.com":           "",
		"ada@":                   "",
		"ada":                    "",
		"ada@exam ple.com":       "",
		"ädä@example.com":        "",
		"a@b@example.com":        "",
		`"a b"@example.com`:      "",
		"Ada <ada@example.com>":  "",
		"ada@example.com, b@c.d": "",
		"ada\x00@example.com":    "",
		"a@x.com\r\nBcc:b@c.d":   "",
		strings.Repeat("a", 250) + "@example.com": "",
	} {
		got, err := NormalizeEmail(in)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestTokenForm(t *testing.T) {
	a, b := newTokenValue(), newTokenValue()
	if a == b || len(a) != 57 || !wellFormed(a) || !wellFormed(b) {
		t.Errorf("got %q and %q", a, b)
	}
	// Every single mistyped character is found.
	for i := range len(a) {
		for _, c := range []byte("0Zz-") {
			if c != a[i] && wellFormed(a[:i]+string(c)+a[i+1:]) {
				t.Errorf("the character %d of %s may be %c", i, a, c)
			}
		}
	}
	// Computed apart, with Python's zlib.crc32, so that the form never changes.
	const fixed = "mrl_pat_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg"
	if got, want := tokenChecksum(fixed), "0cAGEB"; got != want {
		t.Errorf("the checksum is %s, want %s", got, want)
	}
	if diff := cmp.Diff("5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5",
		secretDigest("12345")); diff != "" {
		t.Errorf("digest (-want +got):\n%s", diff)
	}
}

func FuzzToken(f *testing.F) {
	f.Add("")
	f.Add("mrl_pat_")
	f.Add(newTokenValue())
	f.Add(newTokenValue() + "\x00")
	f.Add(strings.Repeat("mrl_pat_", 8))
	f.Fuzz(func(t *testing.T, s string) {
		if !wellFormed(s) {
			return
		}
		if len(s) != tokenLength || !strings.HasPrefix(s, tokenPrefix) || !onlyDigits(s[len(tokenPrefix):]) {
			t.Errorf("%q is accepted", s)
		}
	})
}

func FuzzNormalizeEmail(f *testing.F) {
	for _, s := range []string{"ada@example.com", "jo@bücher.example", "a@b\r\nBcc: c@d", `"x"@y`, "a@[127.0.0.1]", "@",
		"a@xn--0", "0@0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := NormalizeEmail(s)
		if err != nil {
			return
		}
		again, err := NormalizeEmail(got)
		if err != nil || again != got {
			t.Errorf("%q becomes %q, which becomes %q, %v", s, got, again, err)
		}
		if strings.ContainsAny(got, " \r\n\t\x00<>,;\"") {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

func FuzzStoredHash(f *testing.F) {
	f.Add(presentParams.encodeHash(make([]byte, 16), make([]byte, 32)))
	f.Add("$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$")
	f.Fuzz(func(t *testing.T, s string) {
		p, salt, key, err := decodeHash(s)
		if err == nil && (p.memory > maxArgonMemory || p.time > maxArgonTime || p.time == 0 || p.threads == 0 ||
			len(salt) < 8 || len(key) != keyLength) {
			t.Errorf("%q is accepted", s)
		}
	})
}
