// Package rules holds the rules of the build: one folder each,
// <language>/<rule>, with the rule (rule.yaml), its text (doc.md) and tests
// (testdata). Rules of several languages stand below "all". A folder is found by
// itself; nothing else names it.
package rules

import (
	"embed"
	"fmt"
	"path"
	"sync"

	"merlon/internal/engine/sast/rule"
	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

// FS holds the rules and their texts.
//
//go:embed */*/rule.yaml */*/doc.md
var FS embed.FS

// A Described is a rule with what users read about it.
type Described struct {
	*rule.Rule
	About *finding.Rule
}

// Default returns the rules of the build, in the order of their folders. An error
// is a fault of the build.
func Default() ([]Described, error) { return load() }

var load = sync.OnceValues(func() ([]Described, error) {
	folders, err := FS.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var out []Described
	for _, language := range folders {
		names, err := FS.ReadDir(language.Name())
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			more, err := folder(path.Join(language.Name(), name.Name()))
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
})

// folder loads the rules of one folder. They share the page; the first has the
// folder's name, the others begin with it.
func folder(dir string) ([]Described, error) {
	text, err := FS.ReadFile(dir + "/rule.yaml")
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", dir, err)
	}
	page, err := FS.ReadFile(dir + "/doc.md")
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", dir, err)
	}
	reader, err := Parser()
	if err != nil {
		return nil, err
	}
	parsed, err := reader.Parse("rules/"+dir+"/rule.yaml", text)
	if err != nil {
		return nil, err
	}
	pages, err := ruletext.Parse(string(page))
	if err == nil && len(pages) != 1 {
		err = fmt.Errorf("%d titles; want one", len(pages))
	}
	if err != nil {
		return nil, fmt.Errorf("rules/%s/doc.md: %w", dir, err)
	}
	shared := &pages[0].Rule
	var out []Described
	for _, r := range parsed {
		about := Describe(r)
		about.ID = "sast/" + path.Dir(dir) + "/" + r.ID
		about.Name, about.ShortDescription = shared.Name, shared.ShortDescription
		about.Description, about.HowToPrevent = shared.Description, shared.HowToPrevent
		out = append(out, Described{r, about})
	}
	return out, nil
}
