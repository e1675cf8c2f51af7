package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merlon/test/sast/score"
	"merlon/test/sast/tool"
	"merlon/test/table"
)

// atLeastCheaper is how many times less processor time must be used than a peer.
// It is a factor of processor time and not of wall time, since the scanners use different numbers
// of threads.
const atLeastCheaper = 10

// A contest is one tree on which a peer is run side by side.
// The title of its row is the peer and the path of the tree.
type contest struct {
	peer string
	tree []string // elements of its path below the corpora
	// scan runs the peer on the absolute path of the tree.
	scan func(context.Context, string) (*tool.Scan, error)
	// judge tells what is right; nil for a tree without labels.
	judge func(*bench, []score.Finding) ([]score.Case, error)
}

// measurePeers runs other scanners on the same trees in the same run.
// To add a peer: a type with a Scan method in package tool, a line in available, and its contests.
func measurePeers(ctx context.Context, b *bench) ([]table.Row, error) {
	contests := []contest{
		// Trees with test cases that have expected results, as the measures of ours alone use them.
		{"Bearer", []string{"BenchmarkJava"}, b.bearer.Scan, judgeOwasp("BenchmarkJava", "expectedresults-1.2.csv")},
		{"Bearer", []string{"BenchmarkPython"}, b.bearer.Scan,
			judgeOwasp("BenchmarkPython", "expectedresults-0.1.csv")},
		{"Bearer", []string{"securibench-micro"}, b.bearer.Scan, judgeSecuribench},
		{"Bearer", []string{"xast", "sast-go"}, b.bearer.Scan, judgeXAST("go")},
		{"Bearer", []string{"xast", "sast-js"}, b.bearer.Scan, judgeXAST("js")},
		// Query tests have labels of real flaws only; findings beside them count against precision,
		// see queryTests.
		queryTests("Bearer", "java", b.bearer.Scan),
		queryTests("Bearer", "javascript", b.bearer.Scan),
		queryTests("Bearer", "python", b.bearer.Scan),
		queryTests("Bearer", "go", b.bearer.Scan),
		queryTests("gosec", "go", b.gosec.Scan),
		{"gosec", []string{"xast", "sast-go"}, b.gosec.Scan, judgeXAST("go")},
		// Open source projects without labels: only the time is compared.
		{"gosec", []string{"noise", "go", "gorm"}, b.gosec.Scan, nil},
		{"gosec", []string{"apps", "go", "gotify"}, b.gosec.Scan, nil},
	}
	// A peer that is not installed gives rows with "not measured"; the other contests still run.
	available := map[string]error{"Bearer": b.bearerReady(), "gosec": checkProgram(b.gosec.Binary)}
	var rows []table.Row
	sums := map[string]*duel{}
	for _, c := range contests {
		title := fmt.Sprintf("%s on %s", c.peer, filepath.Join(c.tree...))
		if err := available[c.peer]; err != nil {
			rows = append(rows, table.Row{Measure: title, Measured: "not measured", Note: err.Error()})
			continue
		}
		d, err := c.runContest(ctx, b)
		if err != nil {
			rows = append(rows, table.Row{Measure: title, Measured: "failed", Met: table.No, Note: err.Error()})
			continue
		}
		rows = append(rows, d.judgeDuel(title))
		if sums[c.peer] == nil {
			sums[c.peer] = &duel{}
		}
		sums[c.peer].addDuel(d)
	}
	// The sum of all trees of a peer is a row of its own: single trees are small, and one of them
	// can be won or lost by the start of a process.
	for _, peer := range slices.Sorted(maps.Keys(sums)) {
		rows = append(rows, sums[peer].judgeDuel(peer+" on all of its trees together"))
	}
	return rows, nil
}

// A side is what one of two scanners needed and found.
// cases is nil for a tree without labels.
type side struct {
	cpu      time.Duration
	findings int
	cases    []score.Case
}

// A duel is both scanners on one tree, or on several.
// note is appended to the note of the row; it is empty for sums.
type duel struct {
	ours, theirs side
	note         string
}

// addDuel adds the counts of another tree.
func (d *duel) addDuel(other *duel) {
	for _, s := range [][2]*side{{&d.ours, &other.ours}, {&d.theirs, &other.theirs}} {
		s[0].cpu += s[1].cpu
		s[0].findings += s[1].findings
		s[0].cases = append(s[0].cases, s[1].cases...)
	}
}

