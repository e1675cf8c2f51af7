// Package xss finds cross-site scripting (CWE-79): a value of a request that becomes script in a
// page, of the same response (reflected) or of a later one (stored).
//
// A harmless word shows where a value appears. For each such context a few values that leave it are
// sent (breakout.go, context.go), and the response is parsed as a browser parses it (proof.go): a
// vulnerability is only what then is an event handler, an address with a scheme of script, or a
// call in script that parses. Everything is sent again with another word before it is reported.
// Encoded, filtered or quoted values are no vulnerability. Where there is a browser it confirms the
// script, and a Content-Security-Policy that blocks it lowers the severity.
//
// Budget: one request for a value that does not come back, at most maxContexts contexts of about
// ten values for one that does. Values that only script of the page uses are left to package
// domxss, and pages that the scan never sees to package blindxss.
package xss

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

// reflected: the value becomes script in the response to its own request.
var reflected = texts.Get("reflected")

// stored: it becomes script in a page that is requested without it.
var stored = texts.Get("stored")

// content: it becomes a style, or an element that loads from another host, but no script.
var content = texts.Get("foreign-content")

// Rule is the check.
// The hooks: ProbePoint gets each value, ScanOperation the points that are probed together,
// CheckStored the words that appear in a page other than the one they were sent to.
var Rule = &activescan.Rule{ID: "xss", FindingRules: []*finding.Rule{reflected, stored, content}, Profile: scan.Safe,
	AcceptsPoint: acceptsPoint, ProbePoint: probePoint, ScanOperation: probeOtherPoints, CheckStored: checkStored,
	StoredRules: []*finding.Rule{stored}, BrowserRules: []*finding.Rule{stored}}

// acceptsPoint accepts values, and names of JSON members that clients choose. Cookies, headers and
// names of parameters are probed together, see probeOtherPoints: few applications show them.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InQuery, message.InForm, message.InMultipart, message.InJSON, message.InXML, message.InPath,
		message.InJSONName:
		return true
	}
	return false
}

// probePoint sends a word in place of the value, and tries to leave the contexts in which it
// appears.
func probePoint(p *activescan.Probe) error {
	canary, err := p.ProbeCanary()
	if err != nil {
		return err
	}
	word, resp := canary.Word, canary.Response
	// The word is looked for in all later pages. Names of files are checked by package upload.
	if p.Point.Type != "file" && p.Target.Profile.Allows(scan.Standard) && (p.Request.Method != http.MethodGet ||
		isLikelyStored(p)) {
		p.RecordStoredPayload(word, word)
	}
	// A validation that requires markup refuses a word, but not markup.
	if isRejection(resp) && !strings.Contains(resp.Text(), word) && p.IncrementCount("xss refused") <= maxRefused {
		return proveBreakout(p, resp, func(b *breaker) (*proof, error) { return b.breakMarkup() })
	}
	if strings.Contains(strings.ToLower(resp.Text()), word[:len(word)-maxCut]) {
		return probeContexts(p, word, resp)
	}
	return inError(p, resp)
}

// isLikelyStored reports whether a query is likely to be stored, by the name of its parameter or of
// its page: some applications save comments by GET.
func isLikelyStored(p *activescan.Probe) bool {
	return p.Point.In == message.InQuery && (kept.MatchString(p.Point.Name) ||
		keeping.MatchString(path.Base(p.Request.Path)))
}

var (
	// kept matches parameters whose values are shown to others: message, nickname, bio.
	kept = lazyregexp.New(`(?i)comment|message|^msg$|review|feedback|remark|reply|opinion|shout|signature|caption|motto|description|nick|(first|last|full|display|real)[-_]?name|(^|_)(bio|notes?|text|body)$`)
	// keeping matches pages that save something: guestbook.php, add-comment, edit_profile.
	keeping = lazyregexp.New(`(?i)guest-?book|comment|feedback|(^|[-_])(add|create|save|store|submit|insert|update|edit|post|send|sign|register|profile)`)
)

// inError tries values that appear only in an error: a message about a wrong value, or that of a
// database whose statement the value breaks. The breaking value is cached, because other checks
// send it too.
func inError(p *activescan.Probe, plain *message.Response) error {
	broken, err := p.SendCached(p.BreakingValue())
	if err != nil || !isRendered(broken) || strings.Count(broken.Text(), unusual) <= strings.Count(plain.Text(),
		unusual) {
		return err
	}
	lead := strings.TrimPrefix(p.BreakingValue(), p.OriginalValue())
	word := "m" + p.RandomLetters(9)
	resp, err := p.SendValue(lead + word)
	if err != nil || !strings.Contains(resp.Text(), word) {
		return err
	}
	return proveBreakout(p, resp, func(b *breaker) (*proof, error) {
		b.lead = lead
		return b.breakContexts(findContexts(resp, word))
	})
}

