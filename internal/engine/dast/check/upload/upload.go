// Package upload finds uploads that accept any file (CWE-434): a program that the server runs, or a
// page that it serves from its own site (stored cross-site scripting).
//
// What is uploaded only prints the product of two random numbers; the proof is that the product
// comes back from the location of the file. Languages are tried where responses show them.
//
// Budget: about ten names for each language, and maxCandidates addresses for each upload. Files
// stay in the target, so the check belongs to the profile standard.
package upload

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var (
	script = texts.Get("script")
	page   = texts.Get("page")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "upload", FindingRules: []*finding.Rule{script, page}, Profile: scan.Standard,
	InspectResponse: recordLanguages,
	ScanOperation:   scanForm}

// A language is one that servers run by the extension of a file.
type language struct {
	// Also the extension that is tried first.
	name string
	// A program that prints the product of two numbers, as a format.
	print string
	// What the path or the headers of a response show of the language.
	signs *lazyregexp.Regexp
	// others are extensions of the same language, for uploads that refuse the first one:
	// written otherwise, further ones that servers are set up to run, one of which a filter
	// takes the first out once, and with that of an image before or behind.
	others []string
}

// languages contains the languages with their signs. To add a row: a program that works after other
// bytes (image), since many uploads check how a file begins.
var languages = []language{
	{"php", "<?php echo %d*%d; ?>", lazyregexp.New(`(?i)\.php([/?\s]|$)|x-powered-by: php|phpsessid=|laravel_session=`),
		[]string{"phtml", "pHp", "pphphp", "png.php", "php.png"}},
	{"jsp", "<%%= %d*%d %%>", lazyregexp.New(`(?i)\.jspx?([/?;\s]|$)|jsessionid=`),
		[]string{"jspx", "jSp", "jjspsp", "png.jsp"}},
	{"aspx", "<%%= %d*%d %%>", lazyregexp.New(`(?i)\.aspx([/?\s]|$)|x-aspnet-version:|asp\.net_sessionid=`),
		[]string{"aSpx", "png.aspx"}},
	{"asp", "<%% Response.Write(CLng(%d)*CLng(%d)) %%>", lazyregexp.New(`(?i)\.asp([/?\s]|$)|aspsessionid`),
		[]string{"aSp", "cer", "asa", "png.asp"}},
}

// recordLanguages notes the languages of the target.
func recordLanguages(t *activescan.OperationScan, resp *message.Response) {
	if resp.Status == http.StatusNotFound {
		return
	}
	text := resp.Request.Path + "\n" + resp.Head()
	for _, l := range languages {
		if l.signs.MatchString(text) {
			t.RecordFact("language " + l.name)
		}
	}
}

// scanForm uploads a program of each language that the target shows, else a page.
func scanForm(t *activescan.OperationScan) error {
	for i, p := range t.Request.Body.Params {
		if t.Request.Body.Kind != message.Multipart || p.File == "" {
			continue
		}
		for _, l := range languages {
			if !t.HasFact("language " + l.name) {
				continue
			}
			if found, err := uploadPrograms(t, i, l); found || err != nil {
				return err
			}
		}
		return uploadPage(t, i)
	}
	return nil
}

// image is how a GIF begins, for uploads that check the content.
const image = "GIF89aMerlon;\n"

