package oidc_test

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// TestOpenIDClient signs in, silently and again, renews, asks about and revokes
// tokens with two versions of a public OpenID client that nobody here wrote, with
// its defaults. The clients are installed by scripts/deps.sh.
func TestOpenIDClient(t *testing.T) {
	const dir = "../../test/openid"
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	for _, version := range []string{"5", "6"} {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", "openid-client-"+version)); err != nil {
			t.Skip("openid-client is not installed: run scripts/deps.sh")
		}
		t.Run(version, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
				w := newWorld(t, db, nil) // the client looks at the real clock
				ca := filepath.Join(t.TempDir(), "ca.pem")
				if err := os.WriteFile(ca,
					pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw}),
					0o600); err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(t.Context(), node, "client.mjs", version)
				cmd.Dir, cmd.Stderr = dir, t.Output()
				cmd.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+ca, "ISSUER="+w.url+"/oidc", "CLIENT_ID=web",
					"CLIENT_SECRET="+secret,
					"REDIRECT_URI="+webCallback, "LOGOUT_URI=https://web.example.test/")
				checkOpenIDClient(t, w, w.runClient(cmd))
			})
		})
	}
}

// A clientReport is what client.mjs prints at its end.
type clientReport struct {
	Subject, SilentSubject, RenewedSubject, Email, Logout string
	Active, AfterRevocation                               bool
}

// runClient runs the client and plays the browser for it.
func (w *world) runClient(cmd *exec.Cmd) (report clientReport) {
	w.t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "open "); ok {
			fmt.Fprintln(in, w.browse(address))
		} else if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			w.t.Errorf("the client printed %q", lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		w.t.Fatalf("the client failed: %v", err)
	}
	return report
}

// browse opens an authorization request, signs in and agrees where it is asked to,
// and returns the address that leads back to the application.
func (w *world) browse(address string) string {
	w.t.Helper()
	a := w.get(address)
	for range 10 {
		to := a.header.Get("Location")
		switch {
		case strings.HasPrefix(to, webCallback):
			return to
		case a.status == 303:
			a = w.follow(a)
		case strings.Contains(a.text, `value="allow"`):
			a = w.submit(a, "/auth/consent", "decision", "allow")
		default:
			a = w.signIn(a)
		}
	}
	w.t.Fatalf("no way back to the application from %s", address)
	return ""
}

func checkOpenIDClient(t *testing.T, w *world, got clientReport) {
	t.Helper()
	id := string(w.user.ID)
	if got.Subject != id || got.SilentSubject != id || got.RenewedSubject != id || got.Email != w.user.Email {
		t.Errorf("the client knows %+v, want %s", got, id)
	}
	if !got.Active || got.AfterRevocation {
		t.Errorf("the access token is active %v, after revocation %v", got.Active, got.AfterRevocation)
	}
	u, err := url.Parse(got.Logout)
	if err != nil {
		t.Fatal(err)
	}
	if a := w.get(got.Logout); u.Path != "/oidc/end_session" ||
		a.header.Get("Location") != "https://web.example.test/" {
		t.Errorf("sign-out: %d to %q", a.status, a.header.Get("Location"))
	}
}
