// Package pipeline holds what the analyzers of pipelines have in common: reading
// their files within limits, and the checks that hold for every system — scripts
// from the network, images that can change, secrets in plain text, logs that show
// too much.
package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/image"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
	"merlon/internal/severity"
)

// Limits bound one file. Pipelines of very large projects stay below a tenth.
var Limits = document.Limits{Size: 4 << 20, Depth: 100, Values: 500_000, Documents: 1000}

// A File is a pipeline's file with what its checks report to.
type File struct {
	Path   string
	Docs   []*document.Node
	Source *document.Source
	Rules  *ruletext.Set
	Out    func(*finding.Rule, finding.Finding)
}

// ParseFile reads a file. Its error is a *document.Error. Rules and out are where its
// checks report.
func ParseFile(path string, b []byte, rules *ruletext.Set, out func(*finding.Rule, finding.Finding)) (*File, error) {
	docs, err := document.ParseAll(b, Limits)
	if err != nil {
		return nil, err
	}
	return &File{Path: path, Docs: docs, Source: document.NewSource(b), Rules: rules, Out: out}, nil
}

// ReadFile reads a file of the tree for a pass, and records in its status when that
// cannot be done.
func ReadFile(p *scan.ProjectPass, f scan.File) ([]byte, bool) {
	if f.Size > Limits.Size {
		p.Degrade(scan.Reason{Code: "too-large", Path: f.Path, Message: fmt.Sprintf("is larger than %d MiB",
			Limits.Size>>20)})
		return nil, false
	}
	b, err := fs.ReadFile(p.FS, f.Path)
	if err != nil {
		p.Degrade(scan.Reason{Code: "unreadable", Path: f.Path, Message: err.Error()})
		return nil, false
	}
	return b, true
}

// MalformedReason is the reason for a file that cannot be read. The line is that of the
// error, where it has one.
func MalformedReason(path string, err error) scan.Reason {
	r := scan.Reason{Code: "malformed", Path: path, Message: err.Error()}
	var e *document.Error
	if errors.As(err, &e) {
		r.Line, r.Message = e.Line, e.Message
	}
	return r
}

// Location makes a location of a place in the file. Lines and columns count from one.
func (f *File) Location(at document.Place) finding.Location {
	return finding.Location{Path: f.Path, StartLine: at.Line, EndLine: at.EndLine, StartColumn: at.Column,
		EndColumn: at.EndColumn}
}

// A Rating says how bad and how sure a finding is. What is empty is as the rule
// says.
type Rating struct {
	Severity   finding.Severity
	Confidence finding.Confidence
}

// NewRating makes a Rating of both.
func NewRating(s finding.Severity, c finding.Confidence) Rating {
	return Rating{Severity: s, Confidence: c}
}

// Report tells a finding.
func (f *File) Report(id string, at document.Place, w Rating, format string, args ...any) {
	f.Out(f.Rules.Get(id), finding.Finding{Message: fmt.Sprintf(format, args...), Severity: w.Severity,
		Confidence: w.Confidence, Location: f.Location(at)})
}

// ReportNode reports at a whole value. The severity and the confidence are those of the
// rule.
func (f *File) ReportNode(id string, n *document.Node, format string, args ...any) {
	f.Report(id, f.Source.Whole(n), Rating{}, format, args...)
}

// CheckImage reports an image that is not fixed by its digest.
func (f *File) CheckImage(n *document.Node, where string) {
	if n.Text() == "" {
		return
	}
	f.CheckImageText(n.Text(), n, where)
}

// CheckImageText is CheckImage for a text that stands at the node, such as one in which
// variables have been replaced.
func (f *File) CheckImageText(text string, n *document.Node, where string) {
	switch image.Parse(text).Pin() {
	case image.Floating:
		f.reportImage(n, "", finding.SeverityTerm{}, fmt.Sprintf("The image %s %s is whatever is newest when the "+
			"job runs",
			Shorten(text), where))
	case image.Tagged:
		f.reportImage(n, finding.LowConfidence, finding.SeverityTerm{Points: severity.Lowered,
			Reason: "the tag names a version"}, fmt.Sprintf("The image %s %s is fixed by a tag, which can be "+
			"moved, not "+
			"by a digest", Shorten(text), where))
	}
}

// reportImage reports an image. One decision pins all images of a file.
func (f *File) reportImage(n *document.Node, c finding.Confidence, term finding.SeverityTerm, message string) {
	one := finding.Finding{Message: message, Confidence: c, Location: f.Location(f.Source.Whole(n)), Cause: f.Path}
	if term.Points != 0 {
		one.Terms = append(one.Terms, term)
	}
	f.Out(f.Rules.Get("unpinned-image"), one)
}

// A Script is a shell script in a pipeline.
type Script struct {
	Text  *document.Node
	Where string // "in job build"
	// Secret reports whether the script names secrets, as far as the file tells.
	HasSecret bool
	// Whole reports whether the environment holds every secret of the project, as
	// some systems have it, so that printing it shows them.
	AllSecrets bool
	// Chosen says which variables hold what attackers choose, with their origin.
	Tainted map[string]string
}

