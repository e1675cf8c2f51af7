package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/sast/score"
	"merlon/test/sast/tool"
)

// atLeastCheaper is how many times less processor time must be used than a peer.
const atLeastCheaper = 10

// A contest is one tree on which a peer is run side by side.
type contest struct {
	peer string
	tree []string // elements of its path below the corpora
	scan func(context.Context, string) (*tool.Scan, error)
	// judge tells what is right; nil for a tree without labels.
	judge func(*bench, []score.Finding) ([]score.Case, error)
}

// peers runs other scanners on the same trees in the same run.
func peers(ctx context.Context, b *bench) ([]row, error) {
	contests := []contest{
		{"Bearer", []string{"BenchmarkJava"}, b.bearer.Scan, judgeOwasp("BenchmarkJava", "expectedresults-1.2.csv")},
		{"Bearer", []string{"BenchmarkPython"}, b.bearer.Scan, judgeOwasp("BenchmarkPython", "expectedresults-0.1.csv")},
		{"Bearer", []string{"securibench-micro"}, b.bearer.Scan, judgeSecuribench},
		{"Bearer", []string{"xast", "sast-go"}, b.bearer.Scan, judgeXAST("go")},
		{"Bearer", []string{"xast", "sast-js"}, b.bearer.Scan, judgeXAST("js")},
		queryTests("Bearer", "java", b.bearer.Scan),
		queryTests("Bearer", "javascript", b.bearer.Scan),
		queryTests("Bearer", "python", b.bearer.Scan),
		queryTests("Bearer", "go", b.bearer.Scan),
		queryTests("gosec", "go", b.gosec.Scan),
		{"gosec", []string{"xast", "sast-go"}, b.gosec.Scan, judgeXAST("go")},
		{"gosec", []string{"noise", "go", "gorm"}, b.gosec.Scan, nil},
		{"gosec", []string{"apps", "go", "gotify"}, b.gosec.Scan, nil},
	}
	available := map[string]error{"Bearer": b.bearerReady(), "gosec": found(b.gosec.Binary)}
	var rows []row
	for _, c := range contests {
		title := fmt.Sprintf("%s on %s", c.peer, filepath.Join(c.tree...))
		if err := available[c.peer]; err != nil {
			rows = append(rows, row{Measure: title, Measured: "not measured", Note: err.Error()})
			continue
		}
		r, err := c.run(ctx, b)
		if err != nil {
			r = row{Measured: "failed", Met: no, Note: err.Error()}
		}
		r.Measure = title
		rows = append(rows, r)
	}
	return rows, nil
}

func (c contest) run(ctx context.Context, b *bench) (row, error) {
	dir, err := b.corpus(c.tree...)
	if err != nil {
		return row{}, err
	}
	ours, err := b.merlon.Scan(ctx, dir)
	if err != nil {
		return row{}, err
	}
	theirs, err := c.scan(ctx, dir)
	if err != nil {
		return row{}, err
	}
	times := theirs.CPU.Seconds() / max(ours.CPU.Seconds(), 1e-3)
	out := row{Floor: "≥ 10 × fewer CPU s", Measured: fmt.Sprintf("%.1f ×", times), Met: verdict(times >= atLeastCheaper),
		Note: fmt.Sprintf("ours %s, %d findings; theirs %s, %d findings", spent(ours.Cost), len(ours.Findings), spent(theirs.Cost), len(theirs.Findings))}
	if c.judge == nil {
		return out, nil
	}
	mine, err := c.judge(b, ours.Findings)
	if err != nil {
		return row{}, err
	}
	other, err := c.judge(b, theirs.Findings)
	if err != nil {
		return row{}, err
	}
	m, _ := score.Tally(mine)
	o, _ := score.Tally(other)
	out.Floor += ", higher R and P"
	out.Measured += fmt.Sprintf("; R %.3f P %.3f against R %.3f P %.3f", m.Recall(), m.Precision(), o.Recall(), o.Precision())
	out.Met = verdict(times >= atLeastCheaper, m.Recall() > o.Recall(), m.Precision() > o.Precision())
	return out, nil
}

func (b *bench) bearerReady() error {
	if err := found(b.bearer.Binary); err != nil {
		return err
	}
	if b.bearer.Rules == "" {
		return fmt.Errorf("-bearer-rules is not given: %w", fs.ErrNotExist)
	}
	_, err := os.Stat(b.bearer.Rules)
	return err
}

// found reports whether a program is there.
func found(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s: %w", program, fs.ErrNotExist)
	}
	return nil
}

func judgeSecuribench(b *bench, findings []score.Finding) ([]score.Case, error) {
	truth, err := b.labels("securibench.jsonl")
	return exactLine(truth, findings), err
}

func judgeXAST(lang string) func(*bench, []score.Finding) ([]score.Case, error) {
	return func(b *bench, findings []score.Finding) ([]score.Case, error) {
		truth, err := b.labels("xast-dev.jsonl")
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
	return contest{peer, append([]string{"codeql-tests"}, strings.Split(root, "/")...), scan, func(b *bench, findings []score.Finding) ([]score.Case, error) {
		all, err := b.labels("codeql-tests-dev.jsonl")
		var truth []score.Label
		for _, l := range all {
			if dir, ok := strings.CutPrefix(l.Dir+"/", root+"/"); ok {
				l.File, l.Vuln, l.Group = path.Join(dir, l.File), true, l.Query
				truth = append(truth, l)
			}
		}
		return append(score.Queries(truth, findings), score.Claims(truth, findings)...), err
	}}
}
