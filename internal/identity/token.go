package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/mail"
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

	Scopes        tenant.TokenScopes
	Organizations []tenant.OrganizationID // the only ones that it reaches; empty for all of the owner's
	Projects      []tenant.ProjectID      // the only ones that it reaches inside of those; empty for all
}

// Limits returns what the token lets through at a time.
func (t Token) Limits(now time.Time) tenant.TokenLimits {
	return tenant.TokenLimits{
		Scopes: t.Scopes, Organizations: t.Organizations, Projects: t.Projects, ExpiresAt: t.ExpiresAt,
		Age: now.Sub(t.CreatedAt),
	}
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
			panic("identity: read random bytes: " + err.Error()) // crypto/rand never fails on a supported system
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
	return body + tokenChecksum(body)
}

// wellFormed reports whether the value can be one that newTokenValue made.
func wellFormed(value string) bool {
	if len(value) != tokenLength || !strings.HasPrefix(value, tokenPrefix) {
		return false
	}
	body := value[:tokenLength-checksumLength]
	return onlyDigits(value[len(tokenPrefix):]) && value[len(body):] == tokenChecksum(body)
}

func tokenChecksum(s string) string {
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

// secretDigest returns what is stored of a secret: 256 random bits need no salt and no
// slow hash.
func secretDigest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// A NewToken says what token to make.
type NewToken struct {
	Owner     tenant.UserID
	Name      string    // unique among the owner's
	ExpiresAt time.Time // zero for as late as may be

	Scopes        tenant.TokenScopes      // none for as many as may be
	Organizations []tenant.OrganizationID // none for as many as may be
	Projects      []tenant.ProjectID      // none for as many as may be
}

// CreateToken makes a token and returns its value, which nobody can ever read
// again; its owner gets a mail. The caller has checked that by may make it for the
// owner; a service account never may. The token does not outlive or exceed the one
// that by is authenticated with: more is a Forbidden error. Beyond what an
// organization of the owner allows it is Invalid. A name in use is a Conflict
// error.
func (s *Service) CreateToken(ctx context.Context, by tenant.Actor, n NewToken) (Token, string, error) {
	if by.Service {
		return Token{}, "", errs.E(errs.Forbidden, "service accounts cannot create tokens")
	}
	now := s.now()
	name, err := tokenName("body.name", n.Name)
	if err != nil {
		return Token{}, "", err
	}
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now) {
		return Token{}, "", invalidInput("body.expiresAt", "must be in the future")
	}
	t := Token{
		ID: TokenID(tenant.NewID(s.Region, now)), Owner: n.Owner, Name: name, CreatedAt: now, Scopes: n.Scopes.Whole(),
		Organizations: n.Organizations, Projects: n.Projects, ExpiresAt: n.ExpiresAt.UTC().Truncate(time.Millisecond),
	}
	if err := t.limitTo(by.Limits); err != nil {
		return Token{}, "", err
	}
	if err := s.withinOrganizations(ctx, &t); err != nil {
		return Token{}, "", err
	}
	m, err := s.tokenMail(ctx, t)
	if err != nil {
		return Token{}, "", err
	}
	if m.ID != "" {
		// Counted apart from what others send to the address: they keep nobody from this.
		if err := s.Allow(ctx, by, s.newHit(s.Limits.TokenMail, "token-mail", string(n.Owner))); err != nil {
			return Token{}, "", err
		}
	}
	value := newTokenValue()
	e := tokenEvent("token.create", n.Owner, name)
	e.Detail["scopes"] = t.Scopes.Names()
	if err := s.Store.CreateToken(ctx, t, secretDigest(value), m, e.By(by)); err != nil {
		return Token{}, "", err
	}
	return t, value, nil
}

