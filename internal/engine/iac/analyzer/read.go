package analyzer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"merlon/internal/engine/iac/ansible"
	"merlon/internal/engine/iac/bicep"
	"merlon/internal/engine/iac/buildah"
	"merlon/internal/engine/iac/compose"
	"merlon/internal/engine/iac/dockerfile"
	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/helm"
	"merlon/internal/engine/iac/kustomize"
	"merlon/internal/engine/iac/proto"
	"merlon/internal/engine/iac/serverless"
	"merlon/internal/engine/iac/template"
	"merlon/internal/engine/iac/terraform"
	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file reads the tree into documents.

// A decoder reads one file into one document; nil means that the file is not what
// its name lets expect.
type decoder func(name string, text []byte) (*document.Document, error)

// decoderOf returns the decoder of a file that is told by its name.
func decoderOf(name string) decoder {
	switch {
	case dockerfile.Match(name):
		return dockerfile.Decode
	case strings.HasSuffix(name, ".bicep"), strings.HasSuffix(name, ".bicepparam"):
		return bicep.Decode
	case strings.HasSuffix(name, ".proto"):
		return proto.Decode
	case buildah.Match(name):
		return buildah.Decode
	case ansible.Match(name):
		return ansible.Decode
	}
	return nil
}

// isInfrastructure reports whether a file may be infrastructure code, by its name.
func isInfrastructure(name string) bool {
	return structuredFormat(name) != "" || decoderOf(name) != nil || kustomize.IsKustomization(name) ||
		terraform.Match(name)
}

// structuredFormat returns how a file of values is written, by its name.
func structuredFormat(name string) document.Format {
	base := path.Base(name)
	switch strings.ToLower(path.Ext(base)) {
	case ".yaml", ".yml":
		if base != "pnpm-lock.yaml" {
			return document.YAML
		}
	case ".json", ".template":
		if base != "package-lock.json" && !strings.HasSuffix(base, ".tf.json") &&
			!strings.HasSuffix(base, ".tofu.json") {
			return document.JSON
		}
	}
	return ""
}

// treeReading collects the documents of a tree.
type treeReading struct {
	pass  *scan.ProjectPass
	paths []string

	project *terraform.Project // nil when there is no Terraform

	mu    sync.Mutex
	parts map[string][]*document.Document // by the file, or by what else they come from
	told  map[helm.Problem]bool
}

// addDocuments adds the documents of a file, or of what else they come from.
func (r *treeReading) addDocuments(part string, docs []*document.Document) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[part] = append(r.parts[part], docs...)
}

// readTree makes documents of the tree, in the same order each time. The project is its
// Terraform, nil when there is none.
func readTree(p *scan.ProjectPass) ([]*document.Document, *terraform.Project, error) {
	r := &treeReading{pass: p, parts: map[string][]*document.Document{}, told: map[helm.Problem]bool{}}
	for _, f := range p.Files {
		r.paths = append(r.paths, f.Path)
	}
	charts := helm.Roots(r.paths)
	group, ctx := errgroup.WithContext(p.Context)
	group.SetLimit(max(1, p.Workers))
	group.Go(r.evaluateTerraform)
	for _, dir := range charts {
		group.Go(func() error { r.renderChart(dir); return ctx.Err() })
	}
	if slices.ContainsFunc(r.paths, kustomize.IsKustomization) {
		group.Go(func() error { r.buildKustomizations(); return ctx.Err() })
	}
	for _, name := range r.paths {
		if structuredFormat(name) == "" && decoderOf(name) == nil || inChart(charts, name) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { r.addDocuments(name, decodeFile(p, name)); return nil })
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	r.evaluatePlaybooks()
	r.dropParts()
	r.applyDeployments()
	r.reportGaps()
	var all []*document.Document
	names := make([]string, 0, len(r.parts))
	for name := range r.parts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, r.parts[name]...)
	}
	return all, r.project, p.Context.Err()
}

// reportGaps reports what documents refer to and was not followed.
func (r *treeReading) reportGaps() {
	parts, told := map[string]bool{}, map[document.Gap]bool{}
	for _, docs := range r.parts {
		for _, doc := range docs {
			for _, name := range doc.Parts {
				parts[name] = true
			}
		}
	}
	for _, part := range slices.Sorted(maps.Keys(r.parts)) {
		for _, doc := range r.parts[part] {
			for _, g := range doc.Gaps {
				if !told[g] && (!g.Alone || !parts[doc.Path]) {
					told[g] = true
					r.pass.Degrade(gapReason(g.Code, g.Path, g.Line, g.Message))
				}
			}
		}
	}
}

