package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"merlon/internal/run"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// A deployment is the program as people run it: one process that serves and
// works, over a data folder or a PostgreSQL database.
type deployment struct {
	*site
	program string
	flags   []string // that say where the data are
	also    []string // further flags of serve
	listen  string
	cmd     *exec.Cmd
	working []*exec.Cmd // workers
	token   string      // personal access token
	project string
}

// newDeployment bootstraps a deployment and serves it.
func newDeployment(t *testing.T, program string, p place, flags ...string) *deployment {
	t.Helper()
	d := prepare(t, program, p, flags...)
	d.serve()
	return d
}

// prepare bootstraps a deployment.
func prepare(t *testing.T, program string, p place, flags ...string) *deployment {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{site: &site{t: t, dir: folder(t), place: p}, program: program, flags: flags,
		listen: l.Addr().String()}
	d.must(l.Close())
	args := append([]string{"admin", "bootstrap", "--email", "a@example.com", "--organization", "O", "--team", "T",
		"--project", "P", "--format", "json"}, flags...)
	out, err := exec.Command(program, args...).Output()
	d.must(err)
	var made struct {
		OrganizationID, TeamID, ProjectID, PersonalAccessToken string
	}
	d.must(json.Unmarshal(out, &made))
	d.token, d.project = made.PersonalAccessToken, made.ProjectID
	d.sc = tenant.System(tenant.OrganizationID(made.OrganizationID), tenant.TeamID(made.TeamID),
		tenant.ProjectID(made.ProjectID))
	d.db, err = p.open(t.Context(), time.Now)
	d.must(err)
	t.Cleanup(func() { d.must(d.db.Close()) })
	t.Cleanup(d.kill)
	return d
}

// serve starts the process and waits until it answers.
func (d *deployment) serve() {
	d.t.Helper()
	d.cmd = exec.Command(d.program, slices.Concat([]string{"serve", "--listen", d.listen}, d.flags, d.also)...)
	log, err := os.OpenFile(filepath.Join(d.dir, "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	d.must(err)
	defer func() { _ = log.Close() }()
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.must(d.cmd.Start())
	deadline := time.Now().Add(patience)
	for {
		res, err := http.Get("http://" + d.listen + "/")
		if err == nil {
			_ = res.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			d.t.Fatalf("the service does not respond: %v\n%s", err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// kill ends the process without a word.
func (d *deployment) kill() {
	if d.cmd != nil {
		_ = d.cmd.Process.Signal(syscall.SIGKILL)
		_ = d.cmd.Wait() // it was killed
		d.cmd = nil
	}
}

// call makes a request and decodes the answer.
func (d *deployment) call(method, path, bearer string, body io.Reader, into any) {
	d.t.Helper()
	status, text := d.ask(method, path, bearer, body)
	if status < 200 || status > 299 {
		d.t.Fatalf("%s %s: status %d: %s", method, path, status, text)
	}
	d.must(json.Unmarshal(text, into))
}

// ask makes a request.
func (d *deployment) ask(method, path, bearer string, body io.Reader) (status int, text []byte) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.listen+path, body)
	d.must(err)
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if strings.HasPrefix(path, "/oidc/") {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultClient.Do(req)
	d.must(err)
	defer func() { _ = res.Body.Close() }()
	text, err = io.ReadAll(res.Body)
	d.must(err)
	return res.StatusCode, text
}

// signIn returns an access token for the personal access token.
func (d *deployment) signIn() string {
	d.t.Helper()
	var apps struct{ CLI struct{ AppID string } }
	d.call("GET", "/client-apps", "", nil, &apps)
	form := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "client_id": {apps.CLI.AppID},
		"subject_token":      {d.token},
		"subject_token_type": {"urn:merlon:token-type:personal_access_token"}, "resource": {"http://" + d.listen},
	}
	var access struct {
		Token string `json:"access_token"`
	}
	d.call("POST", "/oidc/token", "", strings.NewReader(form.Encode()), &access)
	return access.Token
}

// upload starts a scan as a client does, from a personal access token on.
func (d *deployment) upload(archive []byte) run.ID {
	d.t.Helper()
	var started struct{ ScanID, URL string }
	d.call("POST", "/project/"+d.project+"/scan/start", d.signIn(), nil, &started)
	if status := d.put(started.URL, bytes.NewReader(archive)); status != http.StatusOK {
		d.t.Fatalf("upload: status %d", status)
	}
	return run.ID(started.ScanID)
}

// killedMidIngest returns a service that was killed while it wrote what the scan found.
func killedMidIngest(t *testing.T, deployed func(*testing.T) *deployment, archive []byte) (*deployment, run.ID) {
	t.Helper()
	for range tries {
		d := deployed(t)
		id := d.upload(archive)
		deadline := time.Now().Add(patience)
		for d.count("SELECT COUNT(*) FROM finding") == 0 {
			if time.Now().After(deadline) {
				t.Fatal("no finding was ever written")
			}
			time.Sleep(time.Millisecond)
		}
		d.kill()
		n, state := d.count("SELECT COUNT(*) FROM finding"), d.run(d.sc, id).State
		t.Logf("killed when %d findings were written, the run is %s", n, state)
		if n < 4000 && state == run.Running {
			return d, id
		}
	}
	t.Fatal("killed too late each time")
	return nil, ""
}

// TestServerKilledMidIngest kills the whole service while findings are written,
// starts it again, and compares with a service that nobody disturbed.
func TestServerKilledMidIngest(t *testing.T) {
	t.Parallel()
	program := program(t)
	archive := secrets(t, 4000, 0)
	deploy := map[string]func(t *testing.T) *deployment{
		"sqlite": func(t *testing.T) *deployment {
			data := filepath.Join(folder(t), "data")
			return newDeployment(t, program, place{SQLite: filepath.Join(data, "merlon.db")}, "--data", data)
		},
		"postgres": func(t *testing.T) *deployment {
			db := storetest.Postgres(t)
			return newDeployment(t, program, place{Postgres: db}, "--data", filepath.Join(folder(t), "data"),
				"--database-url", db)
		},
	}
	for name, deployed := range deploy {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calm := deployed(t)
			want := calm.await(calm.sc, calm.upload(archive), "ended", ended)

			d, id := killedMidIngest(t, deployed, archive)
			d.serve()
			started := time.Now()
			d.await(d.sc, id, "began again", func(r run.Run) bool { return r.Attempt == 2 })
			if took := time.Since(started); took > restart {
				t.Errorf("the run began again after %v, the floor is %v", took, restart)
			}
			got := d.await(d.sc, id, "ended", ended)
			if got.State != want.State || got.Outcome.Changes != want.Outcome.Changes {
				t.Errorf("ended as %s with %+v, want %s with %+v", got.State, got.Outcome.Changes, want.State,
					want.Outcome.Changes)
			}
			wantList, wantHistory := calm.findings(calm.sc)
			gotList, gotHistory := d.findings(d.sc)
			if len(gotList) != 4000 || strings.Join(gotList, "\n") != strings.Join(wantList, "\n") ||
				gotHistory != wantHistory {
				t.Errorf("%d findings and %d entries of history, want %d and %d, all equal", len(gotList), gotHistory,
					len(wantList), wantHistory)
			}
		})
	}
}
