package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"merlon/test/process"
	"merlon/test/table"
)

// This file runs other scanners on the same targets, through the same proxy.

// A job is what a scanner is to do.
// The same job is given to each scanner, in the form that it understands.
type job struct {
	name    string
	base    string   // the address that everything is below
	seeds   []string // where to begin
	exclude []string // patterns with *
	folders []string // addresses of the folders of the cases
	section section
}

// A peer is another scanner. Those that do not crawl are fed the links of the pages.
type peer struct {
	name string
	// does reports whether it looks for the section's kind of flaw.
	does func(section) bool
	scan func(*bench, context.Context, job) (*scan, error)
}

// peers are the other scanners that are compared.
var peers = []peer{
	{name: "wapiti", does: func(s section) bool { return s.wapiti != "" }, scan: (*bench).runWapiti},
	{name: "nuclei", does: func(s section) bool { return s.template != "" }, scan: (*bench).runNuclei},
	{name: "dalfox", does: func(s section) bool { return s.dalfox != "" }, scan: (*bench).runDalfox},
	{name: "sqlmap", does: func(s section) bool { return s.check == "sqlinjection" }, scan: (*bench).runSQLMap},
}

// peerNames lists the scanners for help.
func peerNames() string {
	var out []string
	for _, p := range peers {
		out = append(out, p.name)
	}
	return strings.Join(out, ", ")
}

// choosePeers reads names with commas between.
func choosePeers(names string) ([]string, error) {
	var out []string
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !slices.ContainsFunc(peers, func(p peer) bool { return p.name == name }) {
			return nil, fmt.Errorf("no scanner %q: choose from %s", name, peerNames())
		}
		out = append(out, name)
	}
	return out, nil
}

// scannerSupports reports whether the scanner looks for the section's kind of flaw.
func scannerSupports(name string, sec section) bool {
	return slices.ContainsFunc(peers, func(p peer) bool { return p.name == name && p.does(sec) })
}

// peerScan runs another scanner and counts its requests.
func (b *bench) peerScan(ctx context.Context, s *server, name string, j job) (*scan, error) {
	i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
	got, err := peers[i].scan(b, ctx, j)
	if err != nil {
		return nil, err
	}
	if err := got.countRequests(s.takeCounted(), filepath.Join(b.out, j.name+"."+name+".asked")); err != nil {
		return nil, err
	}
	for k := range got.Flaws {
		// Its report may name no weakness.
		got.Flaws[k].Scanner, got.Flaws[k].CWE = name, j.section.class[:1] // it was told to look for nothing else
	}
	return got, nil
}

// findScanner returns where a scanner is: on the path or in the folder of the targets.
func (b *bench) findScanner(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	// The error wraps fs.ErrNotExist, which gives a row "not measured".
	path := filepath.Join(b.targets, "peers", name)
	_, err := os.Stat(path)
	return path, err
}

// runWapiti crawls and attacks by itself, a folder of cases at a time: the patterns of
// Debian's version 3.0.4, which would leave the others out, do not work.
func (b *bench) runWapiti(ctx context.Context, j job) (*scan, error) {
	program, err := b.findScanner("wapiti")
	if err != nil {
		return nil, err
	}
	got := &scan{}
	for i, folder := range j.folders {
		file := filepath.Join(b.out, fmt.Sprintf("%s.wapiti-%d.json", j.name, i))
		out, err := process.Command{Dir: b.out, Timeout: b.timeout, Args: []string{program, "-u", folder, "--scope",
			"folder", "-m", j.section.wapiti, "-f", "json", "-o", file,
			// Without the first it would go on with the session of an earlier run.
			"--flush-session", "--no-bugreport", "-v", "0"}}.Run(ctx)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("exit code %d: %w: %s", out.Code, err,
				process.Tail(append(out.Stderr, out.Stdout...)))
		}
		flaws, err := readWapiti(text)
		if err != nil {
			return nil, err
		}
		got.Flaws = append(got.Flaws, flaws...)
		got.Cost.Add(out.Cost)
	}
	return got, nil
}

