package analyzer

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/bicep"
	"merlon/internal/engine/iac/document"
	"merlon/internal/scan"
)

// This file looks at files that others deploy, with the values that these give them:
// nested stacks, linked templates, modules of Bicep.

// Limits of one tree.
const (
	maxNested = 8   // deployments inside of each other
	maxUses   = 300 // deployments
	maxEach   = 4   // deployments of one file with different values
)

// applyDeployments puts, for each file that another deploys, its documents with the values
// of each use in the place of those with its own defaults.
func (r *treeReading) applyDeployments() {
	d := &deployer{reading: r, used: map[string]bool{}, values: map[string][]string{}, left: maxUses}
	r.reportAbsent()
	var made []*document.Document
	for _, part := range slices.Sorted(maps.Keys(r.parts)) {
		for _, doc := range r.parts[part] {
			if len(doc.Deploys) > 0 && !d.isDeployed(doc) {
				made = append(made, d.deployedDocuments(doc, []string{doc.Path})...)
			}
		}
	}
	for part, docs := range r.parts {
		r.parts[part] = slices.DeleteFunc(docs, func(doc *document.Document) bool { return d.used[doc.Path] })
	}
	r.parts["\x00deployed"] = made
}

// reportAbsent reports modules that are not part of the tree.
func (r *treeReading) reportAbsent() {
	for _, docs := range r.parts {
		for _, doc := range docs {
			doc.Deploys = slices.DeleteFunc(doc.Deploys, func(use document.Deployment) bool {
				if use.Path == "" {
					r.pass.Degrade(gapReason(scan.Unavailable, doc.Path, use.Line, "module "+use.Name+
						" is not part of the tree, and nothing is fetched"))
				}
				return use.Path == ""
			})
		}
	}
}

// A deployer follows deployments.
type deployer struct {
	reading *treeReading
	used    map[string]bool // files that were looked at as another deploys them
	left    int
	called  map[string]bool
	values  map[string][]string // what files were deployed with
}

// isDeployed reports whether another file deploys that of the document.
func (d *deployer) isDeployed(doc *document.Document) bool {
	if d.called == nil {
		d.called = map[string]bool{}
		for _, docs := range d.reading.parts {
			for _, one := range docs {
				for _, use := range one.Deploys {
					if use.Path != one.Path {
						d.called[use.Path] = true
					}
				}
			}
		}
	}
	return d.called[doc.Path]
}

// deployedDocuments returns the documents of the files that the document deploys, and of
// those that they deploy; chain is the files that lead there.
func (d *deployer) deployedDocuments(doc *document.Document, chain []string) []*document.Document {
	var out []*document.Document
	for _, use := range doc.Deploys {
		if slices.Contains(chain, use.Path) || len(chain) > maxNested {
			d.reportLimit(doc, use, "files deploy each other in a circle, or too deeply")
			continue
		}
		switch d.countUse(use) {
		case same:
			continue
		case beyond:
			d.reportLimit(doc, use, fmt.Sprintf("only the first %d deployments of a file, and %d of the tree, are "+
				"analyzed", maxEach, maxUses))
			continue
		}
		text, err := fs.ReadFile(d.reading.pass.FS, use.Path)
		if err != nil {
			continue // it is told where the file itself is looked at
		}
		docs, _ := decodeGiven(d.reading.pass.FS, use, text) // what cannot be read is told there as well
		for _, one := range docs {
			if one.Platform != doc.Platform {
				continue
			}
			one.Prefix = doc.Prefix + use.Name + "."
			d.used[use.Path] = true
			out = append(out, one)
			out = append(out, d.deployedDocuments(one, append(slices.Clone(chain), use.Path))...)
		}
	}
	return out
}

// What becomes of a use.
const (
	fresh  = iota
	same   // it was looked at with these values
	beyond // the limits
)

// countUse counts a use.
func (d *deployer) countUse(use document.Deployment) int {
	key := fmt.Sprint(use.Given) // maps are printed in order
	switch seen := d.values[use.Path]; {
	case slices.Contains(seen, key):
		return same
	case len(seen) >= maxEach || d.left <= 0:
		return beyond
	}
	d.left--
	d.values[use.Path] = append(d.values[use.Path], key)
	return fresh
}

// reportLimit reports a deployment that is not followed.
func (d *deployer) reportLimit(doc *document.Document, use document.Deployment, message string) {
	d.reading.pass.Degrade(scan.Reason{Code: "too-complex", Message: message, Path: doc.Path, Line: use.Line})
}

// decodeGiven reads a file with values for its parameters.
func decodeGiven(files fs.FS, use document.Deployment, text []byte) ([]*document.Document, error) {
	if strings.HasSuffix(use.Path, ".bicep") {
		doc, err := bicep.DecodeGiven(use.Path, text, use.Given)
		if doc == nil {
			return nil, err
		}
		return []*document.Document{doc}, err
	}
	return decodeValues(files, use.Path, text, use.Given)
}
