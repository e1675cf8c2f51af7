package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"merlon/internal/errs"
)

// Bounds of a password. The lower one and the absence of rules about kinds of
// characters follow NIST SP 800-63B, section 5.1.1.2.
const (
	minPassword      = 12   // characters
	maxPassword      = 1024 // bytes
	minDifferent     = 5    // different characters
	generatedLength  = 24   // of newPassword: 24 · log2(57) = 139 bits
	readableAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
)

// newPassword returns a strong password without characters that look alike.
func newPassword() string { return randomText(generatedLength, readableAlphabet) }

// checkPassword returns an Invalid error that says why the password is too easy
// to guess for the account with the address.
func checkPassword(password, email string) error {
	const at = "body.password"
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return invalid(at, "the password needs at least %d characters", minPassword)
	case len(password) > maxPassword:
		return invalid(at, "the password may have at most %d bytes", maxPassword)
	case !utf8.ValidString(password):
		return invalid(at, "the password is not valid UTF-8")
	}
	different := map[rune]bool{}
	for _, r := range password {
		different[r] = true
	}
	if len(different) < minDifferent {
		return invalid(at, "the password needs at least %d different characters", minDifferent)
	}
	lower := strings.ToLower(password)
	local, domain, _ := strings.Cut(email, "@")
	if strings.Contains(lower, email) || lettersOf(lower) == lettersOf(local) || lettersOf(lower) == lettersOf(local+domain) {
		return invalid(at, "the password must not be the e-mail address")
	}
	if common(lower) {
		return invalid(at, "the password is one that attackers try first")
	}
	return nil
}

// common reports whether a password, in lower case, is a common one: as it
// stands, or after undoing what people do to make a word look like a password.
func common(lower string) bool {
	if commonPasswords[lower] {
		return true
	}
	core := lettersOf(lower)
	begun := strings.TrimRightFunc(lower, notLetter)
	for _, word := range []string{core, undress.Replace(core), undress.Replace(begun), lettersOf(undress.Replace(lower))} {
		for n := 1; n <= 3; n++ { // a word once, twice or three times
			if part := len(word) / n; word == strings.Repeat(word[:part], n) && commonWords[word[:part]] {
				return true
			}
		}
	}
	return core == "" && runs(lower) // only digits and signs, in rows
}

// undress undoes the usual substitutions.
var undress = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// lettersOf returns the text without digits and signs at its two ends.
func lettersOf(s string) string {
	return strings.TrimFunc(s, notLetter)
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// runs reports whether most characters follow their neighbour: 123456789012,
// 111122223333.
func runs(s string) bool {
	steps := 0
	for i := 1; i < len(s); i++ {
		if d := int(s[i]) - int(s[i-1]); d >= -1 && d <= 1 {
			steps++
		}
	}
	return steps*3 >= len(s)*2
}

// argonParams are the parameters of argon2id (RFC 9106). The present ones are
// OWASP's: 27 ms of one core and 19 MiB.
type argonParams struct {
	time, memory uint32 // memory in KiB
	threads      uint8
}

var presentParams = argonParams{time: 2, memory: 19 << 10, threads: 1}

// Bounds of stored parameters: whoever can write to the database shall not be
// able to stop the service with them.
const (
	maxArgonTime   = 16
	maxArgonMemory = 256 << 10 // KiB
	saltLength     = 16
	keyLength      = 32
)

// hashWait is how long a password waits for its turn.
const hashWait = 10 * time.Second

// A hasher hashes as many passwords at a time as there are processors: more would
// not be faster and would fill the memory.
type hasher struct {
	turns  chan struct{}
	absent string // a hash that no password has, for accounts that are not there
}

func newHasher() *hasher {
	salt, key := make([]byte, saltLength), make([]byte, keyLength)
	return &hasher{turns: make(chan struct{}, runtime.NumCPU()), absent: presentParams.encode(salt, key)}
}

// hash returns the stored form of a password.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltLength)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	key, err := h.derive(ctx, presentParams, password, salt)
	if err != nil {
		return "", err
	}
	return presentParams.encode(salt, key), nil
}

// verify reports whether the password is the stored one, and whether the stored
// form is outdated. An empty stored form costs as much as any other and is
// never right.
func (h *hasher) verify(ctx context.Context, password, stored string) (ok, outdated bool, err error) {
	if stored == "" {
		stored = h.absent
	}
	p, salt, want, err := decodeHash(stored)
	if err != nil {
		return false, false, err
	}
	got, err := h.derive(ctx, p, password, salt)
	if err != nil {
		return false, false, err
	}
	ok = subtle.ConstantTimeCompare(got, want) == 1 && stored != h.absent
	return ok, p != presentParams, nil
}

// derive waits for a turn and runs argon2id. A password is compared in Unicode's
// form NFKC, because keyboards differ (NIST SP 800-63B); one that is too long is
// cut, which no stored one can match.
func (h *hasher) derive(ctx context.Context, p argonParams, password string, salt []byte) ([]byte, error) {
	wait := time.NewTimer(hashWait)
	defer wait.Stop()
	select {
	case h.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, errs.E(errs.Unavailable, "too many people sign in at the moment: try again")
	}
	defer func() { <-h.turns }()
	if len(password) > maxPassword {
		password = password[:maxPassword] + "\x00"
	}
	return argon2.IDKey(norm.NFKC.Bytes([]byte(password)), salt, p.time, p.memory, p.threads, keyLength), nil
}

// encode returns the PHC string form.
func (p argonParams) encode(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.time, p.threads,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

var errHash = errors.New("a stored password hash cannot be read")

// decodeHash reads what encode wrote.
func decodeHash(s string) (p argonParams, salt, key []byte, err error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, nil, nil, errHash
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.time, &p.threads); err != nil || n != 3 {
		return p, nil, nil, errHash
	}
	if p.time < 1 || p.time > maxArgonTime || p.memory < 8 || p.memory > maxArgonMemory || p.threads < 1 {
		return p, nil, nil, errHash
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil || len(salt) < 8 {
		return p, nil, nil, errHash
	}
	if key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(key) != keyLength {
		return p, nil, nil, errHash
	}
	return p, salt, key, nil
}
