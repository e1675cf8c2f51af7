package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/test/process"
)

// The test program plays the measured one: what it does is in the variable.
const play = "MERLON_TEST_PLAY"

func TestMain(m *testing.M) {
	if part := os.Getenv(play); part != "" {
		perform(part)
		return
	}
	os.Exit(m.Run())
}

// megabytes is what the part "burn" keeps in memory.
const megabytes = 64

func perform(part string) {
	switch part {
	case "sleep":
		time.Sleep(time.Minute)
	case "burn":
		block := make([]byte, megabytes<<20)
		for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
			for i := range block {
				block[i]++
			}
		}
	case "burn-in-child":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), play+"=burn")
		if err := cmd.Run(); err != nil {
			fmt.Fprint(os.Stderr, err)
			os.Exit(3)
		}
	}
}

// self returns the path of the program that plays.
func self(t *testing.T, part string) string {
	t.Helper()
	t.Setenv(play, part)
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCostCountsChildren(t *testing.T) {
	for _, part := range []string{"burn", "burn-in-child"} {
		out, err := process.Command{Args: []string{self(t, part)}, Timeout: time.Minute}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if out.Code != 0 || out.Wall < 200*time.Millisecond || out.CPU < 50*time.Millisecond ||
			out.Peak < megabytes<<20 {
			t.Errorf("%s: code %d, %+v, %s", part, out.Code, out.Cost, out.Stderr)
		}
	}
}

func TestTimeoutStopsTheGroup(t *testing.T) {
	_, err := process.Command{Args: []string{self(t, "sleep")},
		Timeout: 100 * time.Millisecond}.Run(context.Background())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if _, err := (process.Command{Args: []string{"/nowhere/program"},
		Timeout: time.Second}).Run(context.Background()); err == nil {
		t.Error("a program that is not there runs")
	}
}

func TestAdd(t *testing.T) {
	c := process.Cost{Wall: 1, CPU: 2, Peak: 30}
	c.Add(process.Cost{Wall: 10, CPU: 20, Peak: 3})
	if diff := cmp.Diff(process.Cost{Wall: 11, CPU: 22, Peak: 30}, c); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}
