package remedy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// A Target is a finding as far as an edit depends on it.
type Target struct {
	Rule string // with "iac/"
	Path string
	Line int
	Name string // of the resource in the document: "aws_s3_bucket.logs"; may be empty
	Key  string // the words of the query for the place
}

// maxEdited bounds the files for which edits are computed: larger ones are generated.
const maxEdited = 256 << 10

// maxLine bounds the lines of such a file: one with longer lines is generated.
const maxLine = 1000

// An Editor proposes edits of the files of one tree. It reads each file once.
type Editor struct {
	files map[string]*source
}

// A source is a file as far as it was read.
type source struct {
	text     []byte
	editable bool
	lines    []string
	// templated says that statements put the file together: its lines are not what is deployed.
	templated bool

	resources []*hclsyntax.Block // of Terraform
	parsed    bool
}

// sourceOf returns the file; it is read when it is asked for the first time.
func (e *Editor) sourceOf(path string, text []byte) *source {
	if s := e.files[path]; s != nil {
		return s
	}
	s := &source{text: text, editable: isEditable(text)}
	if s.editable {
		s.lines, s.templated = splitLines(text), bytes.Contains(text, []byte("{%"))
	}
	if e.files == nil {
		e.files = map[string]*source{}
	}
	e.files[path] = s
	return s
}

// Propose returns the edit of the document's file after which the rule is met, or nil where it
// depends on something that the file does not show. Only the written form of a document is
// edited: what Helm or Kustomize rendered has no lines of its own.
func (e *Editor) Propose(t Target, d *document.Document) *finding.Fix {
	a, ok := adviceOf(t.Rule)
	isDockerfile := d != nil && d.Platform == document.Dockerfile && d.Format == document.Containers
	if d == nil || d.Text == nil || t.Path != d.Path || !ok || !isDockerfile && !a.mergeable {
		return nil
	}
	s := e.sourceOf(d.Path, d.Text)
	if !s.editable {
		return nil
	}
	var edits []finding.Edit
	switch {
	case isDockerfile:
		edits = editDockerfile(t, s.lines)
	case d.Platform == document.Terraform && d.Format == document.HCL:
		edits = mergeHCL(s, place{line: t.Line, kinds: []string{a.Kind, a.More}, name: t.Name}, a.Code)
	case d.Format == document.YAML && (d.Platform == document.Kubernetes || d.Platform == document.Compose):
		edits = mergeYAML(s, d, t, a)
	}
	return newFix(t.Path, describeFix(a.Text), edits)
}

// MergeTerraform returns the edit that puts arguments into the resource at the place; nil where an
// argument is there and depends on something else, or would need a new block: the arguments come from
// the conditions of a rule, which do not say what else such a block requires. The file is read where it
// was not yet.
func (e *Editor) MergeTerraform(at finding.Location, read func(string) ([]byte, error), address,
	arguments string) *finding.Fix {
	if arguments == "" {
		return nil
	}
	if e.files[at.Path] == nil {
		text, err := read(at.Path)
		if err != nil {
			return nil // a plan, or a file that is gone: there is nothing to edit
		}
		e.sourceOf(at.Path, text)
	}
	s := e.files[at.Path]
	if !s.editable {
		return nil
	}
	edits := mergeHCL(s, place{line: at.StartLine, name: resourceName(address), keepBlocks: true}, arguments)
	return newFix(at.Path, "Set the arguments that the rule asks for", edits)
}

// resourceName returns type and name of an address, without modules and the key of an instance.
func resourceName(address string) string {
	if strings.HasSuffix(address, "]") {
		address = address[:strings.LastIndexByte(address, '[')]
	}
	parts := strings.Split(address, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}

// isEditable reports whether a file is written by people, and not too large.
func isEditable(text []byte) bool {
	if len(text) > maxEdited || bytes.IndexByte(text, '\r') >= 0 {
		return false
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			return false
		}
	}
	return true
}

// newFix puts the edits in order; nil where there are none or two change the same line.
func newFix(path, description string, edits []finding.Edit) *finding.Fix {
	if len(edits) == 0 {
		return nil
	}
	// What is inserted before a line comes before the replacement of this line.
	slices.SortStableFunc(edits, func(a, b finding.Edit) int {
		return cmp.Or(a.StartLine-b.StartLine, a.EndLine-b.EndLine)
	})
	for i := 1; i < len(edits); i++ {
		if edits[i].StartLine <= edits[i-1].EndLine {
			return nil
		}
	}
	return &finding.Fix{Description: description, Path: path, Edits: edits}
}

// describeFix takes what an advice tells to do, without the reason and the conditions.
func describeFix(text string) string {
	for _, end := range []string{". ", ": ", "; ", ", "} {
		text, _, _ = strings.Cut(text, end)
	}
	return strings.TrimSuffix(text, ".")
}

// splitLines returns the lines of a text without their ends.
func splitLines(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// insertBefore is the edit that puts lines before a line.
func insertBefore(line int, lines ...string) finding.Edit {
	return finding.Edit{StartLine: line, EndLine: line - 1, Lines: lines}
}

// replaceLines is the edit that puts lines in place of others.
func replaceLines(first, last int, lines ...string) finding.Edit {
	return finding.Edit{StartLine: first, EndLine: last, Lines: lines}
}