// readWapiti reads its JSON report: findings by category.
func readWapiti(text []byte) ([]flaw, error) {
	var r struct {
		Vulnerabilities map[string][]struct {
			Method    string `json:"method"`
			Path      string `json:"path"`
			Parameter string `json:"parameter"`
		} `json:"vulnerabilities"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("decode report of wapiti: %w", err)
	}
	var out []flaw
	for category, list := range r.Vulnerabilities {
		for _, f := range list {
			// The payload is in the query.
			path, _, _ := strings.Cut(f.Path, "?")
			out = append(out, flaw{Rule: category, Method: f.Method, Path: pathOf(path), Parameter: f.Parameter})
		}
	}
	return out, nil
}

// runNuclei attacks with its templates for the class.
func (b *bench) runNuclei(ctx context.Context, j job) (*scan, error) {
	program, err := b.findScanner("nuclei")
	if err != nil {
		return nil, err
	}
	templates := filepath.Join(b.targets, "peers", "nuclei-templates", "dast", "vulnerabilities", j.section.template)
	if _, err := os.Stat(templates); err != nil {
		return nil, err
	}
	links, err := b.linksFile(ctx, j)
	if err != nil {
		return nil, err
	}
	// By default it stops looking at a parameter after ten pages that have it.
	out, err := process.Command{Dir: b.out, Timeout: b.timeout, Args: []string{program, "-l", links, "-dast", "-t",
		templates, "-jsonl", "-silent", "-ni", "-duc",
		"-fuzz-param-frequency", "1000000", "-no-mhe", "-rl", "1000"}}.Run(ctx)
	if err != nil {
		return nil, err
	}
	flaws, err := readLines(out.Stdout, "matched-at", "template-id")
	return &scan{Flaws: flaws, Cost: out.Cost}, err
}

// runDalfox attacks one link after the other, with some 1,700 requests each: of a list of
// them nothing is seen until all are done, and one that does not end ends all. Its
// browser looks for script in fragments of addresses, which none of these pages has.
func (b *bench) runDalfox(ctx context.Context, j job) (*scan, error) {
	program, err := b.findScanner("dalfox")
	if err != nil {
		return nil, err
	}
	args := []string{program, "url", "", "--format", "jsonl", "--silence", "--no-color", "--worker", "4",
		"--skip-headless"}
	sign := `"type":"V"` // a page that it has parsed again
	if j.section.dalfox == "redirect" {
		args = append(args, "--use-bav", "--skip-xss-scanning", "--skip-mining-all", "--only-poc", "g")
		sign = `"inject_type":"BAV/OR"`
	} else {
		args = append(args, "--skip-bav", "--only-poc", "v")
	}
	return b.runPerLink(ctx, j, args, sign)
}

// readLines reads a report of one JSON object a line, with the names of its members
// for the address and the rule. Other lines are progress.
func readLines(text []byte, address, rule string) ([]flaw, error) {
	var out []flaw
	lines := bufio.NewScanner(bytes.NewReader(text))
	// A line has the request and the response.
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var object map[string]any
		// dalfox writes the lines as elements of an array.
		line := bytes.Trim(lines.Bytes(), "[], \t")
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &object) != nil {
			continue
		}
		where, ok := object[address].(string)
		if !ok {
			continue
		}
		name, _ := object[rule].(string)
		where, _, _ = strings.Cut(where, "?")
		out = append(out, flaw{Rule: name, Path: pathOf(where)})
	}
	return out, lines.Err()
}

// runSQLMap attacks one link after the other: of a list it leaves most out.
func (b *bench) runSQLMap(ctx context.Context, j job) (*scan, error) {
	program, err := b.findScanner("sqlmap")
	if err != nil {
		return nil, err
	}
	return b.runPerLink(ctx, j, []string{program, "-u", "", "--batch", "--flush-session", "--disable-coloring",
		"--output-dir", filepath.Join(b.out, j.name+".sqlmap")},
		"identified the following injection point")
}

// runPerLink runs a program on one link after the other, in the place of the empty argument,
// each for perLink at most. What it writes holds the sign where it has found a flaw.
func (b *bench) runPerLink(ctx context.Context, j job, args []string, sign string) (*scan, error) {
	links, err := crawlLinks(ctx, j)
	if err != nil {
		return nil, err
	}
	got := &scan{}
	var stopped []string
	for _, link := range links {
		// The third argument is the empty one.
		args[2] = link
		out, err := process.Command{Dir: b.out, Timeout: min(perLink, b.timeout), Args: args}.Run(ctx)
		path, _, _ := strings.Cut(link, "?")
		switch {
		// out is nil when the program did not start: then no link can be attacked.
		case err != nil && (out == nil || ctx.Err() != nil):
			return nil, err
		case err != nil:
			stopped = append(stopped, pathOf(path))
		}
		got.Cost.Add(out.Cost)
		if bytes.Contains(out.Stdout, []byte(sign)) {
			got.Flaws = append(got.Flaws, flaw{Rule: j.section.name, Method: http.MethodGet, Path: pathOf(path)})
		}
	}
	if len(stopped) > 0 {
		got.Reasons = []string{fmt.Sprintf("stopped after %s at %d of %d "+
			"links%s", perLink, len(stopped), len(links), listNames(": ", shortPaths(stopped)))}
	}
	return got, nil
}

// perLink is the time that a scanner that is fed links has for each.
const perLink = 3 * time.Minute

// linksFile writes the links of a job into a file of the folder of results.
func (b *bench) linksFile(ctx context.Context, j job) (string, error) {
	all, err := crawlLinks(ctx, j)
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.out, j.name+".links")
	return file, os.WriteFile(file, []byte(strings.Join(all, "\n")+"\n"), 0o644)
}

// anchor is a link of a page.
var anchor = regexp.MustCompile(`(?i)<a[^>]+href\s*=\s*["']([^"']+)["']`)

// crawlLinks follows the links of the seeds for scanners that do not crawl, and returns
// those with a query.
func crawlLinks(ctx context.Context, j job) ([]string, error) {
	var out []string
	queue, seen := slices.Clone(j.seeds), map[string]bool{}
	for len(queue) > 0 {
		page := queue[0]
		queue = queue[1:]
		if seen[page] {
			continue
		}
		seen[page] = true
		base, err := url.Parse(page)
		if err != nil {
			return nil, err
		}
		text, err := fetchPage(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, m := range anchor.FindAllStringSubmatch(text, -1) {
			u, err := base.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			if err != nil || !strings.HasPrefix(u.String(), j.base) ||
				slices.ContainsFunc(j.exclude, func(p string) bool { return matchesPattern(p, u) }) {
				continue
			}
			// A link with a query is a case; one without leads to more pages.
			if u.Fragment = ""; u.RawQuery != "" {
				out = append(out, u.String())
			} else {
				queue = append(queue, u.String())
			}
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		return nil, errors.New("the pages have no links with a query")
	}
	return out, nil
}

// matchesPattern reports whether an address matches a pattern in which * stands for any
// text.
func matchesPattern(pattern string, u *url.URL) bool {
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	ok, err := regexp.MatchString("^"+expression+"$", u.RequestURI())
	return err == nil && ok
}

// maxPage bounds a page of a target, in bytes.
const maxPage = 16 << 20

// fetchPage returns the body of a page.
func fetchPage(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	return string(text), err
}

// A result is what one scanner needed for what it found.
type result struct {
	found, requests int
	wall            time.Duration
}

// compareScanners returns the row that sets merlon's requests and time for one true flaw
// against the one of the others with the fewest requests; none without others that
// found any.
func compareScanners(name string, results map[string]result) []table.Row {
	// Costs are compared for each true flaw: a scanner that finds little is cheap otherwise.
	each := func(r result) (requests, seconds float64) {
		return float64(r.requests) / float64(r.found), r.wall.Seconds() / float64(r.found)
	}
	ours, ok := results["merlon"]
	best, least := "", 0.0
	for scanner, r := range results {
		if scanner == "merlon" || r.found == 0 {
			continue
		}
		if requests, _ := each(r); best == "" || requests < least {
			best, least = scanner, requests
		}
	}
	if !ok || best == "" {
		return nil
	}
	_, theirs := each(results[best])
	row := table.Row{Measure: name + ": for each true flaw", Floor: fmt.Sprintf("≤ %.1f requests, half of %s; "+
		"≤ %.2f s", least/2, best, theirs), Measured: "nothing found", Met: table.No}
	if ours.found > 0 {
		requests, seconds := each(ours)
		row.Measured, row.Met = fmt.Sprintf("%.1f requests, %.2f s", requests, seconds),
			table.Verdict(requests <= least/2, seconds <= theirs)
	}
	return []table.Row{row}
}
