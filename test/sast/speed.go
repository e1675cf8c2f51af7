package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"merlon/test/table"
)

// Floors of time and memory.
// mostWall and mostPeak are for a whole scan with nothing cached; mostRescan is for a scan after an
// edit, where a developer waits for the result.
const (
	mostWall   = 15 * time.Second
	mostPeak   = int64(1_500_000_000)
	mostRescan = time.Second
)

// benchmarkPackage is the root package of BenchmarkJava; copies are renamed by it.
const benchmarkPackage = "org/owasp/benchmark"

// measureCost measures one scan of BenchmarkJava with nothing cached.
// The wall time counts and not the processor time: it is what a developer waits for. The load of
// the machine before the scan is in the note, because it decides whether the number can be trusted.
func measureCost(ctx context.Context, b *bench) ([]table.Row, error) {
	dir, err := b.corpusPath("BenchmarkJava")
	if err != nil {
		return nil, err
	}
	// Read before the scan: afterwards the average would contain the scan itself.
	before := table.Load()
	scan, err := b.merlon.Scan(ctx, dir)
	if err != nil {
		return nil, err
	}
	return []table.Row{{Measure: "BenchmarkJava, all default rules, whole " +
		"program", Floor: "≤ 15 s, ≤ 1.5 GB", Measured: fmt.Sprintf("%.1f s, %.2f GB", scan.Wall.Seconds(),
		float64(scan.Peak)/1e9), Met: table.Verdict(scan.Wall <= mostWall, scan.Peak <= mostPeak),
		Note: fmt.Sprintf("%s; load %s before", table.Spent(scan.Cost), before)}}, nil
}

// measureGrowth compares 100 K lines with ten copies of them under other packages.
// Ten copies have ten times the code and no new kind of code. Analysis that is quadratic in the
// number of functions or call sites shows here as a factor of up to a hundred.
func measureGrowth(ctx context.Context, b *bench) ([]table.Row, error) {
	temp, err := os.MkdirTemp("", "merlon-growth")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }() // what stays is in the folder of temporary files
	small, large := filepath.Join(temp, "small"), filepath.Join(temp, "large")
	lines, err := b.copyJava(small, 1)
	if err != nil {
		return nil, err
	}
	more, err := b.copyJava(large, 10)
	if err != nil {
		return nil, err
	}
	one, err := b.merlon.Scan(ctx, small)
	if err != nil {
		return nil, err
	}
	ten, err := b.merlon.Scan(ctx, large)
	if err != nil {
		return nil, err
	}
	// The last file crosses the hundred thousand lines, so the factor is computed and not assumed
	// to be 10.
	code := float64(more) / float64(lines)
	// CPU and not wall time: the larger scan uses the cores better, which would hide growth.
	processor := ten.CPU.Seconds() / one.CPU.Seconds()
	memory := float64(ten.Peak) / float64(one.Peak)
	return []table.Row{{Measure: "ten times the code", Floor: fmt.Sprintf("time and memory ≤ × %.1f", code),
		Measured: fmt.Sprintf("CPU × %.1f, memory × %.1f", processor, memory),
		Met:      table.Verdict(processor <= code, memory <= code), Note: fmt.Sprintf("%d lines: %s, %d findings; %d "+
			"lines: %s, %d findings", lines, table.Spent(one.Cost), len(one.Findings), more, table.Spent(ten.Cost),
			len(ten.Findings))}}, nil
}

// hundredThousand lines are what growth and rescans are measured on.
const hundredThousand = 100_000

// copyJava writes copies of the first hundred thousand lines of BenchmarkJava's
// sources, each under a root package of its own, and returns how many lines.
func (b *bench) copyJava(dest string, copies int) (int, error) {
	root, err := b.corpusPath("BenchmarkJava", "src", "main", "java", filepath.FromSlash(benchmarkPackage))
	if err != nil {
		return 0, err
	}
	total, lines := 0, 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".java" {
			return err
		}
		// WalkDir goes in lexical order, so every run takes the same files.
		if lines >= hundredThousand {
			return fs.SkipAll
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines += strings.Count(string(text), "\n")
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for i := range copies {
			n, err := writeCopy(dest, name, string(text), i)
			if err != nil {
				return err
			}
			total += n
		}
		return nil
	})
	return total, err
}

