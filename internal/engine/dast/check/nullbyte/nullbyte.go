// Package nullbyte finds lists of permitted file types that a null byte gets around: the
// name ends with a permitted type where it is checked, and before the null byte where
// the file is opened. What is sent opens nothing but the file that was refused.
package nullbyte

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("file-type")

// Rule is the check.
var Rule = &activescan.Rule{ID: "nullbyte", FindingRules: []*finding.Rule{rule}, Profile: scan.Standard,
	ScanOperation: scanOperation}

var (
	// suffix is the end of a name of a file.
	suffix = lazyregexp.New(`\.[A-Za-z0-9]{1,10}$`)
	// named are the types that a refusal may name as permitted.
	named = lazyregexp.New(`\.[a-z][a-z0-9]{1,4}\b`)
)

// common are types that applications often permit.
var common = []string{".txt", ".pdf", ".jpg", ".png", ".html"}

// maxTypes bounds the permitted types that are tried for one file.
const maxTypes = 6

// nulls are the ways to write a null byte: decoded once, and twice.
var nulls = []string{"%00", "%2500"}

// scanOperation tries a file that is refused.
func scanOperation(t *activescan.OperationScan) error {
	r := t.Request
	own := strings.ToLower(suffix.FindString(path.Base(r.Path)))
	if r.Method != http.MethodGet || len(r.Query) > 0 || own == "" {
		return nil
	}
	refused, err := t.Send(r)
	if err != nil || refused.Status != http.StatusForbidden && refused.Status != http.StatusNotAcceptable &&
		refused.Status != http.StatusUnsupportedMediaType {
		return err
	}
	for _, end := range possibleEndings(t, refused, own) {
		opened, err := t.Send(withEnding(r, path.Base(r.Path), end))
		if err != nil {
			return err
		}
		if opened.Status != http.StatusOK {
			continue
		}
		// A site that answers to anything opens nothing.
		other, err := t.Send(withEnding(r, t.RandomLetters(12)+own, end))
		if err != nil || other.Status == http.StatusOK {
			return err
		}
		plain, err := t.Send(withEnding(r, path.Base(r.Path), strings.TrimPrefix(strings.TrimPrefix(end, nulls[0]),
			nulls[1])))
		if err != nil || plain.Status == http.StatusOK {
			return err
		}
		again, err := t.Send(opened.Request)
		if err != nil || again.Status != http.StatusOK || again.Text() != opened.Text() {
			return err
		}
		t.RecordFact("nullbyte " + path.Dir(r.Path) + end)
		t.RaiseAlert(activescan.Alert{Rule: rule, Request: opened.Request, Payload: end, Location: r.Path,
			Responses: []*message.Response{refused, other, opened},
			ResponseNotes: []string{"the file is refused", "another name with the same end is " +
				"not there", "the file with a " +
				"null byte and a permitted end"},
			Proof: []string{"The file is refused, and answered twice when a null " +
				"byte and " + strings.TrimLeft(end, "%025") + " follow its name.",
				"A random name with the same suffix is not returned, nor is the name with the suffix alone."}})
		return nil
	}
	return nil
}

// withEnding is the request with another name of the file and an end.
func withEnding(r *message.Request, name, end string) *message.Request {
	out := r.Clone()
	out.Template = ""
	out.Path = strings.TrimSuffix(path.Dir(r.Path), "/") + "/" + name + end
	return out
}

// possibleEndings are null bytes with permitted types: one that has worked in the folder alone,
// else those of other files of the folder, those that the refusal names, common ones.
func possibleEndings(t *activescan.OperationScan, refused *message.Response, own string) []string {
	folder := path.Dir(refused.Request.Path)
	var types []string
	for _, e := range t.Sitemap.Entries() {
		if e.Seen.Status == http.StatusOK && path.Dir(e.Request.Path) == folder {
			types = append(types, strings.ToLower(suffix.FindString(path.Base(e.Request.Path))))
		}
	}
	types = slices.Concat(types, named.FindAllString(strings.ToLower(refused.Text()), 10), common)
	var out []string
	for _, kind := range types {
		if kind == "" || kind == own || slices.Contains(out, nulls[0]+kind) || len(out) >= maxTypes*len(nulls) {
			continue
		}
		for _, null := range nulls {
			out = append(out, null+kind)
		}
	}
	for _, end := range out {
		if t.HasFact("nullbyte " + folder + end) {
			return []string{end}
		}
	}
	return out
}
