package cli

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"time"

	"merlon/client"
)

// loginCommand signs in to a server through the browser, by the authorization code flow with
// PKCE (RFC 7636) and a loopback redirect (RFC 8252, section 7.3).
type loginCommand struct {
	serverOptions `embed:""`

	Device  bool `help:"Sign in on another device with a code (RFC 8628)."`
	Browser bool `default:"true" negatable:"" help:"Open the browser. Otherwise only the URL is printed."`
}

// Help is the manual of the command.
func (loginCommand) Help() string {
	return `Opens a browser to sign in, which redirects to a port of this machine. With --device
use a browser on any machine. The tokens are stored in merlon/credentials.json in the
user's configuration folder, readable by the user only, until merlon logout.`
}

// signInTime is how long a person has to sign in with the browser.
// Long enough for a second factor and a forgotten password; the local port is open for that time.
const signInTime = 5 * time.Minute

// Run signs in.
func (c *loginCommand) Run(ctx context.Context, host Host) error {
	id, w, err := c.openIdentity(host)
	if err != nil {
		return err
	}
	var tokens client.Tokens
	if c.Device {
		tokens, err = byDevice(ctx, host, id)
	} else {
		tokens, err = c.byBrowser(ctx, host, id)
	}
	if err != nil {
		return fmt.Errorf("sign in to %s: %w", id.BaseURL, err)
	}
	api, err := newClient(id, client.Static(tokens.Access))
	if err != nil {
		// The profile is read before the tokens are stored: a sign-in that does not work is not
		// kept.
		return err
	}
	profile, err := api.Profile(ctx)
	if err != nil {
		return fmt.Errorf("get the user of the sign-in from %s: %w", id.BaseURL, err)
	}
	err = w.updateCredentials(func(all *credentials) error {
		s := signIn{AuthURL: id.AuthURL, Email: profile.Email}
		s.setTokens(tokens)
		all.Default, all.Servers[id.BaseURL] = id.BaseURL, s
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the credentials: %w", err)
	}
	// An identity service may not issue refresh tokens to this client (scope offline_access).
	if tokens.Refresh == "" {
		host.printError("the server issued no refresh token: sign in again when the access token expires")
	}
	_, err = fmt.Fprintf(host.Stdout, "Signed in to %s as %s.\n", id.BaseURL, profile.Email)
	return err
}

// byDevice signs in with a code that the person types elsewhere.
// The code goes to standard error: standard output is for results.
func byDevice(ctx context.Context, host Host, id *client.Identity) (client.Tokens, error) {
	d, err := id.Device(ctx)
	if err != nil {
		return client.Tokens{}, err
	}
	if _, err := fmt.Fprintf(host.Stderr, "Open %s on any device and type the code %s\n", d.Page, d.User); err != nil {
		return client.Tokens{}, err
	}
	return id.WaitDevice(ctx, d)
}

// byBrowser signs in with the browser, which is sent back to a port of the
// loopback interface (RFC 8252, section 7.3).
func (c *loginCommand) byBrowser(ctx context.Context, host Host, id *client.Identity) (client.Tokens, error) {
	// Port 0 is a free one: RFC 8252 requires servers to accept any port of a loopback redirect.
	// The literal address is used since localhost may resolve to another one (section 8.3).
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return client.Tokens{}, err
	}
	in := client.SignIn{Redirect: "http://" + listener.Addr().String() + "/callback", State: rand.Text(),
		// rand.Text has 26 characters; RFC 7636 requires 43 to 128 for a verifier.
		Verifier: rand.Text() + rand.Text()}
	// A buffer of one, so the handler never waits.
	back := &returning{state: in.State, result: make(chan url.Values, 1)}
	server := &http.Server{Handler: back, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Shutdown
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // the last page must leave
		defer cancel()
		_ = server.Shutdown(closing) // the process ends soon
	}()
	page, err := id.SignInAddress(ctx, in)
	if err != nil {
		return client.Tokens{}, err
	}
	if _, err := fmt.Fprintf(host.Stderr, "Sign in with the browser:\n%s\n", page); err != nil {
		return client.Tokens{}, err
	}
	if c.Browser {
		openBrowser(page)
	}
	// The cause becomes the error message in place of "context deadline exceeded".
	ctx, cancel := context.WithTimeoutCause(ctx, signInTime, fmt.Errorf("no sign-in within %v", signInTime))
	defer cancel()
	select {
	case <-ctx.Done():
		return client.Tokens{}, context.Cause(ctx)
	case answer := <-back.result:
		return id.Redeem(ctx, in, answer)
	}
}

// openBrowser opens the page, as well as it can: the address is printed too.
func openBrowser(page string) {
	command := []string{"xdg-open", page}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", page}
	}
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // it is the browser's own business how it ends
	}
}

// returning takes the browser back. Only the first answer with the right state
// counts; anything else on this machine may call the port as well.
type returning struct {
	state  string
	result chan url.Values
}

// ServeHTTP receives the redirect of the identity service. It compares the state parameter in
// constant time, so that another site cannot complete the sign-in with a code of its own (login
// CSRF).
// A wrong state gets 404, as if nothing were here.
func (c *returning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if r.Method != http.MethodGet || r.URL.Path != "/callback" || subtle.ConstantTimeCompare([]byte(query.Get("state")),
		[]byte(c.state)) != 1 {
		http.NotFound(w, r)
		return
	}
	select {
	case c.result <- query:
	default: // the browser asks again for what it has
	}
	status, text := http.StatusOK, "You are signed in. Close this page and go back to the command line."
	if query.Get("code") == "" {
		status, text = http.StatusBadRequest, "The sign-in failed: "+query.Get("error")+" "+
			query.Get("error_description")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// The page shows texts of the address: with the policy none of it can load or run anything.
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer") // the address holds the code
	w.WriteHeader(status)
	// the browser may be gone
	_, _ = fmt.Fprintf(w, "<!doctype html><title>Merlon</title><p>%s</p>\n", html.EscapeString(text))
}

// logoutCommand revokes the tokens of a sign-in and removes them from the credentials file.
type logoutCommand struct {
	serverOptions `embed:""`
}

// Run ends the sign-in at the server and forgets it here.
func (c *logoutCommand) Run(ctx context.Context, host Host) error {
	id, w, err := c.openIdentity(host)
	if err != nil {
		return err
	}
	var revoked error
	// Under the lock, so no other command refreshes the token that is being revoked.
	err = w.updateCredentials(func(all *credentials) error {
		s, ok := all.Servers[id.BaseURL]
		if !ok {
			return notSignedIn(id.BaseURL)
		}
		if s.Refresh != "" {
			revoked = id.Revoke(ctx, s.Refresh)
		}
		// The local copy is deleted also when the revocation fails; the user is told that the
		// token may live on.
		delete(all.Servers, id.BaseURL)
		if all.Default == id.BaseURL {
			all.Default = ""
		}
		return nil
	})
	if err != nil {
		return err
	}
	if revoked != nil {
		return fmt.Errorf("the local credentials are removed, but %s did not revoke the token: %w", id.BaseURL, revoked)
	}
	_, err = fmt.Fprintf(host.Stdout, "Signed out of %s.\n", id.BaseURL)
	return err
}
