package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"merlon/test/table"
)

// This file measures discovery on security-crawl-maze: which of the addresses that
// its pages link in every way there is were asked for.

// frameworks is where pages are that need the builds of script frameworks, which
// the target does not have.
// They would count as missed without being served.
const frameworks = "/javascript/frameworks/"

// A visit is one address that should be found.
type visit struct {
	Path    string
	Browser bool // whether the scan had a browser
	Asked   bool
}

// crawlMaze crawls Google's security-crawl-maze, and counts the expected URLs that were
// requested, without and with a browser.
func crawlMaze(ctx context.Context, b *bench) ([]table.Row, error) {
	s, err := b.startTarget(ctx, "crawlmaze")
	if err != nil {
		return nil, err
	}
	defer s.stopTarget()
	expected, err := expectedPaths(filepath.Join(s.app, "blueprints", "utils", "resources", "expected-results.json"))
	if err != nil {
		return nil, err
	}
	var rows []table.Row
	var cases []visit
	// Some pages add their links by script, so more of them are found with a browser.
	for _, way := range []struct {
		// browser is the value of --browser.
		name, browser string
		floor         int
	}{{"without a browser", "none", 62}, {"with a browser", b.browser, 74}} {
		got, err := b.scanServer(ctx, s,
			run{command: "dast", name: "crawlmaze-" + strings.ReplaceAll(way.name, " ", "-"),
				browser: way.browser, plan: plan{URL: s.baseAddress() + "/"}})
		if err != nil {
			return rows, err
		}
		found := 0
		var missed []string
		for _, path := range expected {
			// What counts is the request that reached the target, not what a report says.
			asked := got.wasRequested(path)
			cases = append(cases, visit{Path: path, Browser: way.browser != "none", Asked: asked})
			if asked {
				found++
			} else {
				missed = append(missed, strings.TrimPrefix(path, "/test/"))
			}
		}
		rows = append(rows, table.Row{Measure: fmt.Sprintf("security-crawl-maze (%d), %s", len(expected), way.name),
			Floor:    fmt.Sprintf("≥ %d", way.floor),
			Measured: fmt.Sprint(found), Met: table.Verdict(found >= way.floor), Note: got.describeCost() +
				listNames("; not asked: ", missed)})
	}
	return rows, table.Keep(filepath.Join(b.out, "crawlmaze.jsonl"), cases)
}

// expectedPaths reads the target's own list.
func expectedPaths(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all, out []string
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, path := range all {
		if !strings.HasPrefix(path, frameworks) {
			out = append(out, path)
		}
	}
	return out, nil
}

// wasRequested reports whether a path was asked for, by any method.
func (s *scan) wasRequested(path string) bool {
	// Asked has "METHOD /path"; discovery may use HEAD or POST.
	for what := range s.Asked {
		if _, p, _ := strings.Cut(what, " "); p == path {
			return true
		}
	}
	return false
}

// listNames writes at most a dozen names after a prefix; nothing without names.
func listNames(prefix string, names []string) string {
	const most = 12
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return fmt.Sprintf("%s%s and %d more", prefix, strings.Join(names[:most], ", "), len(names)-most)
	}
	return prefix + strings.Join(names, ", ")
}