// judgeDuel judges the duel: by time alone where nothing is labelled.
func (d *duel) judgeDuel(title string) table.Row {
	// At least a millisecond, so that a scan below the resolution of the clock does not divide by
	// zero.
	times := d.theirs.cpu.Seconds() / max(d.ours.cpu.Seconds(), 1e-3)
	out := table.Row{Measure: title, Floor: "≥ 10 × fewer CPU s", Measured: fmt.Sprintf("%.1f ×", times),
		Met: table.Verdict(times >= atLeastCheaper),
		Note: fmt.Sprintf("ours %.1f CPU s, %d findings; theirs %.1f CPU s, %d findings%s",
			d.ours.cpu.Seconds(), d.ours.findings, d.theirs.cpu.Seconds(), d.theirs.findings, d.note)}
	// Equal recall or precision is not enough below: the goal is to be better in both.
	if d.ours.cases == nil {
		return out
	}
	m, _ := score.Tally(d.ours.cases)
	o, _ := score.Tally(d.theirs.cases)
	out.Floor += ", higher R and P"
	out.Measured += fmt.Sprintf("; R %.3f P %.3f against R %.3f P %.3f", m.Recall(), m.Precision(), o.Recall(),
		o.Precision())
	out.Met = table.Verdict(times >= atLeastCheaper, m.Recall() > o.Recall(), m.Precision() > o.Precision())
	return out
}

// runContest runs both scanners on the same trees, one after the other, so that they do not
// compete for the processors.
// Ours runs first: a warm file cache can only help the peer.
func (c contest) runContest(ctx context.Context, b *bench) (*duel, error) {
	dir, err := b.corpusPath(c.tree...)
	if err != nil {
		return nil, err
	}
	ours, err := b.merlon.Scan(ctx, dir)
	if err != nil {
		return nil, err
	}
	theirs, err := c.scan(ctx, dir)
	if err != nil {
		return nil, err
	}
	d := &duel{side{cpu: ours.CPU, findings: len(ours.Findings)}, side{cpu: theirs.CPU, findings: len(theirs.Findings)},
		fmt.Sprintf("; ours %s, theirs %s", table.Spent(ours.Cost), table.Spent(theirs.Cost))}
	if c.judge == nil {
		return d, nil
	}
	if d.ours.cases, err = c.judge(b, ours.Findings); err != nil {
		return nil, err
	}
	d.theirs.cases, err = c.judge(b, theirs.Findings)
	return d, err
}

// bearerReady checks that the other scanner and its rules are available offline: a download
// during the measure would count as its time.
func (b *bench) bearerReady() error {
	if err := checkProgram(b.bearer.Binary); err != nil {
		return err
	}
	if b.bearer.Rules == "" {
		return fmt.Errorf("-bearer-rules is not given: %w", fs.ErrNotExist)
	}
	_, err := os.Stat(b.bearer.Rules)
	return err
}

// checkProgram reports whether a program is there.
// The error wraps fs.ErrNotExist, so that the row says "not measured".
func checkProgram(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s: %w", program, fs.ErrNotExist)
	}
	return nil
}

// judgeSecuribench judges findings by the labels of Securibench Micro.
func judgeSecuribench(b *bench, findings []score.Finding) ([]score.Case, error) {
	truth, err := b.readLabels("securibench.jsonl")
	return exactLine(truth, findings), err
}

// judgeXAST judges findings by the labels of xAST for a language.
// The labels have the folder of the language in their path; the scan began below that folder.
func judgeXAST(lang string) func(*bench, []score.Finding) ([]score.Case, error) {
	return func(b *bench, findings []score.Finding) ([]score.Case, error) {
		truth, err := b.readLabels("xast-dev.jsonl")
		truth = slices.DeleteFunc(truth, func(l score.Label) bool { return l.Lang != lang })
		for i := range truth {
			truth[i].File = strings.TrimPrefix(truth[i].File, "sast-"+lang+"/")
		}
		return score.Files(truth, findings), err
	}
}

// securityTests are the folders of the query tests about security, by language. They are
// roots of their own: everybody passes over files below "test".
var securityTests = map[string]string{
	"go": "go/ql/test/query-tests/Security", "java": "java/ql/test/query-tests/security",
	"javascript": "javascript/ql/test/query-tests/Security", "python": "python/ql/test/query-tests/Security",
}

// queryTests returns the contest on the query tests of a language as one tree. Findings
// of a class that a folder is labelled for, away from its labels, count against precision.
func queryTests(peer, lang string, scan func(context.Context, string) (*tool.Scan, error)) contest {
	root := securityTests[lang]
	return contest{peer, append([]string{"codeql-tests"}, strings.Split(root, "/")...), scan,
		func(b *bench, findings []score.Finding) ([]score.Case, error) {
			all, err := b.readLabels("codeql-tests-dev.jsonl")
			var truth []score.Label
			for _, l := range all {
				// The slash at the end keeps out siblings that begin with the same name, such as
				// "Security2".
				if dir, ok := strings.CutPrefix(l.Dir+"/", root+"/"); ok {
					l.File, l.Vuln, l.Group = path.Join(dir, l.File), true, l.Query
					truth = append(truth, l)
				}
			}
			// Queries contributes the labels, found or missed, and Claims the findings that no
			// label explains.
			return append(score.Queries(truth, findings), score.Claims(truth, findings)...), err
		}}
}