// limitTo gives the token as much as the token of its maker has where nothing was
// asked for, and refuses more.
func (t *Token) limitTo(maker *tenant.TokenLimits) error {
	if maker == nil {
		maker = &tenant.TokenLimits{Scopes: tenant.AllTokenScopes}
	}
	if t.Scopes == 0 {
		t.Scopes = maker.Scopes
	}
	if len(t.Organizations) == 0 {
		t.Organizations = maker.Organizations
	}
	if len(t.Projects) == 0 {
		t.Projects = maker.Projects
	}
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = maker.ExpiresAt
	}
	if err := maker.Require(t.Scopes); err != nil {
		return err
	}
	switch {
	case !maker.Cover(t.Limits(t.CreatedAt)):
		return errs.E(errs.Forbidden, "the new token cannot have access to more organizations or projects than the "+
			"current token")
	case !maker.ExpiresAt.IsZero() && t.ExpiresAt.After(maker.ExpiresAt):
		return errs.E(errs.Forbidden, "the new token cannot expire after the current token, which expires at %s",
			maker.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}

// withinOrganizations ends the token when the first of its organizations wants it
// to end, where no end was asked for, and refuses a later one.
func (s *Service) withinOrganizations(ctx context.Context, t *Token) error {
	list, err := s.Store.Memberships(ctx, t.Owner)
	if err != nil {
		return err
	}
	limits := t.Limits(t.CreatedAt)
	asked := !t.ExpiresAt.IsZero()
	for _, m := range list {
		if m.MaxTokenDays == 0 || !limits.Reaches(m.Organization) {
			continue
		}
		last := t.CreatedAt.Add(daysOf(m.MaxTokenDays))
		switch {
		case !asked && (t.ExpiresAt.IsZero() || last.Before(t.ExpiresAt)):
			t.ExpiresAt = last
		case t.ExpiresAt.After(last):
			return invalidInput("body.expiresAt", "the organization %s limits token lifetime to %d days: set an "+
				"expiry "+
				"before %s, or restrict the token to other organizations",
				m.Name, m.MaxTokenDays, last.Format(time.RFC3339))
		}
	}
	return nil
}

// tokenMail returns the mail that tells the owner about a new token; none for a
// service account, which has no mail, and for the command that makes the first
// administrator, which has no key to seal mails with and prints the token.
func (s *Service) tokenMail(ctx context.Context, t Token) (mail.Queued, error) {
	u, err := s.Store.User(ctx, t.Owner)
	if err != nil || u.Service() || s.Post.Box == nil {
		return mail.Queued{}, err
	}
	return s.Post.Queue(mail.TokenCreated(u.Email, mail.NewToken{
		Name: t.Name, Scopes: t.Scopes.Names(), Limited: len(t.Organizations)+len(t.Projects) > 0,
		Created: t.CreatedAt, Expires: t.ExpiresAt, Account: s.AuthURL + AccountPath,
	}))
}

func tokenName(location, name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", invalidInput(location, "name is required")
	}
	return name, checkLabel(location, name)
}

func tokenEvent(action string, owner tenant.UserID, name string) audit.Event {
	return audit.Event{Action: action, TargetKind: "user", Target: string(owner), Detail: map[string]any{"token": name}}
}

// Tokens returns the owner's tokens, oldest first: those that the actor's token
// covers.
func (s *Service) Tokens(ctx context.Context, by tenant.Actor, owner tenant.UserID) ([]Token, error) {
	list, err := s.Store.Tokens(ctx, owner)
	return slices.DeleteFunc(list, func(t Token) bool { return !by.Limits.Cover(t.Limits(s.now())) }), err
}

// checkTokenCovered returns a NotFound error unless the actor's token covers the owner's
// token with the name.
func (s *Service) checkTokenCovered(ctx context.Context, by tenant.Actor, owner tenant.UserID, name string) error {
	missing := errs.E(errs.NotFound, "token not found")
	if checkLabel("", name) != nil {
		return missing
	}
	if !by.Limits.Restricted() {
		return nil
	}
	list, err := s.Tokens(ctx, by, owner)
	if err == nil && !slices.ContainsFunc(list, func(t Token) bool { return t.Name == name }) {
		return missing
	}
	return err
}

