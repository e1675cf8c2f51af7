package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"merlon/internal/image/imagetest"
	"merlon/internal/registry/registrytest"
	"merlon/internal/run"
	"merlon/internal/store/storetest"
)

// TestPrivateImage scans an image of a registry that wants a password, with a server
// and workers that are processes of their own. The worker without the master key leaves
// the scan to the one with it, and the password is in no log, argument, variable or row.
func TestPrivateImage(t *testing.T) {
	t.Parallel()
	program := program(t)
	host := registrytest.Start(t, "bearer").Host
	registrytest.Push(t, host+"/team/app:1.0",
		imagetest.Build(t, v1.Config{},
			imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{{Name: "app/settings", Content: credential}}}))
	for name, deploy := range map[string]func(t *testing.T) *deployment{
		"sqlite": func(t *testing.T) *deployment {
			data := filepath.Join(folder(t), "data")
			return prepare(t, program, place{SQLite: filepath.Join(data, "merlon.db")}, "--data", data)
		},
		"postgres": func(t *testing.T) *deployment {
			db := storetest.Postgres(t)
			return prepare(t, program, place{Postgres: db}, "--data", filepath.Join(folder(t), "data"),
				"--database-url", db)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t)
			d.also = []string{"--workers", "0", "--outbound-allow", "127.0.0.1", "--log-level", "debug",
				"--master-key-file", d.key()}
			d.serve()
			token := d.signIn()
			body := fmt.Sprintf(`{"projectId":%q,"quayHost":"http://%s","quayNamespace":"team","robotUsername":%q,"robotToken":%q}`,
				d.project, host, registrytest.User, registrytest.Password)
			const quay = "/integrations/quay/container-registry"
			var stored struct{ ID string }
			d.call("POST", quay+"/organization/"+string(d.sc.Organization)+"/credentials", token,
				strings.NewReader(body), &stored)
			start := func(branch string) run.ID {
				var started struct{ ScanID string }
				d.call("POST", quay+"/project/"+d.project+"/scan", token,
					strings.NewReader(fmt.Sprintf(`{"credentialId":%q,"imageName":"app:1.0","branch":%q}`, stored.ID,
						branch)), &started)
				return run.ID(started.ScanID)
			}

			keyless := d.work("keyless")
			id := start("image")
			calm := d.upload(secrets(t, 1, 0))
			d.await(d.sc, calm, "ended", ended) // by the worker that leaves the other
			if r := d.run(d.sc, id); r.State != run.Queued || r.Attempt != 0 ||
				!strings.Contains(r.Step, "master key") {
				t.Errorf("without a worker that has the key: %+v", r)
			}
			able := d.work("able", "--master-key-file", d.key())
			child := stopScanOf(t, able.Process.Pid, "")
			for _, file := range []string{"cmdline", "environ"} {
				text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", child, file))
				if err != nil || strings.Contains(string(text), registrytest.Password) {
					t.Errorf("the child's %s: %q, %v", file, text, err)
				}
			}
			resume(t, child)
			if r := d.await(d.sc, id, "ended", ended); r.State != run.Completed || r.Outcome.Changes.New == 0 ||
				r.Attempt != 1 {
				t.Errorf("ended as %s at attempt %d with %+v, %v", r.State, r.Attempt, r.Outcome.Changes, r.Failure)
			}
			stop(t, able)

			// The credential goes while a scan waits.
			id = start("image")
			d.call("PUT", "/integrations/container-registry/organization/"+string(d.sc.Organization)+
				"/credentials/quay/"+stored.ID+"/projects", token,
				strings.NewReader(`{"projectIds":[]}`), &struct{}{})
			able = d.work("able", "--master-key-file", d.key())
			if r := d.await(d.sc, id, "ended", ended); r.Failure == nil || r.Failure.Code != run.CodeCredential ||
				r.Failure.Category != run.CategoryAuthentication {
				t.Errorf("without its credential: %+v", r)
			}
			stop(t, able)
			stop(t, keyless)
			d.kill()
			if n := d.count("SELECT COUNT(*) FROM run WHERE image LIKE '%" + registrytest.Password +
				"%' OR outcome LIKE '%" + registrytest.Password + "%'"); n != 0 {
				t.Errorf("%d runs hold the password", n)
			}
			logs, err := filepath.Glob(filepath.Join(d.dir, "*.log"))
			d.must(err)
			if len(logs) != 3 {
				t.Errorf("logs are %v", logs)
			}
			for _, file := range logs {
				text, err := os.ReadFile(file)
				d.must(err)
				if len(text) == 0 || strings.Contains(string(text), registrytest.Password) {
					t.Errorf("%s holds the password, or nothing:\n%s", file, text)
				}
			}
		})
	}
}

// key is the deployment's master key, outside of the data folder, where workers look
// for it.
func (d *deployment) key() string { return filepath.Join(d.dir, "key") }

// work starts a worker of the program.
func (d *deployment) work(name string, flags ...string) *exec.Cmd {
	d.t.Helper()
	args := append([]string{"worker", "--outbound-allow", "127.0.0.1", "--log-level", "debug"}, d.flags...)
	cmd := exec.Command(d.program, append(args, flags...)...)
	log, err := os.OpenFile(filepath.Join(d.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	d.must(err)
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	d.must(cmd.Start())
	d.working = append(d.working, cmd)
	d.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		}
	})
	return cmd
}

// stop ends a worker as a person would.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}
