package worker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/sandbox"
	"merlon/internal/scan"
	"merlon/internal/store/storetest"
)

// The test binary is also the program that workers run: as `scan` it behaves as
// a file of the scanned tree says.
func TestMain(m *testing.M) {
	sandbox.Init()
	if len(os.Args) > 1 && os.Args[1] == "scan" {
		if i := slices.Index(os.Args, "--conn-fd"); i > 0 {
			os.Exit(pretendLive(os.Args[i+1]))
		}
		os.Exit(pretend(os.Args[1:]))
	}
	storetest.Main(m)
}

// pretend is a scan that finds one flaw in each file, and ends as the file
// "behave" says.
func pretend(args []string) int {
	tree := args[len(args)-1]
	behave, _ := os.ReadFile(filepath.Join(tree, "behave")) // none: behave well
	h := scan.Encode(os.Stdout)
	analyses := []finding.Analysis{}
	ids := []string{}
	for i, a := range args {
		if a == "--analyses" {
			for _, name := range strings.Split(args[i+1], ",") {
				analyses, ids = append(analyses, finding.Analysis(name)), append(ids, name+"/test")
			}
		}
	}
	check(h.Config(&scan.Config{Tool: "test", Version: "1", Root: "source", Analyses: analyses, Analyzers: ids}))
	check(h.Progress(&scan.Progress{Percent: 50, Step: "half-way"}))
	rule := finding.Rule{ID: "test/rule", Analysis: analyses[0], Name: "A rule", Severity: finding.High,
		Confidence: finding.HighConfidence}
	check(h.Rule(&rule))
	entries, err := os.ReadDir(tree)
	check(err)
	for _, e := range entries {
		f := finding.Finding{
			RuleID: rule.ID, Analyzer: ids[0], Analysis: analyses[0], Severity: finding.High, Message: "a flaw",
			Location: finding.Location{Path: e.Name(), StartLine: 1, EndLine: 1},
		}
		f.Fingerprint = finding.NewFingerprint(rule.ID, e.Name(), "x", 0)
		check(h.Finding(&f))
	}
	end := func(state scan.State, reasons ...scan.Reason) {
		for i, id := range ids {
			check(h.Status(&scan.Status{Analyzer: id, Analysis: analyses[i], State: state, Reasons: reasons,
				Files: len(entries), Findings: len(entries)}))
		}
	}
	switch string(behave) {
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: something broke")
		return 7
	case "incomplete":
		return 0
	case "garbage":
		fmt.Println("this is no message")
		time.Sleep(time.Minute)
	case "hang":
		time.Sleep(time.Minute)
	case "memory":
		for hoard := [][]byte{}; len(hoard) >= 0; {
			b := make([]byte, 64<<20)
			for i := range b {
				b[i] = byte(i)
			}
			hoard = append(hoard, b)
		}
	case "all failed":
		end(scan.Failed, scan.Reason{Code: "unavailable", Message: "no data"})
		return 2
	case "degraded":
		end(scan.Degraded, scan.Reason{Code: "too-large", Message: "too large", Path: "x"})
		return 2
	case "late failure":
		end(scan.Succeeded)
		return 9
	default:
		end(scan.Succeeded)
	}
	return 0
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(8)
	}
}
