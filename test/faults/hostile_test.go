package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/run"
)

// This file sends the program hostile requests, slow, huge, deep and many, and looks at
// whether ordinary requests are served meanwhile, and at the memory of the service. How
// long they take is logged and has no bound: that depends on what else the machine does.
// Another program, such as an older one, is measured with MERLON_HOSTILE_PROGRAM=PATH.

// Bounds of the load.
const (
	files        = 300 // that the service may have open
	slowRequests = 320 // at once
	loadTime     = 5 * time.Second
	// A new connection may be closed among hundreds of others of the same address. An
	// ordinary client tries again; one of so many attempts has to be served.
	attempts   = 20
	mostMemory = 1 << 30 // of the service
)

// A load is one kind of hostile requests.
type load struct {
	name string
	do   func(d *deployment, access string, stop <-chan struct{})
}

var loads = []load{
	{"slow header", func(d *deployment, _ string, stop <-chan struct{}) {
		d.drip(stop, "GET / HTTP/1.1\r\nHost: x\r\nX-A: ")
	}},
	{"slow body of a request", func(d *deployment, access string, stop <-chan struct{}) {
		d.drip(stop, "POST /organization HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: "+
			"Bearer "+access+"\r\nContent-Length: 1000000\r\n\r\n{\"name\": \"")
	}},
	{"slow body of a sign-in", func(d *deployment, _ string, stop <-chan struct{}) {
		d.drip(stop, "POST /oidc/token HTTP/1.1\r\nHost: x\r\nContent-Type: "+
			"application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\ngrant_type=")
	}},
	{"slow upload", func(d *deployment, access string, stop <-chan struct{}) {
		var started struct{ URL string }
		d.call("POST", "/project/"+d.project+"/scan/start", access, nil, &started)
		path := started.URL[strings.Index(started.URL, "/uploads/"):]
		d.drip(stop, "PUT "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/zip\r\nContent-Length: "+
			"100000000\r\n\r\nPK\x03\x04")
	}},
	{"slow read of responses", func(d *deployment, access string, stop <-chan struct{}) {
		d.drip(stop, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 50))
	}},
	{"huge header", func(d *deployment, _ string, stop <-chan struct{}) {
		d.repeat(stop, "GET / HTTP/1.1\r\nHost: x\r\nX-A: "+strings.Repeat("a", 10<<20))
	}},
	{"huge body", func(d *deployment, access string, stop <-chan struct{}) {
		d.repeat(stop, request("POST", "/organization", access, `{"name": "`+strings.Repeat("a", 40<<20)+`"}`))
	}},
	{"deep body", func(d *deployment, access string, stop <-chan struct{}) {
		d.repeat(stop, request("POST", "/organization", access, `{"name": `+strings.Repeat("[", 500_000)+
			strings.Repeat("]", 500_000)+`}`))
	}},
	{"deep body of a target", func(d *deployment, access string, stop <-chan struct{}) {
		d.repeat(stop, request("POST", "/project/"+d.project+"/target", access,
			`{"name": "x", "url": "http://x.example/", "headers": `+strings.Repeat("[", 10_000_000)+`}`))
	}},
	{"many query parameters", func(d *deployment, access string, stop <-chan struct{}) {
		d.repeat(stop, request("GET", "/project/"+d.project+"/scans?"+strings.Repeat("a[]=1&", 9000), access, ""))
	}},
	{"many lists of targets", func(d *deployment, access string, stop <-chan struct{}) {
		d.repeat(stop, request("GET", "/project/"+d.project+"/targets?pageSize=100", access, ""))
	}},
	{"an archive of links", func(d *deployment, access string, _ <-chan struct{}) {
		var started struct{ ScanID, URL string }
		d.call("POST", "/project/"+d.project+"/scan/start", access, nil, &started)
		if status := d.put(started.URL, bytes.NewReader(linkArchive(d.t))); status != http.StatusOK {
			d.t.Errorf("upload: status %d", status)
		}
		d.await(d.sc, run.ID(started.ScanID), "ended", ended)
	}},
}

// request returns a request as text.
func request(method, path, access, body string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: " +
		"application/json\r\nAuthorization: Bearer " + access +
		"\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// drip keeps connections open that send the beginning of a request and then a byte now and
// then. One that is closed is opened again.
func (d *deployment) drip(stop <-chan struct{}, begin string) {
	d.crowd(slowRequests, 250*time.Millisecond, stop, func() {
		c, err := net.DialTimeout("tcp", d.listen, time.Second)
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, begin); err != nil {
			return
		}
		for !stopped(stop, 500*time.Millisecond) {
			if _, err := c.Write([]byte("a")); err != nil {
				return
			}
		}
	})
}

