package identity

import (
	"context"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/mail"
	"merlon/internal/tenant"
)

// This file holds what goes by mail: sign-up, recovery, and the change of a
// password. Whoever asks learns nothing: whether there is an account is written
// only in the mail to its address.

// A NewUser is what the owner of an address completes a sign-up with.
type NewUser struct {
	Password string
	Names    Names
}

// SignUp sends a mail with a link behind which the account is made. Nothing that
// is typed here becomes part of the account but the address: whoever asks for
// somebody else's address sets neither its password nor its name. The response is
// the same when the address has an account already, or would need an invitation;
// its owner gets a mail.
func (s *Service) SignUp(ctx context.Context, email string, o Origin) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	if err := s.allowMail(ctx, o, email); err != nil {
		return err
	}
	u, _, err := s.Store.UserByEmail(ctx, email)
	if err != nil && !isNotFound(err) {
		return err
	}
	secret, now := newSecret(), s.now()
	r := Request{
		Hash: secretDigest(secret), Kind: SignUpRequest, Email: email,
		CreatedAt: now, ExpiresAt: now.Add(SignUpLifetime),
	}
	invited, err := s.Store.Invited(ctx, email, now)
	if err != nil {
		return err
	}
	m := mail.Verification(email, s.requestLink(VerifyPath, secret), r.ExpiresAt)
	switch {
	case u.ID != "":
		m = mail.AlreadyRegistered(email, s.AuthURL+SignInPath, s.AuthURL+ForgotPath)
	case s.InvitedOnly && !invited:
		m = mail.NotInvited(email)
	}
	return s.storeRequest(ctx, r, m, audit.Event{Action: "user.sign_up", TargetKind: "user",
		Target: string(u.ID)}.By(o.actorOf(User{})))
}

// VerifyEmail makes the account that the link of a sign-up stands for, with the
// password and the name that whoever reads the mail has chosen. Every other
// sign-up for the address ends. A link that is unknown, used or expired is a
// NotFound error; a bad password or name is Invalid and leaves the link usable.
func (s *Service) VerifyEmail(ctx context.Context, secret string, n NewUser, o Origin) (User, error) {
	r, err := s.findRequest(ctx, secret, SignUpRequest, o)
	if err != nil {
		return User{}, err
	}
	names, err := n.Names.normalizeNames()
	if err != nil {
		return User{}, err
	}
	if err := checkPassword(n.Password, s.AuthURL, r.Email, names.FirstName, names.LastName); err != nil {
		return User{}, err
	}
	password, err := s.hasher.hashPassword(ctx, n.Password)
	if err != nil {
		return User{}, err
	}
	u := s.newUser(r.Email, names)
	e := audit.Event{Action: "user.create", TargetKind: "user", Target: string(u.ID)}
	err = s.Store.ConfirmSignUp(ctx, r.Hash, u, password, e.By(o.actorOf(u)))
	if isNotFound(err) {
		return User{}, errLink()
	}
	return u, err
}

// StartRecovery sends a mail with a link to choose a new password, or, where
// there is no account, a mail that says so.
func (s *Service) StartRecovery(ctx context.Context, email string, o Origin) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	if err := s.allowMail(ctx, o, email); err != nil {
		return err
	}
	u, _, err := s.Store.UserByEmail(ctx, email)
	if err != nil && !isNotFound(err) {
		return err
	}
	secret, now := newSecret(), s.now()
	r := Request{
		Hash: secretDigest(secret), Kind: RecoveryRequest, Email: email, User: u.ID,
		CreatedAt: now, ExpiresAt: now.Add(RecoveryLifetime),
	}
	m := mail.Recovery(email, s.requestLink(RecoveryPath, secret), r.ExpiresAt)
	if u.ID == "" || !u.DisabledAt.IsZero() {
		// A request that nobody can follow is stored all the same: the work shows
		// no difference.
		r.User = ""
		m = mail.NoAccount(email, s.AuthURL+SignUpPath)
	}
	return s.storeRequest(ctx, r, m, audit.Event{Action: "user.start_recovery", TargetKind: "user",
		Target: string(u.ID)}.By(o.actorOf(User{})))
}

// Recover sets a new password by the link of a recovery. In the same transaction
// it ends every session and grant of the user and deletes the personal access
// tokens: whoever had access before has none. A link that is unknown, used or
// expired is a NotFound error; a bad password is Invalid and leaves the link
// usable.
func (s *Service) Recover(ctx context.Context, secret, password string, o Origin) (User, Ended, error) {
	r, err := s.findRequest(ctx, secret, RecoveryRequest, o)
	if err != nil {
		return User{}, Ended{}, err
	}
	u, err := s.Store.User(ctx, r.User)
	if isNotFound(err) || err == nil && !u.DisabledAt.IsZero() {
		return User{}, Ended{}, errLink()
	}
	if err != nil {
		return User{}, Ended{}, err
	}
	e := audit.Event{Action: "user.recover", TargetKind: "user", Target: string(u.ID)}
	ended, err := s.setPassword(ctx, u, password, PasswordSet{Request: r.Hash, Tokens: true}, e.By(o.actorOf(u)))
	if isNotFound(err) {
		return User{}, Ended{}, errLink()
	}
	return u, ended, err
}