// inChart reports whether the file is a template of a chart, or belongs to a
// subchart: such are not looked at as they are written, but as what they become.
func inChart(charts []string, name string) bool {
	for _, dir := range charts {
		if helm.Within(path.Join(dir, "templates"), name) || helm.Within(path.Join(dir, "charts"), name) {
			return true
		}
	}
	return false
}

// evaluateTerraform evaluates all modules.
func (r *treeReading) evaluateTerraform() error {
	// A plan is JSON, and known by its content.
	// Without such a file nothing is loaded: most trees have no Terraform.
	if !slices.ContainsFunc(r.paths, func(name string) bool {
		return terraform.Match(name) || strings.HasSuffix(name, ".json")
	}) {
		return nil
	}
	project, err := terraform.Load(r.pass.Context, r.pass.FS, r.paths)
	if err != nil {
		return err
	}
	r.project = project
	r.addDocuments("\x00terraform", project.Documents())
	return nil
}

// renderChart renders a Helm chart.
func (r *treeReading) renderChart(dir string) {
	docs, problems := helm.Documents(r.pass.FS, dir, r.paths)
	for _, one := range problems {
		r.reportProblem(one)
	}
	r.addDocuments("\x00helm "+dir, docs)
}

// reportProblem reports a problem, once: a kustomization may render the chart again, and a subchart
// that is missing is the same for all charts.
func (r *treeReading) reportProblem(p helm.Problem) {
	key := p
	if p.Code == "unavailable" && strings.HasPrefix(p.Message, "the subchart ") {
		key.Path, key.Line = "", 0
	}
	r.mu.Lock()
	told := r.told[key]
	r.told[key] = true
	r.mu.Unlock()
	if !told {
		r.pass.Degrade(gapReason(cmp.Or(p.Code, "malformed"), p.Path, p.Line, p.Message))
	}
}

// gapReason returns the reason for a gap. What the tree does not contain, and what is known only
// when the code is deployed, does not degrade the analysis: all of the tree was read.
func gapReason(code, path string, line int, message string) scan.Reason {
	return scan.Reason{Code: code, Path: path, Line: line, Message: message,
		Skipped: code == scan.Unavailable || code == scan.UnknownValue}
}

// buildKustomizations builds what they describe.
func (r *treeReading) buildKustomizations() {
	docs, problems := kustomize.Documents(r.pass.FS, r.paths)
	for _, one := range problems {
		r.reportProblem(helm.Problem(one))
	}
	r.addDocuments("\x00kustomize", docs)
}

// dropParts leaves out the templates that are a part of another, or of a service of the
// Serverless Framework: they are analyzed with it.
func (r *treeReading) dropParts() {
	parts := map[string]bool{}
	for _, docs := range r.parts {
		for _, doc := range docs {
			for _, name := range doc.Parts {
				// A file of OpenAPI or Compose that is part of another is still analyzed on its
				// own.
				parts[name] = parts[name] || doc.Platform == document.ServerlessFrame ||
					doc.Platform == document.CloudFormation && name != doc.Path
			}
		}
	}
	for name, docs := range r.parts {
		if parts[name] {
			r.parts[name] = slices.DeleteFunc(docs, func(doc *document.Document) bool {
				return doc.Platform == document.CloudFormation
			})
		}
	}
}

// evaluatePlaybooks puts the tasks of Ansible with what they use in place of those that
// are written.
func (r *treeReading) evaluatePlaybooks() {
	var written []*document.Document
	for _, part := range slices.Sorted(maps.Keys(r.parts)) {
		for _, doc := range r.parts[part] {
			if doc.Platform == document.Ansible {
				written = append(written, doc)
			}
		}
	}
	if len(written) == 0 {
		return
	}
	// The evaluation returns all documents of Ansible, so the written ones are removed first.
	for part, docs := range r.parts {
		r.parts[part] = slices.DeleteFunc(docs, func(doc *document.Document) bool {
			return doc.Platform == document.Ansible
		})
	}
	docs, rendered := ansible.Evaluate(r.pass.FS, r.paths, written)
	for _, doc := range docs {
		r.parts[doc.Path] = append(r.parts[doc.Path], doc)
	}
	for _, one := range rendered {
		r.parts[one.Path] = append(r.parts[one.Path], r.decodeRendered(one)...)
	}
}

