package configuration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"merlon/internal/engine/iac/dockerfile"
	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/helm"
	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file reads the tree into documents.

// wanted reports whether a file may be infrastructure code, by its name.
func wanted(name string) bool {
	return structured(name) != "" || dockerfile.Match(name)
}

// structured returns how a file of values is written, by its name.
func structured(name string) document.Format {
	base := path.Base(name)
	switch strings.ToLower(path.Ext(base)) {
	case ".yaml", ".yml":
		if base == "pnpm-lock.yaml" {
			return ""
		}
		return document.YAML
	case ".json", ".template":
		if base == "package-lock.json" || base == "composer.lock" {
			return ""
		}
		return document.JSON
	}
	return ""
}

// read makes documents of the tree, in the order of its files.
func read(p *scan.ProjectPass) ([]*document.Document, error) {
	var mu sync.Mutex
	byFile := map[string][]*document.Document{}
	charts := chartsOf(p)
	group, ctx := errgroup.WithContext(p.Context)
	group.SetLimit(max(1, p.Workers))
	for _, f := range p.Files {
		if !wanted(f.Path) || charts.hold(f.Path) {
			continue
		}
		if err := ctx.Err(); err != nil {
			break
		}
		group.Go(func() error {
			docs := decode(p, f.Path)
			mu.Lock()
			defer mu.Unlock()
			byFile[f.Path] = docs
			return nil
		})
	}
	for _, dir := range charts.roots {
		group.Go(func() error {
			docs, problems := helm.Documents(p.FS, dir, charts.paths)
			for _, one := range problems {
				p.Degrade(scan.Reason{Code: "malformed", Message: one.Message, Path: one.Path, Line: one.Line})
			}
			mu.Lock()
			defer mu.Unlock()
			charts.docs = append(charts.docs, docs...)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var all []*document.Document
	for _, f := range p.Files {
		all = append(all, byFile[f.Path]...)
	}
	slices.SortStableFunc(charts.docs, func(a, b *document.Document) int { return strings.Compare(a.Unit, b.Unit) })
	return append(all, charts.docs...), p.Context.Err()
}

// charts are the Helm charts of a tree: their templates are not looked at as they
// are written, but as what they become.
type charts struct {
	roots, paths []string
	docs         []*document.Document
}

func chartsOf(p *scan.ProjectPass) *charts {
	c := &charts{}
	for _, f := range p.Files {
		c.paths = append(c.paths, f.Path)
	}
	c.roots = helm.Roots(c.paths)
	return c
}

// hold reports whether the file is a template of a chart, or belongs to a subchart.
func (c *charts) hold(name string) bool {
	for _, dir := range c.roots {
		if helm.Within(path.Join(dir, "templates"), name) || helm.Within(path.Join(dir, "charts"), name) {
			return true
		}
	}
	return false
}

// decode reads one file; what cannot be read degrades the analysis.
func decode(p *scan.ProjectPass, name string) []*document.Document {
	text, err := fs.ReadFile(p.FS, name)
	if err != nil {
		p.Degrade(scan.Reason{Code: "unreadable", Message: err.Error(), Path: name})
		return nil
	}
	if dockerfile.Match(name) {
		d, err := dockerfile.Decode(name, text)
		if err != nil {
			p.Degrade(reason(name, err))
			return nil
		}
		return []*document.Document{d}
	}
	if !hints(text) {
		return nil
	}
	format := structured(name)
	var trees []document.Tree
	if format == document.JSON && !looksLikeJSON(text) {
		format = document.YAML // a template is called so, however it is written
	}
	if format == document.JSON {
		trees, err = document.DecodeJSON(text)
	} else {
		trees, err = document.DecodeYAML(text)
	}
	var docs []*document.Document
	for i, tree := range trees {
		for _, platform := range document.Detect(name, tree.Root) {
			if platform == document.CICD {
				continue // pipelines have an analysis of their own
			}
			d := &document.Document{
				Platform: platform, Format: format, Path: name, Index: i, Root: tree.Root, Lines: tree.Lines, Text: text,
			}
			if platform == document.Kubernetes || platform == document.Knative {
				d.Unit = path.Dir(name)
			}
			docs = append(docs, d)
		}
	}
	if err != nil && (len(docs) > 0 || speaks(text)) {
		p.Degrade(reason(name, err))
	}
	return docs
}

func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(text) == 0 || text[0] == '{' || text[0] == '[' || bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("/*"))
}

// hint words: a document of each platform holds one.
var hintWords = [][]byte{
	[]byte("apiVersion"), []byte("Resources"), []byte("AWSTemplateFormatVersion"), []byte("openapi"), []byte("swagger"),
	[]byte("contentVersion"), []byte("eploymentTemplate"), []byte("properties"), []byte("resources"), []byte("runtime"),
	[]byte("service"), []byte("hosts"), []byte("tasks"), []byte("name:"), []byte("children"), []byte("when:"), []byte("become"),
}

// hints reports whether a text may describe infrastructure, before it is decoded.
func hints(text []byte) bool {
	for _, w := range hintWords {
		if bytes.Contains(text, w) {
			return true
		}
	}
	return false
}

// strongWords stand in nothing else than what they are named for.
var strongWords = [][]byte{
	[]byte("AWSTemplateFormatVersion"), []byte("deploymentTemplate.json"), []byte("apiVersion:"), []byte("openapi:"), []byte("swagger:"),
	[]byte(`"openapi"`), []byte(`"swagger"`), []byte("AWS::"),
}

// speaks reports whether a text that cannot be read is infrastructure code to all
// appearance. A template of a chart is: whoever cannot render it did not see it.
func speaks(text []byte) bool {
	for _, w := range strongWords {
		if bytes.Contains(text, w) {
			return true
		}
	}
	return false
}

// reason says why a file was not looked at.
func reason(name string, err error) scan.Reason {
	r := scan.Reason{Code: "malformed", Message: err.Error(), Path: name}
	var m *document.Malformed
	switch {
	case errors.As(err, &m):
		r.Message, r.Line = fmt.Sprintf("it cannot be read: %s", m.Message), m.Line
	case errs.KindOf(err) == errs.TooLarge:
		r.Code = "too-large"
	}
	return r
}
