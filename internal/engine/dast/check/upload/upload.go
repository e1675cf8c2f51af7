// Package upload finds uploads that take any file: a script that the server runs, or a
// page that it shows as its own. What is sent only prints a product of two numbers;
// the proof is that the product comes back from the place of the file.
package upload

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

const prevent = "Accept only the types that are needed, by the content and by a list of allowed extensions; give files names of your own; " +
	"keep them outside of the folders that the server serves, or on a host of their own, and send them with Content-Disposition: attachment and X-Content-Type-Options: nosniff."

var (
	script = &finding.Rule{
		ID: "dast/upload/script", Analysis: finding.DAST, Name: "Upload of programs",
		ShortDescription: "A file that is uploaded is run by the server.",
		Description: "The upload takes a file whose extension belongs to a language that the server runs, and the server runs it when its address is asked for. " +
			"Whoever may upload runs programs of his own on the server.",
		HowToPrevent: prevent, CWE: []string{"CWE-434"}, OWASP: []string{"A04:2021"}, Severity: finding.Critical, Confidence: finding.Certain,
	}
	page = &finding.Rule{
		ID: "dast/upload/page", Analysis: finding.DAST, Name: "Upload of pages",
		ShortDescription: "A file that is uploaded is shown as a page of the site.",
		Description: "The upload takes a file with markup, and its address answers as a page of the site. Script in it acts as the user who opens it, " +
			"with the rights that he has on the site.",
		HowToPrevent: prevent, CWE: []string{"CWE-434", "CWE-79"}, OWASP: []string{"A04:2021"}, Severity: finding.Medium, Confidence: finding.Certain,
	}
)

// Check is the check.
var Check = &attack.Check{ID: "upload", Rules: []*finding.Rule{script, page}, Profile: scan.Standard, Response: learn, Request: try}

// A language is one that servers run by the extension of a file.
type language struct {
	name  string
	print string // a program that prints the product of two numbers
	signs *lazyregexp.Regexp
}

// languages with the signs of each in the path and the headers of answers.
var languages = []language{
	{"php", "<?php echo %d*%d; ?>", lazyregexp.New(`(?i)\.php([/?\s]|$)|x-powered-by: php|phpsessid=|laravel_session=`)},
	{"jsp", "<%%= %d*%d %%>", lazyregexp.New(`(?i)\.jspx?([/?;\s]|$)|jsessionid=`)},
	{"aspx", "<%%= %d*%d %%>", lazyregexp.New(`(?i)\.aspx([/?\s]|$)|x-aspnet-version:|asp\.net_sessionid=`)},
	{"asp", "<%% Response.Write(CLng(%d)*CLng(%d)) %%>", lazyregexp.New(`(?i)\.asp([/?\s]|$)|aspsessionid`)},
}

// learn notes the languages of the target.
func learn(t *attack.Trial, resp *message.Response) {
	if resp.Status == http.StatusNotFound {
		return
	}
	text := resp.Request.Path + "\n" + resp.Head()
	for _, l := range languages {
		if l.signs.MatchString(text) {
			t.Note("language " + l.name)
		}
	}
}

// try uploads a program of each language that the target shows, else a page.
func try(t *attack.Trial) error {
	for i, p := range t.Request.Body.Params {
		if t.Request.Body.Kind != message.Multipart || p.File == "" {
			continue
		}
		for _, l := range languages {
			if !t.Noted("language " + l.name) {
				continue
			}
			if found, err := run(t, i, l); found || err != nil {
				return err
			}
		}
		return show(t, i)
	}
	return nil
}

// run uploads a program, and reports when it ran.
func run(t *attack.Trial, field int, l language) (bool, error) {
	a, b := t.Number(10001, 40000), t.Number(10001, 40000)
	source, product := fmt.Sprintf(l.print, a, b), fmt.Sprint(a*b)
	return place(t, field, message.Param{File: t.Random(12) + "." + l.name, Type: "image/png", Value: source}, func(resp *message.Response) *attack.Flaw {
		text := resp.Text()
		if !strings.Contains(text, product) || strings.Contains(text, fmt.Sprintf("%d*%d", a, b)) {
			return nil
		}
		return &attack.Flaw{Rule: script, Proof: []string{fmt.Sprintf("The program %s prints %s at %s.", source, product, resp.Request.Address())}}
	})
}