// decodeRendered reads a template that a task fills in.
func (r *treeReading) decodeRendered(t ansible.Rendered) []*document.Document {
	var docs []*document.Document
	var err error
	if decode := decoderOf(t.Name); decode != nil {
		var one *document.Document
		if one, err = decode(t.Name, t.Text); one != nil {
			docs = append(docs, one)
		}
	} else if structuredFormat(t.Name) != "" {
		docs, err = decodeValues(r.pass.FS, t.Name, t.Text, nil)
	}
	if err != nil {
		r.pass.Degrade(newReason(t.Path, err))
	}
	for _, doc := range docs {
		// Lines are those of the template: rendering keeps the line breaks.
		doc.Path, doc.Lines = t.Path, ansible.Mark(doc.Root, doc.Lines)
	}
	return docs
}

// decodeFile reads one file; what cannot be read degrades the analysis.
func decodeFile(p *scan.ProjectPass, name string) []*document.Document {
	text, err := fs.ReadFile(p.FS, name)
	if err != nil {
		p.Degrade(scan.Reason{Code: "unreadable", Message: err.Error(), Path: name})
		return nil
	}
	if one := decoderOf(name); one != nil {
		d, err := one(name, text)
		if err != nil {
			p.Degrade(newReason(name, err))
		}
		if d == nil {
			return nil
		}
		return []*document.Document{d}
	}
	// Decoding YAML and JSON is expensive; most files of a repository (translations, test data,
	// lock files) have none of the words.
	if !mayBeInfrastructure(text) && !document.ComposeName(name) {
		return nil
	}
	docs, err := decodeValues(p.FS, name, text, nil)
	// A broken file of another kind is no gap of this analysis.
	if err != nil && (len(docs) > 0 || isClearlyInfrastructure(text) || document.ComposeName(name)) {
		p.Degrade(newReason(name, err))
	}
	return docs
}

// decodeValues reads a file of values into a document for each platform that each of its
// trees is of; given are the values of its parameters, if another file deploys it. The
// documents come back with an error about the rest.
func decodeValues(files fs.FS, name string, text []byte, given map[string]any) ([]*document.Document, error) {
	format := structuredFormat(name)
	read := document.DecodeYAML
	if format == document.JSON && looksLikeJSON(text) {
		read = document.DecodeJSON
	} else {
		format = document.YAML // a template may be called so, however it is written
	}
	trees, err := read(text)
	trees = expandLists(trees)
	var docs []*document.Document
	for i, tree := range trees {
		for _, platform := range document.Detect(name, tree.Root) {
			d := &document.Document{
				Platform: platform, Format: format, Path: name, Index: i, Root: tree.Root, Lines: tree.Lines,
				Text: text,
			}
			switch platform {
			case document.CICD:
				continue // pipelines have an analysis of their own
			// JSON that is recognized as Terraform is the output of "terraform show".
			case document.Terraform:
				planned := planTree(tree)
				d.Root, d.Lines = planned.Root, planned.Lines
			case document.Compose:
				applyCompose(d, tree, files)
			case document.ServerlessFrame:
				docs = append(docs, applyServerless(d, tree, files)...)
			case document.CloudFormation, document.ARM, document.OpenAPI:
				made := template.Evaluate(template.File{
					Platform: platform, Path: name, Tree: tree, Given: given,
					Source: func(other string) ([]byte, error) { return fs.ReadFile(files, other) },
				})
				d.Root, d.Lines, d.Deploys, d.Parts, d.Gaps = made.Tree.Root, made.Tree.Lines, made.Deploys, made.Parts,
					made.Gaps
			// Objects of one folder are usually applied together: queries compare them with each
			// other.
			case document.Kubernetes, document.Knative:
				d.Unit = path.Dir(name)
			}
			docs = append(docs, d)
		}
	}
	return docs, err
}

