package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// A TokenID identifies a personal access token.
type TokenID string

// A Token is a personal access token, or the token of a service account. Its
// value is known only to whoever made it.
type Token struct {
	ID         TokenID
	Owner      tenant.UserID
	Name       string
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero for never
	LastUsedAt time.Time // zero for never; exact to a minute
}

// MaxTokens bounds the tokens of one owner.
const MaxTokens = 100

// This part of the file is the form of a token's value: the prefix, by which
// secret scanners know it, 43 digits of base 62 that hold 256 random bits, and
// six digits with the CRC-32 (IEEE) of all that stands before. The checksum lets
// a mistyped value, or a look-alike in a scan, be told without asking anybody.

const (
	tokenPrefix    = "mrl_pat_"
	digits         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secretLength   = 43 // 62^43 > 2^256
	checksumLength = 6  // 62^6 > 2^32
	tokenLength    = len(tokenPrefix) + secretLength + checksumLength
)

// newSecret returns 256 random bits as digits.
func newSecret() string { return randomText(secretLength, digits) }

// randomText returns n characters, each drawn evenly from the alphabet, which
// has at most 256.
func randomText(n int, alphabet string) string {
	out := make([]byte, 0, n)
	even := 256 - 256%len(alphabet) // bytes beyond would favour the first characters
	var buf [64]byte
	for len(out) < n {
		if _, err := rand.Read(buf[:]); err != nil {
			panic("identity: no randomness: " + err.Error()) // crypto/rand never fails on a supported system
		}
		for _, b := range buf {
			if int(b) < even && len(out) < n {
				out = append(out, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(out)
}

func newTokenValue() string {
	body := tokenPrefix + newSecret()
	return body + checksum(body)
}

// wellFormed reports whether the value can be one that newTokenValue made.
func wellFormed(value string) bool {
	if len(value) != tokenLength || !strings.HasPrefix(value, tokenPrefix) {
		return false
	}
	body := value[:tokenLength-checksumLength]
	return onlyDigits(value[len(tokenPrefix):]) && value[len(body):] == checksum(body)
}

func checksum(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	var out [checksumLength]byte
	for i := range out {
		out[len(out)-1-i] = digits[sum%62]
		sum /= 62
	}
	return string(out[:])
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(digits, s[i]) < 0 {
			return false
		}
	}
	return true
}

// digest returns what is stored of a secret: 256 random bits need no salt and no
// slow hash.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// A NewToken says what token to make.
type NewToken struct {
	Owner     tenant.UserID
	Name      string    // unique among the owner's
	ExpiresAt time.Time // zero for never
}

// CreateToken makes a token and returns its value, which nobody can ever read
// again. The caller has checked that by may make it for the owner; a service
// account never may. A name in use is a Conflict error.
func (s *Service) CreateToken(ctx context.Context, by tenant.Actor, n NewToken) (Token, string, error) {
	if by.Service {
		return Token{}, "", errs.E(errs.Forbidden, "a service account cannot create tokens")
	}
	now := s.now()
	name, err := tokenName("body.name", n.Name)
	if err != nil {
		return Token{}, "", err
	}
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now) {
		return Token{}, "", invalid("body.expiresAt", "the time lies in the past")
	}
	t := Token{
		ID: TokenID(tenant.NewID(s.Region, now)), Owner: n.Owner, Name: name,
		CreatedAt: now, ExpiresAt: n.ExpiresAt.UTC().Truncate(time.Millisecond),
	}
	value := newTokenValue()
	e := tokenEvent("token.create", n.Owner, name)
	if err := s.Store.CreateToken(ctx, t, digest(value), e.By(by)); err != nil {
		return Token{}, "", err
	}
	return t, value, nil
}

func tokenName(location, name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", invalid(location, "a name is required")
	}
	return name, checkLabel(location, name)
}

func tokenEvent(action string, owner tenant.UserID, name string) audit.Event {
	return audit.Event{Action: action, TargetKind: "user", Target: string(owner), Detail: map[string]any{"token": name}}
}

// Tokens returns the owner's tokens, oldest first.
func (s *Service) Tokens(ctx context.Context, owner tenant.UserID) ([]Token, error) {
	return s.Store.Tokens(ctx, owner)
}

// RenameToken renames the owner's token.
func (s *Service) RenameToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, from, to string) error {
	to, err := tokenName("body.name", to)
	if err != nil {
		return err
	}
	if checkLabel("", from) != nil {
		return errs.E(errs.NotFound, "there is no token with such a name")
	}
	e := tokenEvent("token.rename", owner, from)
	e.Detail["to"] = to
	return s.Store.RenameToken(ctx, owner, from, to, e.By(by))
}

// DeleteToken removes the owner's token: it does not work from now on.
func (s *Service) DeleteToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, name string) error {
	if checkLabel("", name) != nil {
		return errs.E(errs.NotFound, "there is no token with such a name")
	}
	return s.Store.DeleteToken(ctx, owner, name, tokenEvent("token.delete", owner, name).By(by))
}

// VerifyToken returns the user whose token it is, and records the use. A token
// that is unknown, expired or deleted, or whose owner is disabled, is one and the
// same Unauthenticated error; an address that tries too many of them gets
// TooMany. A token that holds is never refused for what others do.
func (s *Service) VerifyToken(ctx context.Context, value string, o Origin) (User, error) {
	if !wellFormed(value) {
		return User{}, s.refuseToken(ctx, o, "malformed", "")
	}
	t, u, err := s.Store.TokenByHash(ctx, digest(value))
	if isNotFound(err) {
		return User{}, s.refuseToken(ctx, o, "unknown", "")
	}
	if err != nil {
		return User{}, err
	}
	now := s.now()
	switch {
	case !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt):
		return User{}, s.refuseToken(ctx, o, "expired", u.ID)
	case !u.DisabledAt.IsZero():
		return User{}, s.refuseToken(ctx, o, "disabled", u.ID)
	}
	use := Use{Event: tokenEvent("token.exchange", u.ID, t.Name).By(o.actor(u)), At: now}
	if now.Sub(t.LastUsedAt) >= usedEvery || now.Before(t.LastUsedAt) {
		use.Token = t.ID
	}
	return u, s.recorder.record(ctx, use)
}

// refuseToken counts a failed exchange, records it, and returns the error.
func (s *Service) refuseToken(ctx context.Context, o Origin, reason string, owner tenant.UserID) error {
	if err := s.limiter.Allow(ctx, o, s.hit(s.Limits.Exchange, "exchange", o.Address())); err != nil {
		return err
	}
	e := audit.Event{
		Action: "token.refuse", TargetKind: "user", Target: string(owner),
		Detail: map[string]any{"reason": reason},
	}
	if err := s.recorder.record(ctx, Use{Event: e.By(o.actor(User{}))}); err != nil {
		return err
	}
	return errs.E(errs.Unauthenticated, "the personal access token is not valid: it is mistyped, expired or deleted")
}

// actor returns the user as the one who acts.
func (o Origin) actor(u User) tenant.Actor {
	return tenant.Actor{UserID: u.ID, Service: u.Service(), ClientID: o.ClientID, IP: o.IP, UserAgent: o.UserAgent}
}