// unusual is a part of Probe.BreakingValue that texts of pages rarely contain.
const unusual = `"(`

// maxRefused bounds the values of a scan that are tried although a word is refused: about twenty
// requests each.
const maxRefused = 15

// isRejection reports whether a page says that a value is not accepted. JSON is left out, as no
// browser shows it as a page.
func isRejection(resp *message.Response) bool {
	switch resp.Status {
	case http.StatusBadRequest, http.StatusNotAcceptable, http.StatusUnprocessableEntity:
		return resp.IsHTML() || resp.MediaType() == "text/plain" || resp.MediaType() == ""
	}
	return false
}

// absent names the point of an address that does not exist, for the report.
const absent = "page that is not there"

// maxAbsent bounds the folders whose error page is probed: mostly one handler serves them all.
const maxAbsent = 5

// probeNotFoundPage probes the error page of a folder for a path that does not exist: it often
// contains the path. Browsers encode what makes markup there, and some servers decode it.
func probeNotFoundPage(t *activescan.OperationScan) error {
	folder := strings.TrimSuffix(path.Dir(t.Request.Path), "/")
	if !t.FirstTime("xss missing "+t.Request.Base()+folder) || t.IncrementCount("xss missing") > maxAbsent {
		return nil
	}
	word := "m" + t.RandomLetters(9)
	trial := *t
	trial.Request = &message.Request{Method: http.MethodGet, Scheme: t.Request.Scheme, Host: t.Request.Host,
		Path: folder + "/" + word}
	if trial.Scope.Allows(trial.Request) != nil {
		return nil
	}
	resp, err := trial.Send(trial.Request)
	if err != nil {
		return err
	}
	return probeContexts(&activescan.Probe{OperationScan: trial, Point: message.Point{In: message.InPath, Name: absent,
		Index: strings.Count(folder, "/"), Value: word}}, word, resp)
}

// probeOtherPoints probes what few applications show: cookies, the headers Referer and User-Agent,
// and names of parameters, in one request. Where the request has cookies or headers of its own,
// names go into a second request, because a renamed parameter is missing and may change the page.
func probeOtherPoints(t *activescan.OperationScan) error {
	if err := probeNotFoundPage(t); err != nil {
		return err
	}
	var values, names []message.Point
	for _, p := range t.Request.Points() {
		if p.In == message.InCookie || p.In == message.InHeader {
			values = append(values, p)
		}
	}
	names = slices.DeleteFunc(t.Request.Names(), func(p message.Point) bool { return p.In == message.InJSONName })
	names = names[:min(len(names), 20)]
	always := []message.Point{message.HeaderPoint("Referer"), message.HeaderPoint("User-Agent")}
	if len(values) == 0 {
		return probeTogether(t, append(always, names...))
	}
	if err := probeTogether(t, append(always, values...)); err != nil || len(names) == 0 {
		return err
	}
	return probeTogether(t, names)
}

// probeTogether puts a word of its own at each of the points, in one request, and probes those
// whose word the response shows.
func probeTogether(t *activescan.OperationScan, points []message.Point) error {
	r := t.Request
	words := map[string]message.Point{}
	for _, p := range points {
		word := "m" + t.RandomLetters(9)
		words[word] = p
		// A Referer that is no address is dropped by many applications.
		if p.Name == "Referer" && p.In == message.InHeader {
			p.Value = t.Request.Base() + "/?"
			words[word] = p
			r = r.With(p, p.Value+word)
			continue
		}
		r = r.With(p, word)
	}
	resp, err := t.Send(r)
	if err != nil {
		return err
	}
	text := strings.ToLower(resp.Text())
	for word, p := range words {
		if !strings.Contains(text, word[:len(word)-maxCut]) {
			continue
		}
		if p.In == message.InHeader && p.Index < 0 && resp.Status < http.StatusBadRequest {
			t.AddReflectedPoint(message.HeaderPoint(p.Name))
		}
		if err := probeContexts(&activescan.Probe{OperationScan: *t, Point: p}, word, resp); err != nil {
			return err
		}
	}
	return nil
}

// isRendered reports whether a browser shows the response as a page. A missing media type is one:
// the browser guesses from the content (MIME Sniffing, section 7).
func isRendered(resp *message.Response) bool {
	if resp.Location() != nil || resp.IsDownload() {
		return false
	}
	switch resp.MediaType() {
	case "text/html", "application/xhtml+xml", "image/svg+xml", "":
		return true
	}
	return isXML(resp)
}

