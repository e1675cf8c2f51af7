package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"merlon/test/table"
)

// This file measures the breadth of the rules for Terraform on labelled examples:
// folders whose resources are called pass… where a certain flaw is absent and
// fail… where it is present. A folder is covered when some rule tells of a failing
// resource and of no passing one. No rule was written with half of the folders in
// view: that half is a row of its own.

// checkovFloor is the least share of Checkov's examples that must be covered.
const checkovFloor = 0.40

// An example is one folder, and whether it is covered.
// Folder is relative to the examples, as in aws/example_S3Encryption.
type example struct {
	Folder  string   `json:"folder"`
	Aside   bool     `json:"aside"` // kept aside when the rules were written
	Covered bool     `json:"covered"`
	By      []string `json:"by,omitempty"`    // rules that cover it
	Noisy   []string `json:"noisy,omitempty"` // rules that tell of both
}

// labelled is a resource of an example: the lines of its block.
// first and last are line numbers of the block, both inclusive.
type labelled struct {
	first, last int
	fail        bool
}

// measureCheckov scans the examples of Checkov's own tests: resources that each check must
// report or must not report. One half is never used to develop rules.
func measureCheckov(ctx context.Context, b *bench) ([]table.Row, error) {
	root := filepath.Join(b.corpora, "checkov", "tests", "terraform", "checks", "resource")
	examples, files, err := scanLabels(root)
	if err != nil {
		return nil, err
	}
	// One scan of all examples: rules that relate resources to each other stay within a folder.
	r, cost, err := b.scanTarget(ctx, root, "--analyses", "iac")
	if err != nil {
		return nil, err
	}
	// told records whether a rule reported a failing and a passing resource of a folder.
	type told struct{ pass, fail bool }
	rules := map[string]map[string]*told{} // by folder and rule
	for _, f := range r.Findings {
		folder := filepath.ToSlash(filepath.Dir(f.Location.Path))
		for _, l := range files[f.Location.Path] {
			// A finding counts for the resource whose block contains its line. One outside of all
			// labelled blocks, such as at a provider, is not judged.
			if f.Location.StartLine < l.first || f.Location.StartLine > l.last {
				continue
			}
			if rules[folder] == nil {
				rules[folder] = map[string]*told{}
			}
			t := rules[folder][f.RuleID]
			if t == nil {
				t = &told{}
				rules[folder][f.RuleID] = t
			}
			t.fail, t.pass = t.fail || l.fail, t.pass || !l.fail
		}
	}
	for _, e := range examples {
		for id, t := range rules[e.Folder] {
			switch {
			// A rule that reports a passing resource as well does not tell the two apart: it may
			// be about something else that both have.
			case t.fail && !t.pass:
				e.Covered, e.By = true, append(e.By, id)
			case t.fail:
				e.Noisy = append(e.Noisy, id)
			}
		}
		slices.Sort(e.By)
		slices.Sort(e.Noisy)
	}
	if err := writeCases(b, "checkov", examples); err != nil {
		return nil, err
	}
	// The half kept aside shows whether the rules fit the examples or the flaws.
	all, seen, aside := shareCovered(examples, nil), shareCovered(examples, new(false)),
		shareCovered(examples, new(true))
	return []table.Row{{Measure: "labelled Terraform examples, covered", Floor: "≥ " + table.Percent(checkovFloor),
		Measured: table.Percent(all),
		Met:      table.Verdict(all >= checkovFloor),
		Note: fmt.Sprintf("%d folders; %s of the half that was looked at, %s of the half kept aside; %s; by "+
			"provider %s", len(examples), table.Percent(seen), table.Percent(aside), table.Spent(cost),
			describeProviders(examples))}}, nil
}

// shareCovered returns the covered part of the examples, of one half if one is named.
// aside is nil for all examples.
func shareCovered(examples []*example, aside *bool) float64 {
	n, covered := 0, 0
	for _, e := range examples {
		if aside == nil || e.Aside == *aside {
			n++
			if e.Covered {
				covered++
			}
		}
	}
	return float64(covered) / float64(max(n, 1))
}

// describeProviders tells the covered examples of each provider.
func describeProviders(examples []*example) string {
	counts := map[string][2]int{}
	for _, e := range examples {
		// The first folder of the path is the provider, such as aws or azure.
		name, _, _ := strings.Cut(e.Folder, "/")
		c := counts[name]
		c[1]++
		if e.Covered {
			c[0]++
		}
		counts[name] = c
	}
	var out []string
	for name, c := range counts {
		out = append(out, fmt.Sprintf("%s %d/%d", name, c[0], c[1]))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// labelledResource matches the first line of a resource, whose name carries the label.
var labelledResource = regexp.MustCompile(`^resource\s+"?[a-z0-9_]+"?\s+"?([A-Za-z0-9_-]+)"?\s*\{`)

// scanLabels finds the folders that hold both kinds of resources, and the resources
// of each file.
func scanLabels(root string) ([]*example, map[string][]labelled, error) {
	files := map[string][]labelled{}
	has := map[string][2]bool{}
	// has[folder] is whether it has passing and failing resources.
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		// Only the folders example_NAME are examples; others have the tests in Python.
		if err != nil || d.IsDir() || filepath.Ext(path) != ".tf" || !strings.Contains(rel, "example_") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files[rel] = parseResources(string(text))
		h := has[filepath.ToSlash(filepath.Dir(rel))]
		for _, l := range files[rel] {
			h[0], h[1] = h[0] || !l.fail, h[1] || l.fail
		}
		has[filepath.ToSlash(filepath.Dir(rel))] = h
		return nil
	})
	var out []*example
	for folder, h := range has {
		if h[0] && h[1] {
			// The halves are divided by a hash of the name, so that they are the same in each
			// checkout and no choice is involved.
			sum := sha256.Sum256([]byte(filepath.Base(folder)))
			out = append(out, &example{Folder: folder, Aside: sum[0] >= 0x80})
		}
	}
	slices.SortFunc(out, func(a, b *example) int { return strings.Compare(a.Folder, b.Folder) })
	return out, files, err
}

// parseResources returns the labelled resources of a file. A block ends where the next
// line with a closing brace in the first column is.
// Formatted Terraform closes a block in the first column, so no parser is needed.
func parseResources(text string) []labelled {
	var out []labelled
	var open *labelled
	for i, line := range strings.Split(text, "\n") {
		if m := labelledResource.FindStringSubmatch(line); m != nil {
			name := strings.ToLower(m[1])
			fail := strings.HasPrefix(name, "fail")
			// A resource with another name ends the labelled one that has no end of its own.
			open = nil
			if fail || strings.HasPrefix(name, "pass") {
				open = &labelled{first: i + 1, last: i + 1, fail: fail}
				if strings.HasSuffix(strings.TrimSpace(line), "}") {
					out = append(out, *open)
					open = nil
				}
			}
			continue
		}
		if open != nil && strings.HasPrefix(line, "}") {
			open.last = i + 1
			out = append(out, *open)
			open = nil
		}
	}
	return out
}
