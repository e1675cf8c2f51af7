package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/process"
	"merlon/test/sast/score"
	"merlon/test/sast/tool"
	"merlon/test/table"
)

// Floors, as shares: below one of them, or above one that begins with most, the row of the table
// shows that the goal is not met. floorPackages is a number of npm packages, mostNoise the mean
// number of findings in one of them.
const (
	floorJava, mostJavaFPR    = .75, .12
	floorPython               = .50
	floorSecuribench          = .85
	floorXAST                 = .75
	floorPackages, mostNoise  = 170, 4.0
	floorAppP, floorAppR      = .45, .40
	floorRules, floorPatterns = .92, .85
)

// benchJava scans the OWASP Benchmark for Java.
func benchJava(ctx context.Context, b *bench) ([]table.Row, error) {
	n, fpr, note, err := b.scanOWASP(ctx, "BenchmarkJava", "expectedresults-1.2.csv")
	if err != nil {
		return nil, err
	}
	return []table.Row{{Measure: "BenchmarkJava category average / FPR", Floor: "≥ +75 % / ≤ 12 %",
		Measured: fmt.Sprintf("%+.1f %% / %s", 100*n, table.Percent(fpr)),
		Met:      table.Verdict(n >= floorJava, fpr <= mostJavaFPR), Note: note}}, nil
}

// benchPython scans the OWASP Benchmark for Python.
func benchPython(ctx context.Context, b *bench) ([]table.Row, error) {
	n, fpr, note, err := b.scanOWASP(ctx, "BenchmarkPython", "expectedresults-0.1.csv")
	if err != nil {
		return nil, err
	}
	return []table.Row{{Measure: "BenchmarkPython category " +
		"average", Floor: "≥ +50 %", Measured: fmt.Sprintf("%+.1f %% (FPR %s)", 100*n, table.Percent(fpr)),
		Met: table.Verdict(n >= floorPython), Note: note}}, nil
}

// scanOWASP scans an OWASP Benchmark and returns its category average and the mean
// false positive rate.
// The score of an OWASP Benchmark is the true positive rate minus the false positive rate, the mean
// over categories of the same weight: a tool that reports everything gets 0, a random one too.
func (b *bench) scanOWASP(ctx context.Context, name, expected string) (average, fpr float64, note string, err error) {
	dir, err := b.corpusPath(name)
	if err != nil {
		return 0, 0, "", err
	}
	scan, err := b.merlon.Scan(ctx, dir)
	if err != nil {
		return 0, 0, "", err
	}
	if note, err = b.saveReport(name, scan); err != nil {
		return 0, 0, "", err
	}
	cases, err := judgeOwasp(name, expected)(b, scan.Findings)
	if err != nil {
		return 0, 0, "", err
	}
	all, groups := score.Tally(cases)
	tpr, fpr := score.Means(groups)
	note = fmt.Sprintf("TPR %s; flat P %.3f R %.3f; %s", table.Percent(tpr), all.Precision(), all.Recall(), note)
	return tpr - fpr, fpr, note, b.writeCases(name, cases)
}

// judgeOwasp returns what judges findings by the expected results of a benchmark.
// The file has one line a test case, such as "BenchmarkTest00001,pathtraver,true,22".
func judgeOwasp(name, expected string) func(*bench, []score.Finding) ([]score.Case, error) {
	return func(b *bench, findings []score.Finding) ([]score.Case, error) {
		path, err := b.corpusPath(name, expected)
		if err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // read only
		truth, err := score.ReadOwasp(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", expected, err)
		}
		return score.Owasp(truth, findings), nil
	}
}

// measureSecuribench scans Securibench Micro, small servlets that each test one feature of data
// flow analysis.
func measureSecuribench(ctx context.Context, b *bench) ([]table.Row, error) {
	n, note, err := b.scanLabelled(ctx, labelled{truth: "securibench.jsonl", corpus: "securibench-micro",
		judge: exactLine})
	if err != nil {
		return nil, err
	}
	return []table.Row{{Measure: "Securibench-micro, exact line", Floor: "R ≥ .85, P ≥ .85",
		Measured: fmt.Sprintf("R %.3f, P %.3f", n.Recall(), n.Precision()),
		Met:      table.Verdict(n.Recall() >= floorSecuribench, n.Precision() >= floorSecuribench), Note: note}}, nil
}

// exactLine requires a finding on the labelled line.
func exactLine(truth []score.Label, findings []score.Finding) []score.Case {
	return score.Lines(truth, findings, 0)
}

