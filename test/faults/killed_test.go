package faults

import (
	"syscall"
	"testing"
	"time"

	"merlon/internal/run"
)

// restart is the floor of 30 s within which a killed worker's run begins again, with what
// a busy machine adds. That the times of internal/job meet the floor is a test there.
const restart = 2 * time.Minute

func TestWorkerKilledMidScan(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		archive := secrets(t, 300, 200)
		first := s.worker()
		id := s.scan(s.sc, "main", archive)
		scan := first.stopScan()
		s.worker()
		first.kill()
		killed := time.Now()
		gone(t, scan)
		s.await(s.sc, id, "began again", func(r run.Run) bool { return r.Attempt == 2 })
		if took := time.Since(killed); took > restart {
			t.Errorf("the run began again after %v, the floor is %v", took, restart)
		} else {
			t.Logf("the run began again after %v", took.Round(100*time.Millisecond))
		}
		r := s.completed(s.sc, id)
		if r.Attempt != 2 || r.Tries != 2 {
			t.Errorf("ended at attempt %d, try %d", r.Attempt, r.Tries)
		}
		s.sameAsUndisturbed(r, archive)
		s.noBlobs()
		s.scratchIsEmpty()
	})
}

// The only worker there is, and so the service on one machine, is killed and
// started again.
func TestOnlyWorkerKilledAndStartedAgain(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		archive := secrets(t, 50, 100)
		first := s.worker()
		id := s.scan(s.sc, "main", archive)
		waiting := s.scan(s.sc, "other", archive)
		first.stopScan()
		first.kill()
		s.worker()
		started := time.Now()
		s.await(s.sc, id, "began again", func(r run.Run) bool { return r.Attempt >= 2 })
		if took := time.Since(started); took > restart {
			t.Errorf("the run began again after %v, the floor is %v", took, restart)
		}
		s.completed(s.sc, id)
		s.completed(s.sc, waiting)
		if n := s.count("SELECT COUNT(*) FROM finding WHERE project_id = ?", s.sc.Project); n != 100 {
			t.Errorf("%d findings on two branches, want 100", n)
		}
		s.scratchIsEmpty()
	})
}

// tries is how often something is killed until that was while findings were written: on
// a busy machine who kills may come too late.
const tries = 5

func TestKilledMidIngest(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		archive := secrets(t, 4000, 0)
		first := s.worker()
		var id run.ID
		for try := 1; ; try++ {
			id = s.scan(s.sc, "main", archive)
			deadline := time.Now().Add(patience)
			for s.count("SELECT COUNT(*) FROM finding WHERE project_id = ?", s.sc.Project) == 0 {
				if time.Now().After(deadline) {
					t.Fatal("no finding was ever written")
				}
				time.Sleep(time.Millisecond)
			}
			first.kill()
			written := s.count("SELECT COUNT(*) FROM finding WHERE project_id = ?", s.sc.Project)
			r := s.run(s.sc, id)
			t.Logf("killed when %d findings were written, the run is %s", written, r.State)
			if r.State == run.Running && written < 4000 {
				break
			}
			if try == tries {
				t.Fatal("killed too late each time")
			}
			first = s.worker()
			s.completed(s.sc, id)
			s.sc = s.project()
		}
		s.worker()
		r := s.completed(s.sc, id)
		if r.Attempt != 2 {
			t.Errorf("ended at attempt %d", r.Attempt)
		}
		s.sameAsUndisturbed(r, archive)
		s.scratchIsEmpty()
	})
}

// A worker that stands still for longer than its lease comes back to life: what
// it has to say does not count.
func TestWorkerThatWasOnlySlow(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		archive := secrets(t, 50, 100)
		slow := s.worker()
		id := s.scan(s.sc, "main", archive)
		scan := slow.stopScan()
		slow.signal(syscall.SIGSTOP)
		s.worker()
		r := s.completed(s.sc, id)
		if r.Attempt != 2 {
			t.Errorf("ended at attempt %d", r.Attempt)
		}
		slow.signal(syscall.SIGCONT)
		gone(t, scan)
		if again := s.run(s.sc, id); again.State != run.Completed || again.Attempt != 2 ||
			!again.EndedAt.Equal(r.EndedAt) {
			t.Errorf("the slow worker changed the run: %+v", again)
		}
		s.sameAsUndisturbed(r, archive)
	})
}