// uploadPrograms uploads a program under each name of the language, and reports the first that ran.
// Where no response names its path, files of further names are not searched. A field that looks
// like the name of a file may give the file that name, whatever the file itself is called: the
// slash and the dot after it mean nothing to the file system, and end another extension.
func uploadPrograms(t *activescan.OperationScan, field int, l language) (bool, error) {
	for i, extension := range slices.Concat([]string{l.name}, l.others) {
		name := t.RandomLetters(12) + "." + extension
		if found, err := uploadProgram(t, l, upload{field: field, named: -1, told: i > 0, name: name,
			file: message.Param{File: name}}); found || err != nil {
			return found, err
		}
	}
	for i, p := range t.Request.Body.Params {
		if p.File != "" || !fileName.MatchString(p.Value) {
			continue
		}
		for _, end := range []string{"", "/."} {
			word := t.RandomLetters(12)
			if found, err := uploadProgram(t, l, upload{field: field, named: i, told: true, name: word + "." + l.name +
				end,
				file: message.Param{File: word + ".png"}}); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// fileName are values that name a file.
var fileName = lazyregexp.New(`(?i)^[\w.-]+\.(png|jpe?g|gif|bmp|webp|svg|txt|csv|pdf|docx?|xlsx?|zip)$`)

// uploadProgram uploads one that prints a product, and reports when it does.
func uploadProgram(t *activescan.OperationScan, l language, u upload) (bool, error) {
	// Products of nine digits or more, which no page contains by chance.
	a, b := t.RandomNumber(10001, 40000), t.RandomNumber(10001, 40000)
	source, product := fmt.Sprintf(l.print, a, b), fmt.Sprint(a*b)
	u.file.Type, u.file.Value = "image/png", image+source
	return uploadAndFind(t, u, func(resp *message.Response) *activescan.Alert {
		text := resp.Text()
		// A server that shows the source has not run it.
		if !strings.Contains(text, product) || strings.Contains(text, fmt.Sprintf("%d*%d", a, b)) {
			return nil
		}
		return &activescan.Alert{Rule: script, Proof: []string{fmt.Sprintf("The program %s prints "+
			"%s at %s.", source, product, resp.Request.Address())}}
	})
}

// uploadPage uploads a page, and reports when the site shows it.
func uploadPage(t *activescan.OperationScan, field int) error {
	mark, name := t.RandomLetters(16), t.RandomLetters(12)+".html"
	file := message.Param{File: name, Type: "text/html", Value: "<!doctype html><title>test</title><b id=" + mark +
		">test</b>\n"}
	_, err := uploadAndFind(t, upload{field: field, named: -1, name: name, file: file},
		func(resp *message.Response) *activescan.Alert {
			if !resp.IsHTML() || !strings.Contains(resp.Text(), "<b id="+mark+">") ||
				// A download runs nothing, and a sandbox takes the page's origin away.
				strings.Contains(strings.ToLower(resp.Header.Get("Content-Disposition")), "attachment") ||
				strings.Contains(strings.ToLower(resp.Header.Get("Content-Security-Policy")), "sandbox") {
				return nil
			}
			return &activescan.Alert{Rule: page, Proof: []string{"The page that was uploaded is " +
				"shown as " + resp.MediaType() + " at " + resp.Request.Address() + "."}}
		})
	return err
}

// An upload is a file, and where in a form it is sent.
type upload struct {
	// The index of the file in the parameters of the body.
	field int
	file  message.Param
	// The index of a field that gives the file its name; -1: there is none.
	named int
	// The name that the file is expected to get.
	name string
	// The file is searched only where the response names its path.
	told bool
}

// requestWithFile is the form with the file, and the point that decides.
func (u *upload) requestWithFile(t *activescan.OperationScan) (*message.Request, message.Point) {
	r := t.Request.Clone()
	u.file.Name = r.Body.Params[u.field].Name
	r.Body.Params[u.field] = u.file
	if u.named < 0 {
		return r, message.Point{In: message.InFileName, Name: u.file.Name, Index: u.field, Value: u.name}
	}
	r.Body.Params[u.named].Value = u.name
	return r, message.Point{In: message.InMultipart, Name: r.Body.Params[u.named].Name, Index: u.named, Value: u.name}
}

// uploadAndFind uploads a file, looks for it, and gives each answer that may be it to proven.
func uploadAndFind(t *activescan.OperationScan, u upload,
	proven func(*message.Response) *activescan.Alert) (bool, error) {
	r, at := u.requestWithFile(t)
	answer, err := t.SendFollowingRedirects(r)
	if err != nil || answer.Status >= 400 {
		return false, err
	}
	for _, where := range u.candidateAddresses(answer) {
		if t.Scope.Allows(where) != nil {
			continue
		}
		resp, err := t.Send(where)
		if err != nil {
			return false, err
		}
		if flaw := proven(resp); flaw != nil {
			flaw.Request, flaw.Point, flaw.Payload = r, &at, u.name
			flaw.Proof = append([]string{"The upload takes the file " + u.name + ", which is still there."},
				flaw.Proof...)
			flaw.Responses, flaw.ResponseNotes = []*message.Response{answer, resp}, []string{"the upload", "the file"}
			t.RaiseAlert(*flaw)
			return true, nil
		}
	}
	return false, nil
}

// folders are where applications commonly store uploads, relative to the form and to the root.
var folders = []string{"uploads/", "/uploads/", "/upload/", "/files/", "/images/", "/media/"}

// maxCandidates bounds the addresses where a file is searched.
const maxCandidates = 8

// candidateAddresses are the addresses where the file may be: what the answer says of it, else
// common folders. What is taken out of an extension leaves another one.
func (u *upload) candidateAddresses(answer *message.Response) []*message.Request {
	text := strings.ReplaceAll(answer.Text(), `\/`, "/")
	// The random stem: filters change extensions, rarely the rest of the name.
	stem, extension, _ := strings.Cut(u.name, ".")
	extension = strings.TrimSuffix(extension[strings.LastIndexByte(strings.TrimSuffix(extension, "/."), '.')+1:], "/.")
	name := strings.TrimSuffix(u.name, "/.")
	told := lazyregexp.New(`[\w./:%~@+-]*`+stem+`[\w.]*`).FindAllString(text, 10)
	if len(told) == 0 { // under a name of its own
		told = lazyregexp.New(`(?i)[\w./:%~@+-]*[0-9a-f]{8,}[\w-]*\.`+regexp.QuoteMeta(extension)+
			`\b`).FindAllString(text, 10)
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
	if len(paths) == 0 && !u.told {
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
		r, err := message.FromURL(u)
		if err != nil || r.Host != answer.Request.Host || seen[r.Address()] || sitemap.IsDangerous(r.Address()) ||
			len(out) == maxCandidates {
			continue
		}
		seen[r.Address()] = true
		out = append(out, r)
	}
	return out
}