// repeat sends whole requests from several connections, six at once.
func (d *deployment) repeat(stop <-chan struct{}, text string) {
	d.crowd(6, 20*time.Millisecond, stop, func() {
		c, err := net.DialTimeout("tcp", d.listen, time.Second)
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(loadTime))
		go func() { _, _ = io.WriteString(c, text) }() // the service may not want it
		_, _ = io.Copy(io.Discard, c)
	})
}

// crowd repeats do in n places until the end, with a pause in between.
func (d *deployment) crowd(n int, pause time.Duration, stop <-chan struct{}, do func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for !stopped(stop, pause) {
				do()
			}
		})
	}
	all.Wait()
}

// stopped waits, and reports whether the end came.
func stopped(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return true
	case <-time.After(d):
		return false
	}
}

// linkArchive returns an archive of many links with long targets.
func linkArchive(t *testing.T) []byte {
	t.Helper()
	const n = 300_000
	entries := make([]entry, n)
	for i := range entries {
		entries[i] = entry{name: fmt.Sprintf("n%d", i), content: fmt.Sprintf("%s/%d", strings.Repeat("m/", 480), i),
			mode: fs.ModeSymlink}
	}
	return zipOf(t, entries)
}

// A measured load.
type measured struct {
	asked, failed int
	unserved      int           // longest row of failed attempts
	median, worst time.Duration // of one attempt
	memory        int64         // the most that was resident
}

// under measures ordinary requests and memory while the load goes on.
func (d *deployment) under(l load, access string) measured {
	d.t.Helper()
	pid := strconv.Itoa(d.cmd.Process.Pid)
	_ = os.WriteFile("/proc/"+pid+"/clear_refs", []byte("5"), 0) // begins the peak anew
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { l.do(d, access, stop) })
	var m measured
	var took []time.Duration
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	row := 0 // of failed attempts
	for end := time.Now().Add(loadTime); time.Now().Before(end) ||
		0 < row && row < attempts; time.Sleep(100 * time.Millisecond) {
		began := time.Now()
		res, err := client.Get("http://" + d.listen + "/client-apps")
		m.asked++
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		if err != nil || res.StatusCode != http.StatusOK {
			m.failed++
			row++
		} else {
			row = 0
		}
		m.unserved = max(m.unserved, row)
		took = append(took, time.Since(began))
	}
	close(stop)
	running.Wait()
	slices.Sort(took)
	m.median, m.worst = took[len(took)/2], took[len(took)-1]
	m.memory = peak(d.t, pid)
	return m
}

// peak returns the most bytes that were resident.
func peak(t *testing.T, pid string) int64 {
	t.Helper()
	f, err := os.Open("/proc/" + pid + "/status")
	if err != nil {
		t.Fatalf("the service has ended: %v", err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if _, err := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	t.Fatal("the kernel does not say how much memory a process had")
	return 0
}

// addTargets gives the project targets with large descriptions.
func (d *deployment) addTargets(access string) {
	d.t.Helper()
	text := strings.Repeat("openapi ", 1<<20) // 8 MiB
	for n := range 15 {
		body := fmt.Sprintf(`{"name": "t%d", "url": "http://t%d.example/", "descriptions": [{"name": "api", "text": "%s"}]}`, n, n, text)
		var made struct{ ID string }
		d.call("POST", "/project/"+d.project+"/target", access, strings.NewReader(body), &made)
	}
}

// TestHostileLoad looks whether the service goes on serving, within its memory, during
// each load.
func TestHostileLoad(t *testing.T) {
	given := os.Getenv("MERLON_HOSTILE_PROGRAM")
	real := given
	if real == "" {
		real = program(t)
	}
	limited := filepath.Join(folder(t), "merlon")
	script := fmt.Sprintf("#!/bin/sh\nulimit -n %d\nexec %s \"$@\"\n", files, real)
	if err := os.WriteFile(limited, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(folder(t), "data")
	d := newDeployment(t, limited, place{SQLite: filepath.Join(data, "merlon.db")}, "--data", data)
	d.addTargets(d.signIn())
	t.Logf("%-24s %8s %8s %10s %10s %10s", "load", "asked", "failed", "median", "worst", "memory")
	for _, l := range loads {
		m := d.under(l, d.signIn())
		t.Logf("%-24s %8d %8d %10s %10s %6d MiB", l.name, m.asked, m.failed, m.median.Round(time.Millisecond),
			m.worst.Round(time.Millisecond), m.memory>>20)
		if given == "" && m.unserved >= attempts {
			t.Errorf("%s: %d attempts in a row of %d were not served", l.name, m.unserved, m.asked)
		}
		if given == "" && m.memory > mostMemory {
			t.Errorf("%s: %d MiB of memory, at most %d", l.name, m.memory>>20, mostMemory>>20)
		}
		d.kill() // each load meets a fresh process
		d.serve()
	}
}
