package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"merlon/client"
	"merlon/internal/config"
	"merlon/internal/errs"
)

// This file keeps what `merlon login` was given: one sign-in for each server, in
// a file that only its owner may read. Several commands may run at once and a
// refresh token holds only once, so whoever changes the file locks it first.

// credentials is the content of the file.
type credentials struct {
	// A server is one deployment or region, so a person may be signed in to several.
	Default string            `json:"default"` // server of the last sign-in
	Servers map[string]signIn `json:"servers"` // by address of the API
}

// A signIn is what a person's sign-in gave.
// Access is short-lived and sent with each request, Refresh is used once to get the next pair
// (RFC 6749, section 6), Expires is the end of Access. AuthURL is the base URL of the identity
// service.
type signIn struct {
	AuthURL string    `json:"authUrl"`
	Email   string    `json:"email"`
	Access  string    `json:"accessToken"`
	Refresh string    `json:"refreshToken"`
	Expires time.Time `json:"expires"`
}

// currentTokens returns the stored tokens.
func (s signIn) currentTokens() client.Tokens {
	return client.Tokens{Access: s.Access, Refresh: s.Refresh, Expires: s.Expires}
}

// setTokens stores refreshed tokens.
func (s *signIn) setTokens(t client.Tokens) {
	s.Access, s.Refresh, s.Expires = t.Access, t.Refresh, t.Expires
}

// A wallet is the file.
// The lock is a file beside it, since the file itself is replaced at each change.
type wallet struct{ path string }

// openWallet finds the file in the user's folder of settings.
func openWallet(host Host) (wallet, error) {
	// XDG_CONFIG_HOME has to be absolute (XDG Base Directory Specification); a relative one is
	// ignored.
	dir := host.Getenv("XDG_CONFIG_HOME")
	if home := host.Getenv("HOME"); !filepath.IsAbs(dir) && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return wallet{}, fmt.Errorf("find the folder of your settings: %w", err)
		}
	}
	return wallet{filepath.Join(dir, "merlon", "credentials.json")}, nil
}

// readCredentials returns what the file holds; no file holds nothing.
func (w wallet) readCredentials() (credentials, error) {
	c := credentials{Servers: map[string]signIn{}}
	text, err := os.ReadFile(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	// Not overwritten: the user may want to repair it.
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s is damaged; sign in again after removing it: %w", w.path, err)
	}
	// JSON null gives a nil map, to which nothing can be added.
	if c.Servers == nil {
		c.Servers = map[string]signIn{}
	}
	return c, nil
}

// updateCredentials lets f change what the file holds, while nobody else does.
// f may contact the server while the lock is held: that is the purpose, see tokenSource. An error
// of f leaves the file as it is.
func (w wallet) updateCredentials(f func(*credentials) error) error {
	// 0700: the folder may contain nothing that others can read.
	if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
		return err
	}
	unlock, err := lockFile(w.path + ".lock")
	if err != nil {
		return fmt.Errorf("lock your credentials: %w", err)
	}
	defer unlock()
	c, err := w.readCredentials()
	if err != nil {
		return err
	}
	if err := f(&c); err != nil {
		return err
	}
	return w.writeCredentials(c)
}

// writeCredentials replaces the file as a whole.
func (w wallet) writeCredentials(c credentials) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	// A rename is atomic: a process that is killed leaves the old or the new file, never half a
	// file.
	tmp, err := os.CreateTemp(filepath.Dir(w.path), ".credentials-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // it has its name by then
	_, err = tmp.Write(append(text, '\n'))
	// Sync before the rename, or a crash of the machine could leave an empty file under the name.
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), w.path)
}