// CheckScript checks a script. Each line can have several findings.
func (f *File) CheckScript(s Script) {
	text := s.Text.Text()
	for _, l := range script.SplitLines(text) {
		at := func() document.Place { return f.Source.Part(s.Text, l.Offset, min(l.Length, len(text)-l.Offset)) }
		if script.RunsRemoteScript(l.Text) {
			f.reportFetched("remote-script", at(), s, fmt.Sprintf("A script is fetched and run at "+
				"once, %s: %s", s.Where,
				Shorten(l.Text)))
		}
		if what := script.UnlockedInstall(l.Text); what != "" {
			f.reportFetched("adhoc-packages", at(), s, fmt.Sprintf("%q installs what no lock file fixes, %s",
				Shorten(what), s.Where))
		}
		if host := script.RequestCollector(l.Text); host != "" {
			f.Report("request-collector", at(), Rating{}, "Something is sent to %s, a public request inspection "+
				"service, %s", host, s.Where)
		}
		switch {
		case script.PrintsEnvironment(l.Text) && (s.HasSecret || s.AllSecrets):
			f.Report("secret-in-log", at(), Rating{}, "The script prints every variable, secrets included, %s", s.Where)
		case script.EnablesTracing(l.Text) && s.HasSecret:
			f.Report("secret-in-log", at(), Rating{}, "The script prints every command with its secrets, %s", s.Where)
		}
		for _, name := range script.EvaluatedVariables(l.Text) {
			if origin, ok := s.Tainted[name]; ok {
				f.Report("script-injection", at(), NewRating(finding.High, finding.HighConfidence), "$%s contains "+
					"%s, which is attacker-controlled, and is run as code %s", name, origin, s.Where)
			}
		}
	}
}

// reportFetched reports code of others that a script runs. Beside secrets it is worth a point more. A
// registry removes malicious packages, which is worth a point less.
func (f *File) reportFetched(id string, at document.Place, s Script, message string) {
	one := finding.Finding{Message: message, Location: f.Location(at)}
	if s.HasSecret || s.AllSecrets {
		one.Terms = append(one.Terms, finding.SeverityTerm{Points: severity.Raised, Reason: "the job has secrets"})
	}
	if id == "adhoc-packages" {
		one.Cause = f.Path
		one.Terms = append(one.Terms, finding.SeverityTerm{Points: severity.Lowered,
			Reason: "the registry removes malicious versions"})
	}
	f.Out(f.Rules.Get(id), one)
}

var (
	// secretName matches variables that hold a secret by their name; noSecret matches
	// values that are a placeholder, a reference, a path or an address; secretText a
	// value that can be a password at all.
	secretName = lazyregexp.New(`(?i)(?:^|[_.-])(?:pass(?:word|wd|phrase)?|secret(?:[_-]?key)?|token|api[_-]?key|private[_-]?key|access[_-]?key|credentials?|auth[_-]?key)(?:$|[_-](?:prod|dev|test|staging|value)$)`)
	noSecret   = lazyregexp.New(`(?i)^(?:true|false|null|none|yes|no|changeme|change_me|example|dummy|test|todo|x+|\*+|password|secret|token|\d{1,4})$|[$<{]|^/|^\./|^https?://[^@]*$|^(?:arn|vault|projects|op|ref\+\w+):|^[a-z-]+/[a-z-]+(?:/|$)`)
	secretText = lazyregexp.New(`^[\x21-\x7e]{6,}$`)
)

// CheckSecret reports a variable that holds a secret in plain text.
func (f *File) CheckSecret(key, value *document.Node, where string) {
	if key == nil || value == nil || !value.IsScalar() || !secretName.MatchString(key.Value) {
		return
	}
	f.CheckSecretText(key.Value, value.Text(), value, where)
}

// CheckSecretText is CheckSecret for a name and a text that stand at the node.
func (f *File) CheckSecretText(name, text string, n *document.Node, where string) {
	if !secretName.MatchString(name) || !secretText.MatchString(text) || noSecret.MatchString(text) {
		return
	}
	f.Out(f.Rules.Get("plaintext-secret"), finding.Finding{
		Message:  fmt.Sprintf("The secret %s is written in the file, %s", name, where),
		Location: f.Location(f.Source.Whole(n)),
		Identity: name + " " + where, Secret: &finding.SecretMatch{Kind: "Secret of a pipeline",
			Redacted: finding.Redacted},
		Snippet: &finding.Snippet{StartLine: n.Line,
			Lines: []string{strings.ReplaceAll(f.Source.Line(n.Line), text, finding.Redacted)}},
	})
}

// IsSecret reports whether a variable is by its name a secret. The value is not asked.
func IsSecret(name string) bool { return secretName.MatchString(name) }

// Shorten cuts a text for a message.
func Shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// NamesSecret reports whether a script names a variable that is a secret by its
// name.
func NamesSecret(text string) bool {
	for _, v := range script.ExpandedVariables(text) {
		if IsSecret(v) {
			return true
		}
	}
	return false
}
