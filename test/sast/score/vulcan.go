package score

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Package is a published npm package with the labels of one advisory.
// Peers are the results of other tools as the authors of the corpus graded them.
type Package struct {
	ID   string   `json:"id"`
	CWE  []string `json:"cwe"`
	Locs []struct {
		Source *Place `json:"source"`
		Sink   *Place `json:"sink"`
		Block  *Place `json:"block"` // a file, without a line
	} `json:"locs"`
	Peers map[string]string `json:"peers"` // by tool: "A" detected … "D" silent
}

// A Place is a line of a file; 0 is the whole file.
type Place struct {
	File string `json:"file"`
	Line int    `json:"lineno"`
}

// Locate gives the labelled sinks the paths that their files have below root, the
// unpacked package. Labels were made on other layouts: of one that names no file of the
// package, leading folders are dropped ("src/server.js" where the package has
// "server.js"). A label that still names none stays as it is, and is not met.
func (p Package) Locate(root string) {
	for _, l := range p.Locs {
		if l.Sink == nil {
			continue
		}
		for path, more := cleanPath(l.Sink.File), true; more; _, path, more = strings.Cut(path, "/") {
			if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err == nil &&
				info.Mode().IsRegular() {
				l.Sink.File = path
				break
			}
		}
	}
}

// sinkTolerance is how far from a labelled sink a finding may be.
const sinkTolerance = 2

// Vulcan judges a package: its flaw is found if a finding of its class is at most
// two lines from a labelled sink. A label without a sink cannot be met.
func Vulcan(p Package, findings []Finding) Case {
	out := Case{ID: p.ID, Group: strings.TrimSpace(strings.Join(p.CWE, " ")), Real: true}
	var hits, beside []Finding
	for _, l := range p.Locs {
		if l.Sink == nil {
			continue
		}
		if out.Line == 0 {
			out.Line = l.Sink.Line
		}
		for _, f := range findings {
			if cleanPath(l.Sink.File) != cleanPath(f.File) || !withinTolerance(f.Line, l.Sink.Line, sinkTolerance) {
				continue
			}
			// A finding near the sink with another weakness is kept for the reader, see
			// Case.Rules.
			beside = append(beside, f)
			if ofClass(p.CWE, f.CWE) {
				hits = append(hits, f)
			}
		}
	}
	out.Found = len(hits) > 0
	out.Rules = ruleNames(hits)
	if !out.Found {
		out.Rules = ruleNames(beside)
	}
	return out
}

// Sinks returns the labelled sinks of a package as text, for a reader.
func (p Package) Sinks() []string {
	var out []string
	for _, l := range p.Locs {
		if l.Sink != nil {
			out = append(out, l.Sink.File+":"+strconv.Itoa(l.Sink.Line))
		}
	}
	return out
}

// ofClass reports whether a finding has a weakness of the class of one that the advisory names.
func ofClass(want []string, got []int) bool {
	return slices.ContainsFunc(parseCWEs(want), func(w int) bool {
		return slices.ContainsFunc(got, func(g int) bool { return SameClass(w, g) })
	})
}