// maxCut bounds how many characters of a value's end may be missing: a column that is too short, or
// a pattern that removes an extension.
const maxCut = 3

// probeContexts tries to leave the contexts in which the word appears: as it is, in capitals, or
// without its end.
func probeContexts(p *activescan.Probe, word string, resp *message.Response) error {
	if !isRendered(resp) {
		return nil
	}
	text, upper := resp.Text(), strings.ToUpper(word)
	try := func(word string, change func(*breaker)) error {
		return proveBreakout(p, resp, func(b *breaker) (*proof, error) {
			change(b)
			return b.breakContexts(findContexts(resp, word))
		})
	}
	if strings.Contains(text, word) {
		return try(word, func(*breaker) {})
	}
	if strings.Contains(text, upper) {
		return try(word, func(b *breaker) { b.upper = true })
	}
	for n := 1; n <= maxCut; n++ {
		if short := word[:len(word)-n]; strings.Contains(text, short) {
			return try(short, func(b *breaker) { b.pad = strings.Repeat("x", n) })
		}
	}
	return nil
}

// proveBreakout lets how search for a value that leaves its context, repeats it, and reports what
// was proven twice.
func proveBreakout(p *activescan.Probe, resp *message.Response, how func(*breaker) (*proof, error)) error {
	b := &breaker{random: p.RandomLetters, try: func(payload string) (*message.Response, *message.Request, error) {
		r := p.Request.With(p.Point, valueFor(p.Point, payload))
		resp, err := p.Send(r)
		return resp, r, err
	}}
	found, err := how(b)
	if err != nil || found == nil {
		return err
	}
	again, err := b.repeatProof(found)
	if err != nil || again == nil {
		return err
	}
	flaw := activescan.Alert{Rule: reflected, Request: again.request, Payload: again.payload,
		Responses: []*message.Response{resp, found.answer, again.answer},
		ResponseNotes: []string{"a harmless word shows where the value appears", "a value that breaks out of its " +
			"context", "again, with another word"},
		Proof: []string{"The value appears " + found.where.describeContext() + ".", "With " + again.payload +
			" the page has " + again.how + ", read as a browser reads it.", "A second try with another word gave " +
			"the same."}}
	if again.isContentAlone() {
		flaw.Rule = content
	}
	if p.Point.Name == absent && p.Point.In == message.InPath {
		flaw.Location = path.Dir(p.Request.Path)
	}
	ran, err := confirmInBrowser(p, again, &flaw)
	if err != nil {
		return err
	}
	// A policy is a second line of defense, so the flaw remains, with less weight.
	if rule := blockingPolicy(again); rule != "" && !ran {
		flaw.Confidence, flaw.Severity = finding.MediumConfidence, finding.Medium
		flaw.Proof = append(flaw.Proof, "The page's Content-Security-Policy ("+rule+") prevents browsers from "+
			"running it. Content can be written into the page none the less, and a hole in the policy makes it a "+
			"script.")
	}
	later, err := isPersistent(p, again)
	if err != nil {
		return err
	}
	if later != nil && flaw.Rule == reflected {
		flaw.Rule = stored
		flaw.Responses = append(flaw.Responses, later)
		flaw.ResponseNotes = append(flaw.ResponseNotes, "the page, requested without the value")
		flaw.Proof = append(flaw.Proof, "The page also contains it when it is requested without the value.")
	}
	p.RaiseAlert(flaw)
	return nil
}

// valueFor returns a payload as it can be sent at a point. A header contains no line ends, and a
// Referer has to remain an address.
func valueFor(at message.Point, payload string) string {
	if at.In != message.InHeader {
		return payload
	}
	payload = strings.ReplaceAll(payload, "\n", "\t")
	if at.Name == "Referer" {
		payload = at.Value + payload
	}
	return payload
}

// isContentAlone reports whether what was written into the page runs no script: a style, or an
// element that loads from another host. A foreign script or base runs script of that host.
func (f *proof) isContentAlone() bool {
	return f.how == styleHow || strings.HasPrefix(f.how, foreignHow) && !strings.HasSuffix(f.how, " script") &&
		!strings.HasSuffix(f.how, " base")
}