// writeCopy writes a source under the i-th root package; it returns its lines.
func writeCopy(dest, name, text string, i int) (int, error) {
	renamed := fmt.Sprintf("%s%d", benchmarkPackage, i)
	// Packages and imports change together, so that each copy is a whole program by itself and no
	// class exists twice.
	text = strings.ReplaceAll(text, strings.ReplaceAll(benchmarkPackage, "/", "."),
		strings.ReplaceAll(renamed, "/", "."))
	file := filepath.Join(dest, filepath.FromSlash(renamed), name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return 0, err
	}
	return strings.Count(text, "\n"), os.WriteFile(file, []byte(text), 0o644)
}

// measureRescan scans 100 K lines, changes one file, and scans again with what the first scan
// has kept. A third scan, without, must find the same.
func measureRescan(ctx context.Context, b *bench) ([]table.Row, error) {
	temp, err := os.MkdirTemp("", "merlon-rescan")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }() // what stays is in the folder of temporary files
	code := filepath.Join(temp, "code")
	lines, err := b.copyJava(code, 1)
	if err != nil {
		return nil, err
	}
	// The folder is new: entries of an earlier run would make the first scan warm as well.
	cache := filepath.Join(temp, "cache")
	first, err := b.merlon.Scan(ctx, code, "--cache", cache)
	if err != nil {
		return nil, err
	}
	if err := changeOne(code); err != nil {
		return nil, err
	}
	second, err := b.merlon.Scan(ctx, code, "--cache", cache)
	if err != nil {
		return nil, err
	}
	// A scan without a cache is the reference: a fast rescan that misses the effect of the change
	// in other files would pass the limit of time.
	whole, err := b.merlon.Scan(ctx, code)
	if err != nil {
		return nil, err
	}
	same := "the same as"
	// Findings are compared with their order, rules and confidences, not only by number.
	if !reflect.DeepEqual(second.Findings, whole.Findings) {
		same = "not the same as"
	}
	note := fmt.Sprintf("%d lines; first %s, %d findings; again %s, %d findings, %s the %d without a cache, which "+
		"took %s",
		lines, table.Spent(first.Cost), len(first.Findings), table.Spent(second.Cost), len(second.Findings), same,
		len(whole.Findings), table.Spent(whole.Cost))
	return []table.Row{{Measure: "rescan after one changed file of 100 " +
		"K lines", Floor: "≤ 1 s", Measured: fmt.Sprintf("%.2f s", second.Wall.Seconds()),
		Met: table.Verdict(second.Wall <= mostRescan, same == "the same as"), Note: note}}, nil
}

// changeOne adds a method with a flaw to the first test of the code.
// The method has a parameter of type HttpServletRequest, so the added command injection needs no
// caller: the finding shows that the rescan analyzed the changed file.
func changeOne(code string) error {
	names, err := filepath.Glob(filepath.Join(code, "org", "owasp", "*", "testcode", "*.java"))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no test in %s", code)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		return err
	}
	// The last brace closes the class; test classes have no trailing comment with a brace.
	end := strings.LastIndex(string(text), "}")
	if end < 0 {
		return fmt.Errorf("%s has no class", names[0])
	}
	added := "\n\tpublic void added(javax.servlet.http.HttpServletRequest r) throws java.io.IOException {\n" +
		"\t\tRuntime.getRuntime().exec(r.getParameter(\"added\"));\n\t}\n"
	return os.WriteFile(names[0], []byte(string(text[:end])+added+string(text[end:])), 0o644)
}