// RenameToken renames the owner's token.
func (s *Service) RenameToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, from, to string) error {
	to, err := tokenName("body.name", to)
	if err != nil {
		return err
	}
	if err := s.checkTokenCovered(ctx, by, owner, from); err != nil {
		return err
	}
	e := tokenEvent("token.rename", owner, from)
	e.Detail["to"] = to
	return s.Store.RenameToken(ctx, owner, from, to, e.By(by))
}

// DeleteToken removes the owner's token: it does not work from now on.
func (s *Service) DeleteToken(ctx context.Context, by tenant.Actor, owner tenant.UserID, name string) error {
	if err := s.checkTokenCovered(ctx, by, owner, name); err != nil {
		return err
	}
	return s.Store.DeleteToken(ctx, owner, name, tokenEvent("token.delete", owner, name).By(by))
}

// VerifyToken returns the token with its owner, and records the use. A token that
// is unknown, expired or deleted, or whose owner is disabled, is one and the same
// Unauthenticated error; an address that tries too many of them gets TooMany. A
// valid token is never refused for what others do, but when it is too old for every
// organization that it reaches.
func (s *Service) VerifyToken(ctx context.Context, value string, o Origin) (Token, User, error) {
	if !wellFormed(value) {
		return Token{}, User{}, s.refuseToken(ctx, o, "malformed", "")
	}
	t, u, old, err := s.Store.TokenByHash(ctx, secretDigest(value))
	if isNotFound(err) {
		return Token{}, User{}, s.refuseToken(ctx, o, "unknown", "")
	}
	if err != nil {
		return Token{}, User{}, err
	}
	now := s.now()
	switch {
	case !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt):
		return Token{}, User{}, s.refuseToken(ctx, o, "expired", u.ID)
	case !u.DisabledAt.IsZero():
		return Token{}, User{}, s.refuseToken(ctx, o, "disabled", u.ID)
	case old:
		if err := s.tooOld(ctx, o, t); err != nil {
			return Token{}, User{}, err
		}
	}
	use := Use{Event: tokenEvent("token.exchange", u.ID, t.Name).By(o.actorOf(u)), At: now}
	if now.Sub(t.LastUsedAt) >= usedEvery || now.Before(t.LastUsedAt) {
		use.Token = t.ID
	}
	return t, u, s.recorder.recordUse(ctx, use)
}

// tooOld returns an Unauthenticated error when no organization that the token
// reaches takes it any more. While one does, it stays valid there, and the others
// are not found with it.
func (s *Service) tooOld(ctx context.Context, o Origin, t Token) error {
	list, err := s.Store.Memberships(ctx, t.Owner)
	if err != nil {
		return err
	}
	limits := t.Limits(s.now())
	var refusing string
	for _, m := range list {
		switch {
		case !limits.Reaches(m.Organization):
		case !m.rejectsTokenAge(limits.Age):
			return nil
		default:
			refusing = m.Name
		}
	}
	if refusing == "" {
		return nil
	}
	if err := s.refuseToken(ctx, o, "too old", t.Owner); !errs.Is(err, errs.Unauthenticated) {
		return err
	}
	return errs.E(errs.Unauthenticated, "the personal access token exceeds the maximum lifetime of the organization "+
		"%s: create a new one", refusing)
}

// refuseToken counts a failed exchange, records it, and returns the error.
func (s *Service) refuseToken(ctx context.Context, o Origin, reason string, owner tenant.UserID) error {
	if err := s.limiter.Allow(ctx, o, s.newHit(s.Limits.Exchange, "exchange", o.Address())); err != nil {
		return err
	}
	e := audit.Event{
		Action: "token.refuse", TargetKind: "user", Target: string(owner),
		Detail: map[string]any{"reason": reason},
	}
	if err := s.recorder.recordUse(ctx, Use{Event: e.By(o.actorOf(User{}))}); err != nil {
		return err
	}
	return errs.E(errs.Unauthenticated, "invalid personal access token: unknown, expired or deleted")
}

// actorOf returns the user as the one who acts.
func (o Origin) actorOf(u User) tenant.Actor {
	return tenant.Actor{UserID: u.ID, Service: u.Service(), ClientID: o.ClientID, IP: o.IP, UserAgent: o.UserAgent}
}