// show uploads a page, and reports when the site shows it.
func show(t *attack.Trial, field int) error {
	mark := t.Random(16)
	_, err := place(t, field, message.Param{File: t.Random(12) + ".html", Type: "text/html", Value: "<!doctype html><title>test</title><b id=" + mark + ">test</b>\n"}, func(resp *message.Response) *attack.Flaw {
		if !resp.IsHTML() || !strings.Contains(resp.Text(), "<b id="+mark+">") || strings.Contains(strings.ToLower(resp.Header.Get("Content-Disposition")), "attachment") ||
			strings.Contains(strings.ToLower(resp.Header.Get("Content-Security-Policy")), "sandbox") {
			return nil
		}
		return &attack.Flaw{Rule: page, Proof: []string{"The page that was uploaded is shown as " + resp.MediaType() + " at " + resp.Request.Address() + "."}}
	})
	return err
}

// place uploads a file, looks for it, and gives each answer that may be it to proven.
func place(t *attack.Trial, field int, file message.Param, proven func(*message.Response) *attack.Flaw) (bool, error) {
	r := t.Request.Clone()
	file.Name = r.Body.Params[field].Name
	r.Body.Params[field] = file
	at := message.Point{In: message.InFileName, Name: file.Name, Index: field, Value: file.File}
	answer, err := t.Follow(r)
	if err != nil || answer.Status >= 400 {
		return false, err
	}
	for _, where := range candidates(answer, file.File) {
		if t.Scope.Allows(where) != nil {
			continue
		}
		resp, err := t.Send(where)
		if err != nil {
			return false, err
		}
		if flaw := proven(resp); flaw != nil {
			flaw.Request, flaw.Point, flaw.Payload = r, &at, file.File
			flaw.Proof = append([]string{"The upload takes the file " + file.File + ", which is still there."}, flaw.Proof...)
			flaw.Answers, flaw.Notes = []*message.Response{answer, resp}, []string{"the upload", "the file"}
			t.Flaw(*flaw)
			return true, nil
		}
	}
	return false, nil
}

// folders are where applications commonly keep uploads.
var folders = []string{"uploads/", "/uploads/", "/upload/", "/files/", "/images/", "/media/"}

// maxCandidates bounds where a file is looked for.
const maxCandidates = 8

// candidates are the addresses where the file may be: what the answer says of it, else
// common folders.
func candidates(answer *message.Response, name string) []*message.Request {
	text := strings.ReplaceAll(answer.Text(), `\/`, "/")
	extension := name[strings.LastIndexByte(name, '.'):]
	told := lazyregexp.New(`[\w./:%~@+-]*`+regexp.QuoteMeta(name)).FindAllString(text, 10)
	if len(told) == 0 { // under a name of its own
		told = lazyregexp.New(`[\w./:%~@+-]*[0-9a-fA-F]{8,}[\w-]*`+regexp.QuoteMeta(extension)+`\b`).FindAllString(text, 10)
	}
	paths := []string{}
	for _, p := range told {
		if strings.Contains(p, "/") {
			paths = append(paths, p)
			switch {
			case strings.HasPrefix(p, "/"): // as the application sees it, which may lie in a folder
				paths = append(paths, strings.TrimLeft(p, "/"))
			case !strings.HasPrefix(p, ".") && !strings.Contains(p, "://"):
				paths = append(paths, "/"+p)
			}
		}
	}
	if len(paths) == 0 {
		for _, f := range folders {
			paths = append(paths, f+name)
		}
	}
	var out []*message.Request
	seen := map[string]bool{}
	for _, p := range paths {
		u, err := answer.Request.URL().Parse(p)
		if err != nil {
			continue
		}
		r, err := message.Of(u)
		if err != nil || r.Host != answer.Request.Host || seen[r.Address()] || site.Dangerous(r.Address()) || len(out) == maxCandidates {
			continue
		}
		seen[r.Address()] = true
		out = append(out, r)
	}
	return out
}