// A PasswordChange is what somebody who is signed in changes the password with.
type PasswordChange struct {
	Current string
	New     string
	Keep    string // the cookie of the session that stays; empty for none
	Tokens  bool   // delete the personal access tokens too
}

// ChangePassword sets another password for the actor and ends every session but
// the one to keep, and every grant. Personal access tokens stay unless the change
// says otherwise: programs use them, and whoever changes the password knows it. A
// wrong present password is a Forbidden error.
func (s *Service) ChangePassword(ctx context.Context, by tenant.Actor, c PasswordChange) (Ended, error) {
	if by.Service {
		return Ended{}, errs.E(errs.Forbidden, "service accounts have no password")
	}
	u, err := s.Store.User(ctx, by.UserID)
	if err != nil {
		return Ended{}, err
	}
	_, stored, err := s.Store.UserByEmail(ctx, u.Email)
	if err != nil {
		return Ended{}, err
	}
	o := Origin{IP: by.IP, UserAgent: by.UserAgent, ClientID: by.ClientID}
	hit := s.newHit(s.Limits.Password, "password", string(u.ID))
	if err := s.limiter.Allow(ctx, o, hit); err != nil {
		return Ended{}, err
	}
	ok, _, err := s.hasher.verifyPassword(ctx, c.Current, stored)
	if err != nil {
		return Ended{}, err
	}
	if !ok {
		e := audit.Event{Action: "user.refuse_password_change", TargetKind: "user", Target: string(u.ID)}
		if err := s.recorder.recordUse(ctx, Use{Event: e.By(by)}); err != nil {
			return Ended{}, err
		}
		return Ended{}, errs.E(errs.Forbidden, "current password is wrong")
	}
	if err := s.limiter.Refund(ctx, hit); err != nil {
		return Ended{}, err
	}
	set := PasswordSet{Tokens: c.Tokens}
	// A cookie of somebody else's session keeps nothing.
	if se, err := s.Session(ctx, c.Keep); err == nil && se.UserID == u.ID {
		set.Keep = se.ID
	}
	e := audit.Event{Action: "user.change_password", TargetKind: "user", Target: string(u.ID)}
	return s.setPassword(ctx, u, c.New, set, e.By(by))
}

// setPassword checks and stores a password, ends what was derived from the old
// one, and tells the user by mail.
func (s *Service) setPassword(ctx context.Context, u User, password string, set PasswordSet,
	e audit.Event) (Ended, error) {
	if err := checkPassword(password, s.AuthURL, u.Email, u.FirstName, u.LastName); err != nil {
		return Ended{}, err
	}
	hash, err := s.hasher.hashPassword(ctx, password)
	if err != nil {
		return Ended{}, err
	}
	m, err := s.Post.Queue(mail.PasswordChanged(u.Email, s.AuthURL+ForgotPath, s.now(), set.Tokens))
	if err != nil {
		return Ended{}, err
	}
	set.User, set.Password, set.Mail = u.ID, hash, m
	return s.Store.SetPassword(ctx, set, e)
}

// allowMail counts a mail that somebody asks for.
func (s *Service) allowMail(ctx context.Context, o Origin, email string) error {
	return s.limiter.Allow(ctx, o, s.newHit(s.Limits.MailAccount, "mail-account", email),
		s.newHit(s.Limits.MailAddress, "mail-address", o.Address()), s.newHit(s.Limits.MailRecipient, MailRecipient,
			email))
}

// storeRequest stores a request together with its mail.
func (s *Service) storeRequest(ctx context.Context, r Request, m mail.Message, e audit.Event) error {
	q, err := s.Post.Queue(m)
	if err != nil {
		return err
	}
	return s.Store.CreateRequest(ctx, r, q, e)
}

// findRequest returns the request of a link, or a NotFound error, and counts wrong
// ones.
func (s *Service) findRequest(ctx context.Context, secret string, kind RequestKind, o Origin) (Request, error) {
	var r Request
	err := error(errLink())
	if isSecret(secret) {
		r, err = s.Store.RequestByHash(ctx, secretDigest(secret), s.now())
	}
	if err == nil && r.Kind == kind && (r.User != "" || kind == SignUpRequest) {
		return r, nil
	}
	if err != nil && !isNotFound(err) {
		return Request{}, err
	}
	if err := s.limiter.Allow(ctx, o, s.newHit(s.Limits.Link, "link", o.Address())); err != nil {
		return Request{}, err
	}
	return Request{}, errLink()
}

// errLink is the one error for all links that do not work: which reason applies is nobody's
// business but the owner's.
func errLink() *errs.Error {
	return errs.E(errs.NotFound, "invalid link: already used, expired, or incomplete")
}

// requestLink returns the address for a mail. The secret is a query parameter, and the page
// that it leads to sends no referrer.
func (s *Service) requestLink(path, secret string) string {
	return s.AuthURL + path + "?token=" + secret
}