// tokenSource gives the access tokens of the sign-in on a server. The one who finds
// the access token ended gets a new one for all, under the lock.
// rejected is the access token that the server has just refused, or "": it is not used again even
// if its time is not over, since it may have been revoked.
func (w wallet) tokenSource(id *client.Identity) client.Source {
	var mu sync.Mutex
	var tokens client.Tokens
	return func(ctx context.Context, rejected string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		good := func() bool { return tokens.Fresh(time.Now()) && tokens.Access != rejected }
		if good() {
			return tokens.Access, nil
		}
		// Another process may have refreshed in the meantime, so the file is read again under the
		// lock. Two refreshes with one token would look like theft to the server, which then ends
		// the sign-in.
		err := w.updateCredentials(func(c *credentials) error {
			s := c.Servers[id.BaseURL]
			if tokens = s.currentTokens(); good() {
				return nil
			}
			if s.Refresh == "" {
				return notSignedIn(id.BaseURL)
			}
			var err error
			if tokens, err = id.Refresh(ctx, s.Refresh); err != nil {
				return explainEndedSession(id.BaseURL, err)
			}
			s.setTokens(tokens)
			c.Servers[id.BaseURL] = s
			return nil
		})
		return tokens.Access, err
	}
}

// notSignedIn returns the error that tells the user how to sign in.
func notSignedIn(server string) error {
	return errs.E(errs.Unauthenticated, "not signed in to %s: run merlon login --server %s, or set MERLON_TOKEN to a "+
		"personal access token", server, server)
}

// explainEndedSession says in words that a sign-in does not hold any more.
// invalid_grant is the OAuth error for a refresh token that is expired, used or revoked (RFC
// 6749, section 5.2); other errors, such as a network failure, may pass.
func explainEndedSession(server string, err error) error {
	var failure *client.Error
	if errors.As(err, &failure) && failure.Code == "invalid_grant" {
		return errs.Wrap(errs.Unauthenticated, err, "the sign-in to %s has ended: run merlon login --server %s", server,
			server)
	}
	return fmt.Errorf("renew the sign-in: %w", err)
}

// serverOptions are the options of commands that talk to a server.
type serverOptions struct {
	Server  string `placeholder:"URL" group:"Server" help:"Base URL of the server's API. Default: that of the last merlon login."`
	AuthURL string `placeholder:"URL" group:"Server" help:"URL of the server's identity service. Default: that of merlon login, or --server."`
}

// openIdentity returns the identity service that is meant, and the wallet.
func (o serverOptions) openIdentity(host Host) (*client.Identity, wallet, error) {
	w, err := openWallet(host)
	if err != nil {
		return nil, w, err
	}
	c, err := w.readCredentials()
	if err != nil {
		return nil, w, err
	}
	id := &client.Identity{BaseURL: strings.TrimRight(o.Server, "/"), AuthURL: strings.TrimRight(o.AuthURL, "/")}
	// The server of the last sign-in is the default, so that --server is rarely needed.
	if id.BaseURL == "" {
		id.BaseURL = c.Default
	}
	if id.BaseURL == "" {
		return nil, w, errs.E(errs.Invalid, "name the server: --server URL, or MERLON_SERVER")
	}
	if id.AuthURL == "" {
		id.AuthURL = c.Servers[id.BaseURL].AuthURL
	}
	// Only to validate the URL: no request is sent.
	if _, err := client.New(client.Options{BaseURL: id.BaseURL}); err != nil {
		return nil, w, errs.Wrap(errs.Invalid, err, "--server")
	}
	return id, w, nil
}

// connectClient returns a client of the server, as the owner of the personal access
// token, or without one as who has signed in.
func (o serverOptions) connectClient(host Host, token string) (*client.Client, error) {
	id, w, err := o.openIdentity(host)
	if err != nil {
		return nil, err
	}
	source := w.tokenSource(id)
	if token != "" {
		source = id.PersonalToken(token)
	}
	return newClient(id, source)
}

// newClient returns a client of the API that the identity service names as its resource.
func newClient(id *client.Identity, source client.Source) (*client.Client, error) {
	return client.New(client.Options{BaseURL: id.BaseURL, Source: source, UserAgent: "merlon/" + config.Version})
}
