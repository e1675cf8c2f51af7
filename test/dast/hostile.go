package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"merlon/test/dast/hostile"
	"merlon/test/process"
	"merlon/test/table"
)

// This file measures whole scans, as a user starts them, of applications that do what
// no application should. Each is served by this program in a network of its own, in
// which the addresses are that no scan may reach, and somebody listens at them.

// Bounds of a scan of a hostile application.
const (
	// Far above what a complete scan of so small an application needs.
	hostileTime = 15 * time.Minute
	// Whatever a target sends: memory must not grow with it.
	hostileMemory = 1 << 30 // bytes, of the largest process
)

// quiet are rules that hold for any application and for these as well: they are no
// wrong findings.
// They concern headers, cookies, TLS and the description of an API, which the traps do not care for.
var quiet = regexp.MustCompile(`^dast/(headers|cookies|tls)/|^api/`)

// A hostileCase is what became of the scan of one trap.
type hostileCase struct {
	Trap     string
	State    string
	Reasons  []string
	Told     []string // rules
	Reached  []string // that must not be
	Requests int
	Cost     process.Cost
	Failure  string
}

// hostileTargets scans each hostile target in a network namespace of its own. A scanner must end
// in time and within its memory, whatever a target sends.
func hostileTargets(ctx context.Context, b *bench) ([]table.Row, error) {
	// unshare(CLONE_NEWNET) needs CAP_SYS_ADMIN.
	if os.Geteuid() != 0 {
		return nil, errors.New("only root can make a network for a target")
	}
	traps := slices.DeleteFunc(slices.Clone(hostile.Traps), func(t hostile.Trap) bool {
		// The empty expression matches all.
		return !b.cases.MatchString(t.Name)
	})
	cases := make([]hostileCase, len(traps))
	slots := make(chan struct{}, max(1, b.parallel))
	var group sync.WaitGroup
	for i, t := range traps {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			cases[i] = b.scanTrapIsolated(ctx, i, t)
			row := cases[i].judgeTrap(t) // who stops the measure has what is done
			fmt.Fprintf(os.Stderr, "%s %s: met %v: %s; %s\n", time.Now().Format(time.TimeOnly), row.Measure, row.Met,
				row.Measured, row.Note)
		})
	}
	group.Wait()
	var rows []table.Row
	for i, c := range cases {
		rows = append(rows, c.judgeTrap(traps[i]))
	}
	return rows, table.Keep(filepath.Join(b.out, "hostile.jsonl"), cases)
}

// scanTrapIsolated scans one trap in a network of its own. The thread that is in it ends with it.
func (b *bench) scanTrapIsolated(ctx context.Context, i int, t hostile.Trap) hostileCase {
	done := make(chan hostileCase)
	go func() {
		// Namespaces belong to threads. The goroutine ends without unlocking, so the runtime ends
		// the thread and does not reuse it in the wrong network.
		runtime.LockOSThread()
		c, err := b.scanTrap(ctx, i, t)
		if c.Trap = t.Name; err != nil {
			c.State, c.Failure = "not measured", err.Error()
		}
		done <- c
	}()
	return <-done
}

// scanTrap serves and scans a trap. The thread is left in a network without anything
// but loopback and the addresses that must not be reached.
func (b *bench) scanTrap(ctx context.Context, i int, t hostile.Trap) (hostileCase, error) {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return hostileCase{}, fmt.Errorf("a network of its own: %w", err)
	}
	commands := [][]string{{"link", "set", "lo", "up"}}
	// Metadata addresses on loopback, so that a visit is recorded and not only dropped.
	for _, address := range hostile.Addresses {
		// an address of IPv6 would not be there at once
		commands = append(commands, []string{"address", "add", address, "dev", "lo", "nodad"})
	}
	for _, args := range commands {
		if out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
			return hostileCase{}, fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	site, err := hostile.Serve(t)
	if err != nil {
		return hostileCase{}, err
	}
	defer site.Close()
	r := run{command: "dast", name: fmt.Sprintf("hostile-%02d", i), time: b.time, plan: plan{URL: t.Base() + "/"}}
	if t.Identity != nil {
		r.plan.Identities = []any{t.Identity}
	}
	if t.API {
		r.command = "api"
		for _, path := range t.Descriptions {
			d := described{Name: strings.Trim(path, "/"), URL: t.Base() + path}
			if path == "/graphql" {
				d.Kind = "graphql"
			}
			r.plan.Descriptions = append(r.plan.Descriptions, d)
		}
	}
	got, err := b.runMerlon(ctx, r)
	c := hostileCase{Requests: site.Requests(), Reached: site.Reached()}
	if err != nil {
		return c, err
	}
	c.State, c.Reasons, c.Cost = got.State, got.Reasons, got.Cost
	for _, f := range got.Flaws {
		if !quiet.MatchString(f.Rule) && !slices.Contains(c.Told, f.Rule) {
			c.Told = append(c.Told, f.Rule)
		}
	}
	return c, nil
}

// judgeTrap judges a case.
func (c hostileCase) judgeTrap(t hostile.Trap) table.Row {
	floor := "degraded"
	if t.Whole {
		floor = "ends"
	}
	// Not every report may read as complete: the reason has to be the one that the trap provokes.
	says := t.Whole || t.Says != nil && slices.ContainsFunc(c.Reasons, t.Says.MatchString)
	// A trap that hides something must not end as "succeeded".
	ended := c.Failure == "" && (c.State != states[0] || t.Whole)
	row := table.Row{Measure: "hostile: " + t.Name, Floor: floor, Measured: fmt.Sprintf("%s, %d requests, %.0f s, "+
		"%.0f MB", c.State, c.Requests, c.Cost.Wall.Seconds(), float64(c.Cost.Peak)/1e6),
		Met: table.Verdict(ended, says, len(c.Told) == 0, len(c.Reached) == 0, c.Cost.Wall <= hostileTime,
			c.Cost.Peak <= hostileMemory)}
	notes := []string{c.Failure, listNames("told: ", c.Told), listNames("reached: ", c.Reached)}
	for _, reason := range c.Reasons[:min(2, len(c.Reasons))] {
		notes = append(notes, fmt.Sprintf("%.200s", reason))
	}
	if n := len(c.Reasons) - 2; n > 0 {
		notes = append(notes, fmt.Sprintf("%d more reasons", n))
	}
	row.Note = strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
	return row
}
