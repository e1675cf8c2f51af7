package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/client"
	"merlon/internal/store/storetest"
)

var binary string // of the program, built once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "merlon-bench")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "merlon")
	build := exec.Command("go", "build", "-o", binary, "merlon/cmd/merlon")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		os.Exit(1)
	}
	storetest.Main(m)
}

// each runs the benchmark on a service with an empty database of each kind.
func each(b *testing.B, bench func(b *testing.B, s *service)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, start(b)) })
	b.Run("postgres", func(b *testing.B) { bench(b, start(b, "--database-url", storetest.Postgres(b))) })
}

// A service is a running merlon with one tenant.
type service struct {
	base string
	pid  int
	tenant
}

type tenant struct {
	ProjectID           string `json:"projectId"`
	PersonalAccessToken string `json:"personalAccessToken"`
}

// start bootstraps a tenant and starts the service on a free port.
func start(b *testing.B, store ...string) *service {
	b.Helper()
	args := append([]string{"--data", b.TempDir()}, store...)
	s := &service{}
	made, err := exec.Command(binary, append([]string{"admin", "bootstrap", "--format", "json",
		"--email", "bench@example.org", "--organization", "o", "--team", "t", "--project", "p"}, args...)...).Output()
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(made, &s.tenant); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"},
		args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stop(); _ = cmd.Wait() }) // it was killed
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	s.base = strings.TrimSpace(line[strings.Index(line, "http"):])
	return s
}

// client returns a client of the tenant's administrator.
func (s *service) client(b *testing.B) *client.Client {
	b.Helper()
	id := client.Identity{BaseURL: s.base}
	c, err := client.New(client.Options{BaseURL: s.base, Source: id.PersonalToken(s.PersonalAccessToken)})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// peak returns the most memory that the service had resident at once, in MiB.
func (s *service) peak(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatal("no VmHWM")
	return 0
}

// An archive reads as a zip file of the size: a signature and then noise that
// costs nothing to make.
type archive struct {
	head io.Reader
	left int64
}

func newArchive(size int64) io.Reader {
	return &archive{head: strings.NewReader("PK\x03\x04"), left: size}
}

func (a *archive) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, io.EOF
	}
	if n, _ := a.head.Read(p); n > 0 {
		a.left -= int64(n)
		return n, nil
	}
	n := min(int64(len(p)), a.left)
	a.left -= n
	return int(n), nil
}

// BenchmarkUpload sends 1 GiB to an upload address.
func BenchmarkUpload(b *testing.B) {
	const size = 1 << 30
	each(b, func(b *testing.B, s *service) {
		c := s.client(b)
		before := s.peak(b)
		b.SetBytes(size)
		for b.Loop() {
			b.StopTimer()
			scan, err := c.StartScan(b.Context(), s.ProjectID, client.NewScan{})
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if err := c.Upload(b.Context(), scan.UploadURL, newArchive(size), size); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(s.peak(b)-before, "MiB-more")
		b.ReportMetric(s.peak(b), "MiB-peak")
	})
}

// BenchmarkExchange exchanges a personal access token over HTTP, from as many
// callers as there are processors times eight.
func BenchmarkExchange(b *testing.B) {
	each(b, func(b *testing.B, s *service) {
		id := client.Identity{BaseURL: s.base, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
		var failed sync.Once
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := id.Exchange(b.Context(), s.PersonalAccessToken); err != nil {
					failed.Do(func() { b.Error(err) })
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
	})
}