// confirmInBrowser opens the request in the browser, where there is one, and adds what ran to the
// alert. Script that waits for the user does not run there, and is a vulnerability all the same.
func confirmInBrowser(p *activescan.Probe, found *proof, flaw *activescan.Alert) (bool, error) {
	if p.Browser == nil || found.how == styleHow || strings.HasPrefix(found.how, foreignHow) {
		return false, nil
	}
	ran, err := p.Browser.Execute(p.Context, found.request, found.word)
	if err != nil && p.Context.Err() != nil {
		return false, p.Context.Err()
	}
	if len(ran) > 0 {
		flaw.Proof = append(flaw.Proof, "A browser that opened it ran the script: "+ran[0]+".")
	}
	return len(ran) > 0, nil
}

// isPersistent returns the page that contains the script although it was requested without the
// value: the page of the form, else the same path; nil: neither does. A GET is skipped, because a
// stored value of a GET is found by CheckStored.
func isPersistent(p *activescan.Probe, found *proof) (*message.Response, error) {
	if p.Request.Method == "GET" {
		return nil, nil
	}
	page := p.Request.Referer
	if page == "" {
		page = p.Request.Base() + p.Request.Path
	}
	r, err := message.Parse(page)
	if err != nil || p.Scope.Allows(r) != nil {
		return nil, nil //nolint:nilerr // there is no such page
	}
	resp, err := p.SendFollowingRedirects(r)
	if err != nil {
		return nil, err
	}
	if _, ok := findExecution(resp, found.word); ok {
		return resp, nil
	}
	return nil, nil
}

// checkStored probes a page that shows a word which was sent to another operation: it sends values
// there, and reads the page as the user who saw the word.
func checkStored(t *activescan.OperationScan, token activescan.StoredPayload, resp *message.Response) error {
	if !isRendered(resp) {
		return byScript(t, token, resp)
	}
	b := &breaker{random: t.RandomLetters, try: func(payload string) (*message.Response, *message.Request, error) {
		r := token.Request.With(token.Point, payload)
		if _, err := t.Send(r); err != nil {
			return nil, nil, err
		}
		resp, err := t.SendAsReader()
		return resp, r, err
	}}
	found, err := b.breakContexts(findContexts(resp, token.Token))
	if err != nil || found == nil {
		return err
	}
	to := ""
	if t.ReaderName() != "" {
		to = ", as it is shown to " + t.ReaderName()
	}
	point := token.Point
	t.RaiseAlert(activescan.Alert{Rule: stored, Request: found.request, Point: &point, Payload: found.payload,
		Responses: []*message.Response{resp, found.answer},
		ResponseNotes: []string{"the page contains a word that was sent to another URL", "the page after a value " +
			"that breaks out of its context was sent"},
		Proof: []string{"A word that was sent to " + found.request.Location() + " appears in " + t.Request.Location() +
			to +
			", " + found.where.describeContext() + ".",
			"With " + found.payload + " that page has " + found.how + ", read as a browser reads it."}})
	return nil
}

// maxScripted bounds the values of a scan that are checked in the browser, at a few seconds each.
const maxScripted = 30

// byScript checks a response of JSON that contains a word which was sent to another operation: a
// page whose script requests it may write it as markup. The payload calls a function that only the
// scan's browser has, so it does nothing to users; the proof is that it was called.
func byScript(t *activescan.OperationScan, token activescan.StoredPayload, resp *message.Response) error {
	if t.Browser == nil || t.ReaderName() != "" || !strings.Contains(resp.MediaType(), "json") ||
		!t.FirstTime("xss scripted "+token.Request.Method+" "+token.Request.Location()+" "+token.Point.Key()) ||
		t.IncrementCount("xss scripted") > maxScripted {
		return nil
	}
	mark := "m" + t.RandomLetters(9)
	payload := "<img src=x onerror=" + mark + "()>"
	r := token.Request.With(token.Point, payload)
	if _, err := t.Send(r); err != nil {
		return err
	}
	later, err := t.SendAsReader()
	if err != nil || !strings.Contains(later.Text(), mark) {
		return err
	}
	ran, err := t.Browser.ExecuteShown(t.Context, t.Request, mark)
	if err != nil && t.Context.Err() != nil {
		return t.Context.Err()
	}
	if len(ran) == 0 {
		return nil
	}
	point := token.Point
	t.RaiseAlert(activescan.Alert{Rule: stored, Request: r, Point: &point, Payload: payload,
		Responses: []*message.Response{resp, later},
		ResponseNotes: []string{"the response contains a word that was sent to another URL", "the response after the " +
			"value was sent"},
		Proof: []string{"A word that was sent to " + r.Location() + " is in the answer of " + t.Request.Location() +
			", which scripts of pages request.",
			"With " + payload + ", a browser that opened such a page ran it: " + ran[0] + "."}})
	return nil
}
