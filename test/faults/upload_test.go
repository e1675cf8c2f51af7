package faults

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/run"
)

// cutUpload sends the first part of an upload over a connection of its own and
// closes it.
func (s *site) cutUpload(address string, header string, body []byte) {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	path := strings.TrimPrefix(address, s.url)
	_, err = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: merlon\r\nContent-Type: application/zip\r\n%s\r\n\r\n", path,
		header)
	s.must(err)
	_, err = conn.Write(body)
	s.must(err)
	s.must(conn.Close())
}

func TestUploadCutInHalf(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		archive := secrets(t, 200, 10)
		half := archive[:len(archive)/2]
		s.worker()
		id, address := s.start(s.sc, "main")
		s.cutUpload(address, fmt.Sprintf("Content-Length: %d", len(archive)), half)
		s.cutUpload(address, "Transfer-Encoding: chunked", append([]byte(fmt.Sprintf("%x\r\n", len(archive))), half...))
		s.noUploads()
		if r := s.run(s.sc, id); r.State != run.Queued || r.Uploaded || r.Archive != "" {
			t.Errorf("after cut uploads the run is %+v", r)
		}
		// The address still holds, once.
		if status := s.put(address, bytes.NewReader(archive)); status != http.StatusOK {
			t.Fatalf("the whole upload: status %d", status)
		}
		if status := s.put(address, bytes.NewReader(archive)); status != http.StatusGone {
			t.Errorf("a second whole upload: status %d, want 410", status)
		}
		if r := s.completed(s.sc, id); r.Attempt != 1 || r.Outcome.Changes.New != 200 {
			t.Errorf("ended at attempt %d with %+v", r.Attempt, r.Outcome.Changes)
		}
		s.noBlobs()
	})
}

// noUploads waits until no upload is under way and nothing of one is stored.
func (s *site) noUploads() {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for s.count("SELECT COUNT(*) FROM upload") > 0 {
		if time.Now().After(deadline) {
			s.t.Fatal("an upload that was cut is never forgotten")
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.noBlobs()
}

// Many whole uploads to one address at once: one counts, the others leave
// nothing behind.
func TestUploadsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		archive := secrets(t, 20, 10)
		id, address := s.start(s.sc, "main")
		statuses := make([]int, 8)
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() { statuses[i] = s.put(address, bytes.NewReader(archive)) })
		}
		all.Wait()
		ok := 0
		for _, status := range statuses {
			switch status {
			case http.StatusOK:
				ok++
			case http.StatusGone:
			default:
				t.Errorf("status %d", status)
			}
		}
		if n := s.count("SELECT COUNT(*) FROM upload"); ok != 1 || n != 1 {
			t.Errorf("%d uploads counted, %d are stored, want 1 and 1", ok, n)
		}
		s.worker()
		if r := s.completed(s.sc, id); r.Outcome.Changes.New != 20 {
			t.Errorf("ended with %+v", r.Outcome.Changes)
		}
		s.noBlobs()
	})
}

// A noise is a Reader of so many bytes that begin as a zip archive does.
type noise struct {
	begun bool
	left  int
}

func (n *noise) Read(p []byte) (int, error) {
	if n.left == 0 {
		return 0, io.EOF
	}
	k := min(len(p), n.left)
	if !n.begun && k >= 4 {
		copy(p, "PK\x03\x04")
		n.begun = true
	}
	n.left -= k
	return k, nil
}

// maxMemory is the floor: what uploads may add to the process's memory.
const maxMemory = 64 << 20

// It runs alone, before the parallel tests: it measures the whole process.
func TestUploadsMemoryIsFlat(t *testing.T) {
	dir := folder(t)
	s := newSite(t, dir, place{SQLite: filepath.Join(dir, "merlon.db")}, time.Now)
	memory := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys - m.HeapReleased
	}
	debug.FreeOSMemory()
	before, most := memory(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, memory())
			}
		}
	}()
	var all sync.WaitGroup
	for range 4 {
		_, address := s.start(s.sc, "main")
		all.Go(func() {
			if status := s.put(address, &noise{left: 128 << 20}); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
		})
	}
	all.Wait()
	close(stop)
	<-stopped
	if most > before+maxMemory {
		t.Errorf("4 uploads of 128 MiB at once add %d MiB, at most %d", (most-before)>>20, maxMemory>>20)
	}
	t.Logf("4 uploads of 128 MiB at once add %d MiB", (max(most, before)-before)>>20)
}