// measureXAST has a floor for each language that is followed to full depth.
// xAST has a folder per language, and a file for each case: a finding anywhere in the file counts,
// because the cases differ in one feature of the language and not in the line of the sink.
func measureXAST(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	for _, set := range []struct{ title, langs string }{
		{"Java", "java"}, {"JS", "js"}, {"Python", "python2 python3"}, {"Go", "go"}, {"PHP", "php"}} {
		var n score.Counts
		var notes []string
		// Python has two folders, for the cases that exist for both major versions; their counts
		// are added before the share is taken.
		for _, lang := range strings.Fields(set.langs) {
			got, note, err := b.scanLabelled(ctx, labelled{truth: "xast-dev.jsonl", corpus: "xast", lang: lang,
				dir: "sast-" + lang, judge: score.Files})
			if err != nil {
				return rows, err
			}
			n = score.Counts{TP: n.TP + got.TP, FN: n.FN + got.FN, TN: n.TN + got.TN, FP: n.FP + got.FP}
			notes = append(notes, note)
		}
		r := table.Row{Measure: "xAST " + set.title + ", cases right", Measured: table.Percent(n.Accuracy()),
			Note: fmt.Sprintf("TP %d FN %d TN %d FP %d; %s", n.TP, n.FN, n.TN, n.FP, strings.Join(notes, "; "))}
		// PHP is searched with patterns and not followed by data flow, so it has a number without a
		// floor.
		if set.title != "PHP" { // search only
			r.Floor, r.Met = "≥ 75 %", table.Verdict(n.Accuracy() >= floorXAST)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// measureTPatterns scans the testability patterns: pairs of programs that are hard for static
// analysis.
func measureTPatterns(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	for _, lang := range []string{"JAVA", "JS"} {
		n, note, err := b.scanLabelled(ctx, labelled{truth: "tpatterns.jsonl", corpus: "tpatterns", lang: lang,
			dir:   lang,
			judge: score.Files})
		if err != nil {
			return rows, err
		}
		rows = append(rows, table.Row{Measure: "testability patterns " + lang + ", cases right",
			Measured: table.Percent(n.Accuracy()),
			Note:     fmt.Sprintf("TP %d FN %d TN %d FP %d; %s", n.TP, n.FN, n.TN, n.FP, note)})
	}
	return rows, nil
}

// A labelled measure scans a folder of a corpus and judges the labels of a truth
// whose files are in that folder.
// truth is the name of a JSON Lines file of labels, corpus the folder that is scanned.
type labelled struct {
	truth, corpus string
	lang          string // only labels of this language, if not empty
	dir           string // the scanned folder of the corpus; its root if empty
	// judge decides which labels were found: by exact line, or by file.
	judge func([]score.Label, []score.Finding) []score.Case
}

// scanLabelled scans a labelled corpus and counts right and wrong cases.
func (b *bench) scanLabelled(ctx context.Context, m labelled) (score.Counts, string, error) {
	truth, err := b.readLabels(m.truth)
	if err != nil {
		return score.Counts{}, "", err
	}
	dir, err := b.corpusPath(m.corpus, m.dir)
	if err != nil {
		return score.Counts{}, "", err
	}
	// Labels of the other languages would count as missed: they are not below the scanned folder.
	truth = slices.DeleteFunc(truth, func(l score.Label) bool { return m.lang != "" && l.Lang != m.lang })
	// Findings have paths relative to the scanned folder, labels relative to the corpus.
	for i := range truth {
		truth[i].File = strings.TrimPrefix(truth[i].File, m.dir+"/")
	}
	scan, err := b.merlon.Scan(ctx, dir)
	if err != nil {
		return score.Counts{}, "", err
	}
	name := strings.Trim(m.corpus+"-"+m.lang, "-")
	note, err := b.saveReport(name, scan)
	if err != nil {
		return score.Counts{}, "", err
	}
	cases := m.judge(truth, scan.Findings)
	n, _ := score.Tally(cases)
	return n, note, b.writeCases(name, cases)
}

// readLabels reads a truth of labels.
func (b *bench) readLabels(name string) ([]score.Label, error) {
	return truthOf[score.Label](b, name)
}

// truthOf reads the labels of a corpus.
// A line that does not decode is an error: a label that is dropped would improve the score.
func truthOf[T any](b *bench, name string) ([]T, error) {
	path, err := b.corpusPath("yardsticks", name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	out, err := score.ReadJSONL[T](f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// measureQueries scans each labelled folder of the query tests by itself: they are
// programs of their own.
func measureQueries(ctx context.Context, b *bench) ([]table.Row, error) {
	truth, err := b.readLabels("codeql-tests-dev.jsonl")
	if err != nil {
		return nil, err
	}
	root, err := b.corpusPath("codeql-tests")
	if err != nil {
		return nil, err
	}
	byLang := map[string]map[string][]score.Label{}
	for _, l := range truth {
		// Other languages of the corpus have no rows in the table.
		if !slices.Contains([]string{"java", "javascript", "python", "go"}, l.Lang) {
			continue
		}
		if byLang[l.Lang] == nil {
			byLang[l.Lang] = map[string][]score.Label{}
		}
		// A line of the expected results is a vulnerability by definition; there are no labels of
		// safe lines. The groups are the queries, so that the groups file shows which query is
		// missed most.
		l.Vuln, l.Group = true, l.Query
		byLang[l.Lang][l.Dir] = append(byLang[l.Lang][l.Dir], l)
	}
	var rows []table.Row
	for _, lang := range slices.Sorted(maps.Keys(byLang)) {
		dirs := slices.Sorted(maps.Keys(byLang[lang]))
		cases, err := forEachItem(b.jobs, dirs, func(dir string) ([]score.Case, error) {
			scan, err := b.merlon.Scan(ctx, filepath.Join(root, dir))
			if err != nil {
				return nil, err
			}
			return score.Queries(byLang[lang][dir], scan.Findings), nil
		})
		if err != nil {
			return rows, err
		}
		all := slices.Concat(cases...)
		n, _ := score.Tally(all)
		rows = append(rows, table.Row{Measure: "query tests " + lang + ", labelled lines found",
			Measured: table.Percent(n.Recall()),
			// Precision is not reported: most folders test one query, and other rules are right to
			// report what that query does not.
			Note: fmt.Sprintf("%d of %d in %d folders", n.TP, n.TP+n.FN, len(dirs))})
		if err := b.writeCases("queries-"+lang, all); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// juiceShop scans the sources of the OWASP Juice Shop, whose vulnerable lines are marked in
// comments.
func juiceShop(ctx context.Context, b *bench) ([]table.Row, error) {
	dir, err := b.corpusPath("juice-shop")
	if err != nil {
		return nil, err
	}
	var truth []score.Label
	// The labels come from comments in the code, such as "// vuln-code-snippet vuln-line
	// loginChallenge", which the application uses for its own coding challenges.
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".ts" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		truth = append(truth, score.Snippets(filepath.ToSlash(name), string(text))...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	scan, err := b.merlon.Scan(ctx, dir)
	if err != nil {
		return nil, err
	}
	note, err := b.saveReport("juice-shop", scan)
	if err != nil {
		return nil, err
	}
	// Neutral lines are those that the authors marked as beside the fault but not at fault.
	cases := exactLine(truth, scan.Findings)
	n, _ := score.Tally(cases)
	return []table.Row{{Measure: "juice-shop, exact line", Measured: fmt.Sprintf("%d of %d lines, %d of %d "+
		"neutral lines", n.TP, n.TP+n.FN, n.FP, n.FP+n.TN),
		Note: note}}, b.writeCases("juice-shop", cases)
}

// forEachItem does work for every item, several at once, and returns what came of it in
// the order of the items.
// The first error in the order of the items is returned, so that two runs report the same one.
func forEachItem[T, R any](jobs int, items []T, work func(T) (R, error)) ([]R, error) {
	out := make([]R, len(items))
	errs := make([]error, len(items))
	slots := make(chan struct{}, max(1, jobs))
	for i, item := range items {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			out[i], errs[i] = work(item)
		}()
	}
	// Filling all slots waits for the goroutines that still have one.
	for range cap(slots) {
		slots <- struct{}{}
	}
	for _, err := range errs {
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// costNote sums what scans cost and counts those that could not look at everything.
// A scan that fails counts as silent: the corpus needs a result for every case, and a crash on
// hostile input must not improve precision. The note reports how many there were.
func costNote(scans []*tool.Scan) string {
	var cost process.Cost
	degraded, failed := 0, 0
	for _, s := range scans {
		cost.Add(s.Cost)
		degraded += min(1, len(s.Degraded))
		failed += min(1, len(s.Failed))
	}
	text := table.Spent(cost)
	if failed > 0 {
		text += fmt.Sprintf("; %d scans failed and count as silent", failed)
	}
	if degraded > 0 {
		text += fmt.Sprintf("; %d scans degraded", degraded)
	}
	return text
}