// applyCompose puts into the document what Compose makes of its file.
func applyCompose(d *document.Document, tree document.Tree, files fs.FS) {
	m := compose.Load(d.Path, tree, func(other string) ([]byte, error) { return fs.ReadFile(files, other) })
	d.Root, d.Lines, d.Parts, d.Gaps = m.Root, m.Lines, m.Parts, m.Gaps
	// No service of it can be started: the file is meant to be laid over another.
	if m.Fragment {
		d.Root, d.Lines = map[string]any{}, &document.Node{Line: 1}
	}
	if len(m.Parts) > 0 {
		d.Text = nil
	}
}

// applyServerless puts the variables of a service of the Serverless Framework in, and
// returns the template that is deployed with it.
func applyServerless(d *document.Document, tree document.Tree, files fs.FS) []*document.Document {
	source := func(other string) ([]byte, error) { return fs.ReadFile(files, other) }
	s := serverless.Load(d.Path, tree, source)
	d.Root, d.Lines, d.Parts, d.Gaps = s.Root, s.Lines, s.Parts, s.Gaps
	if len(s.Parts) > 0 {
		d.Text = nil
	}
	if s.Resources.Root == nil {
		return nil
	}
	stack := template.Evaluate(template.File{Platform: document.CloudFormation, Path: d.Path, Tree: s.Resources,
		Source: source})
	return []*document.Document{{
		Platform: document.CloudFormation, Format: d.Format, Path: d.Path, Index: d.Index, Root: stack.Tree.Root,
		Lines:   stack.Tree.Lines,
		Deploys: stack.Deploys, Parts: stack.Parts, Gaps: stack.Gaps,
	}}
}

// expandLists puts the objects of a Kubernetes list in place of the list.
func expandLists(trees []document.Tree) []document.Tree {
	var out []document.Tree
	for _, t := range trees {
		items, ok := t.Root["items"].([]any)
		kind, _ := t.Root["kind"].(string)
		// "kubectl get -o yaml" prints {kind: List, items: […]}.
		if !ok || t.Root["apiVersion"] == nil || !strings.HasSuffix(kind, "List") {
			out = append(out, t)
			continue
		}
		for i, item := range items {
			if root, ok := item.(map[string]any); ok {
				lines, _ := t.Lines.Find("items", strconv.Itoa(i))
				out = append(out, document.Tree{Root: root, Lines: lines})
			}
		}
	}
	return out
}

// looksLikeJSON reports whether a text begins as an object or a list does.
func looksLikeJSON(text []byte) bool {
	// A byte order mark, and comments at the beginning, as templates of Azure have them.
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(text) == 0 || text[0] == '{' || text[0] == '[' || bytes.HasPrefix(text, []byte("//")) ||
		bytes.HasPrefix(text, []byte("/*"))
}

// hintWords: a document of each platform holds one.
var hintWords = [][]byte{
	[]byte("apiVersion"), []byte("Resources"), []byte("AWSTemplateFormatVersion"), []byte("openapi"), []byte("swagger"),
	[]byte("contentVersion"), []byte("eploymentTemplate"), []byte("eploymentParameters"), []byte("properties"),
	[]byte("resources"), []byte("runtime"),
	[]byte("service"), []byte("resource"), []byte("hosts"), []byte("tasks"), []byte("name:"), []byte("children"),
	[]byte("when:"), []byte("become"),
}

// mayBeInfrastructure reports whether a text may describe infrastructure, before it is
// decoded.
func mayBeInfrastructure(text []byte) bool { return containsAny(text, hintWords) }

// strongWords stand in nothing else than what they are named for.
var strongWords = [][]byte{
	[]byte("AWSTemplateFormatVersion"), []byte("deploymentTemplate.json"), []byte("apiVersion:"), []byte("openapi:"),
	[]byte("swagger:"),
	[]byte(`"openapi"`), []byte(`"swagger"`), []byte("AWS::"),
}

// isClearlyInfrastructure reports whether a text that cannot be read is infrastructure
// code to all appearance.
func isClearlyInfrastructure(text []byte) bool { return containsAny(text, strongWords) }

// containsAny reports whether the text has one of the words.
func containsAny(text []byte, words [][]byte) bool {
	return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(text, w) })
}

// newReason says why a file was not analyzed.
func newReason(name string, err error) scan.Reason {
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
