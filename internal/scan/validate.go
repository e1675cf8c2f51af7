package scan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// validID is the form of an analyzer ID: the path of its folder below engine.
var validID = regexp.MustCompile(`^[a-z][a-z0-9]*(/[a-z][a-z0-9-]*)+$`)

// Validate checks the declarations of analyzers: valid and unique IDs, a known analysis, a
// manual with a title, exactly one function, and Match where File requires it. It returns all
// faults together.
func Validate(analyzers []*Analyzer) error {
	var faults []error
	seen := map[string]bool{}
	for _, a := range analyzers {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("analyzer %q: "+format, append([]any{a.ID}, args...)...))
		}
		if seen[a.ID] {
			fault("the id is taken")
		}
		seen[a.ID] = true
		validateIdentity(a, fault)
		validateFunctions(a, fault)
	}
	return errors.Join(faults...)
}

// validateIdentity checks the fields that identify and document an analyzer.
func validateIdentity(a *Analyzer, fault func(format string, args ...any)) {
	if !validID.MatchString(a.ID) || len(a.ID) > 100 {
		fault("the id is not a path of lower-case words")
	}
	if a.Version < 1 {
		fault("the version is not positive")
	}
	if !slices.Contains(finding.Analyses, a.Analysis) {
		fault("%q is not an analysis", a.Analysis)
	}
	if title, _, _ := strings.Cut(a.Doc, "\n"); len(strings.TrimSpace(strings.TrimLeft(title, "# "))) == 0 {
		fault("the first line of the manual is not a title")
	}
}

// validateFunctions checks that exactly one kind of function is set, with what it requires.
func validateFunctions(a *Analyzer, fault func(format string, args ...any)) {
	if n := countTrue(a.File != nil, a.Project != nil, a.Image != nil, a.Live != nil); n != 1 {
		fault("%d of File, Project, Image and Live are set, not one", n)
	}
	if a.Streams != nil && a.Project == nil {
		fault("Streams is set and Project is not")
	}
	if a.File != nil && a.Match == nil {
		fault("File is set and Match is not")
	}
}

// countTrue returns how many of the conditions are true.
func countTrue(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
