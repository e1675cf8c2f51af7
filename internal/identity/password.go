package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go"
	"github.com/ccojocar/zxcvbn-go/matching"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"merlon/internal/errs"
	"merlon/internal/identity/passwordlist"
)

// Bounds of a password. There are no rules about kinds of characters (NIST
// SP 800-63B, section 5.1.1.2).
const (
	// NIST SP 800-63B demands 8; 12 leave a margin against offline guessing at a stolen hash.
	minPassword = 12 // characters
	// Longer ones would only cost time to hash.
	maxPassword = 1024 // bytes
	// "aaaaaaaaaaaa" is long, but no password.
	minDifferent     = 5  // different characters
	generatedLength  = 24 // of newPassword: 24 · log2(57) = 139 bits
	readableAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
)

// newPassword returns a strong password without characters that look alike.
func newPassword() string { return randomText(generatedLength, readableAlphabet) }

// minEntropy is what a password needs, in bits, as zxcvbn estimates them. It is
// where the highest of the five classes of zxcvbn begins: more than 10^12 guesses,
// which at 27 ms each are 900 years of one core.
const minEntropy = 42

// maxJudged bounds the characters that zxcvbn looks at: its time grows with the
// square of the length and more.
const maxJudged = 64

// checkPassword returns an Invalid error that says why the password is too easy
// to guess. Context is what an attacker knows of the account: addresses, names.
func checkPassword(password string, context ...string) error {
	const at = "body.password"
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return invalidInput(at, "password must have at least %d characters", minPassword)
	case len(password) > maxPassword:
		return invalidInput(at, "password must have at most %d bytes", maxPassword)
	case !utf8.ValidString(password):
		return invalidInput(at, "password must be valid UTF-8")
	}
	different := map[rune]bool{}
	for _, r := range password {
		different[r] = true
	}
	if len(different) < minDifferent {
		return invalidInput(at, "password must have at least %d different characters", minDifferent)
	}
	context = contextWords(context)
	// The order is how often a word is chosen, and zxcvbn judges by it.
	common, err := passwordlist.Common()
	if err != nil {
		return err
	}
	known := slices.Concat(context, moreWords, common)
	// NFKC and lower case: "ＰＡＳＳＷＯＲＤ" in full-width letters is as easy to guess. What a text
	// repeats is judged once.
	judged := strings.ToLower(firstRunes(repeatedUnit(norm.NFKC.String(password)), maxJudged))
	undressed := undress.Replace(judged)
	for _, form := range slices.Compact([]string{judged, undressed}) {
		// Its own matcher for substitutions takes seconds for 64 characters.
		if zxcvbn.PasswordStrength(form, known, matching.FilterL33tMatcher).Entropy >= minEntropy {
			continue
		}
		if containsAny(judged, context) || containsAny(undressed, context) {
			return invalidInput(at, "password too weak: it contains your name, your e-mail address, or the name "+
				"of this "+
				"service")
		}
		return invalidInput(at, "password too weak: it consists of common passwords, words, names, dates or keyboard "+
			"sequences")
	}
	return nil
}

// contextWords returns the words of the texts that are long enough to matter, in
// lower case.
func contextWords(texts []string) []string {
	var words []string
	for _, text := range texts {
		text = strings.ToLower(text)
		words = append(words, text)
		words = append(words, strings.FieldsFunc(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})...)
	}
	return slices.DeleteFunc(words, func(w string) bool { return utf8.RuneCountInString(w) < 3 })
}

// containsAny reports whether the text contains one of the words.
func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// repeatedUnit returns what a text repeats, and the text when it repeats nothing.
func repeatedUnit(s string) string {
	if i := strings.Index((s + s)[1:], s); i+1 < len(s) {
		return s[:i+1]
	}
	return s
}

// firstRunes returns the first n characters of a text.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// undress undoes the usual substitutions.
var undress = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!",
	"i")

// argonParams are the parameters of argon2id (RFC 9106). The present ones are
// OWASP's: 27 ms of one core and 19 MiB.
type argonParams struct {
	time, memory uint32 // memory in KiB
	threads      uint8
}

// presentParams are used for new hashes. Hashes with other parameters are replaced at the
// next sign-in.
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
	return &hasher{turns: make(chan struct{}, runtime.NumCPU()), absent: presentParams.encodeHash(salt, key)}
}

// hashPassword returns the stored form of a password.
func (h *hasher) hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltLength)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	key, err := h.deriveKey(ctx, presentParams, password, salt)
	if err != nil {
		return "", err
	}
	return presentParams.encodeHash(salt, key), nil
}

// verifyPassword reports whether the password is the stored one, and whether the stored
// form is outdated. An empty stored form costs as much as any other and is
// never right.
func (h *hasher) verifyPassword(ctx context.Context, password, stored string) (ok, outdated bool, err error) {
	if stored == "" {
		stored = h.absent
	}
	p, salt, want, err := decodeHash(stored)
	if err != nil {
		return false, false, err
	}
	got, err := h.deriveKey(ctx, p, password, salt)
	if err != nil {
		return false, false, err
	}
	ok = subtle.ConstantTimeCompare(got, want) == 1 && stored != h.absent
	return ok, p != presentParams, nil
}

// deriveKey waits for a turn and runs argon2id. A password is compared in Unicode's
// form NFKC, because keyboards differ (NIST SP 800-63B); one that is too long is
// cut, which no stored one can match.
func (h *hasher) deriveKey(ctx context.Context, p argonParams, password string, salt []byte) ([]byte, error) {
	wait := time.NewTimer(hashWait)
	defer wait.Stop()
	select {
	case h.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, errs.E(errs.Unavailable, "too many concurrent sign-ins: try again")
	}
	defer func() { <-h.turns }()
	if len(password) > maxPassword {
		password = password[:maxPassword] + "\x00"
	}
	return argon2.IDKey(norm.NFKC.Bytes([]byte(password)), salt, p.time, p.memory, p.threads, keyLength), nil
}

// encodeHash returns the PHC string form.
func (p argonParams) encodeHash(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.time, p.threads,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

var errHash = errors.New("malformed password hash")

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
