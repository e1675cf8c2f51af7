// Package pathtraversal finds parameters that name files outside of the folder that the
// application means. What is asked first is how the application behaves: whether a
// name that is another way to write the same path leads to the same answer. Names of
// files of the system are only read after such an indication, unless the profile is the
// full one: the same parameter may be opened for writing.
//
// Where the content of files is not shown, folders that every system has, against such
// that none has, tell whether the path leaves its folder: nothing can be written there.
package pathtraversal

import (
	"fmt"
	"html"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var (
	byContent = texts.Get("read")
	byFolder  = texts.Get("folder")
	byInclude = includesFile()
)

// includesFile is the rule for files that are run as programs of PHP, with the weakness
// of its own.
func includesFile() *finding.Rule {
	r := texts.Get("include")
	r.CWE = []string{"CWE-98"}
	return r
}

// Rule is the check.
var Rule = &activescan.Rule{ID: "pathtraversal", FindingRules: []*finding.Rule{byContent, byFolder, byInclude},
	Profile: scan.Safe, AcceptsPoint: acceptsPoint, ProbePoint: probePoint}

// Mark is what is said of points that lead to files.
const Mark = "file"

// acceptsPoint reports whether the name of a file can stand at a point. Segments of the
// path are another check's.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName, message.InPath:
		return false
	}
	return p.Type != "boolean" && p.Type != "null" && p.Type != "integer" && p.Type != "number"
}

// prober is what is known of a point while its values are tried.
type prober struct {
	*activescan.Probe
	base    *activescan.Baseline
	missing *activescan.Page // of a name that most likely does not exist
	error   bool             // that page tells of a file, or shows the name in a path
	any     bool             // any name is answered alike, as where files are written
}

// probePoint tests one value: with another name first, which shows whether it decides the
// response, and then with ways out of the folder as far as the profile and what was seen
// of it go.
func probePoint(p *activescan.Probe) error {
	if p.AlreadyFound(Mark) || p.AlreadyFound("sql") || p.AlreadyFound("command") {
		return nil
	}
	base, err := p.Baseline()
	if err != nil {
		return err
	}
	other := p.UnknownValue()
	resp, err := p.SendCached(other)
	if err != nil {
		return err
	}
	s := &prober{Probe: p, base: base, missing: p.PageOf(resp, other)}
	text := html.UnescapeString(resp.Text())
	s.error = showsFileError(resp, text) || strings.Contains(text, "/"+other) || strings.Contains(text, `\`+other)
	matters := base.Stable && !s.missing.Equal(base.Page())
	s.any = base.Stable && !matters
	if p.Point.Names() {
		return s.probeName()
	}
	return s.probeValue(matters)
}

// probeValue tests the value of a parameter. Files are read where the value is likely to be
// a path, or behaves like one; folders are probed where the name says so, too.
func (s *prober) probeValue(matters bool) error {
	likely := fileName.MatchString(s.Point.Name) || fileValue.MatchString(s.Point.Value)
	if !matters && !likely && !s.error {
		return nil
	}
	full := s.Target.Profile.Allows(scan.Full)
	indicated := full && likely || s.error
	if !indicated && matters {
		var err error
		if indicated, err = s.isNormalized(); err != nil {
			return err
		}
	}
	if indicated && s.Target.Profile.Allows(scan.Standard) {
		if found, err := s.probeContent(); found || err != nil {
			return err
		}
	}
	if !indicated && !full && !likely {
		return nil
	}
	return s.probeFolders()
}

// probeName looks at the name of a parameter, where the page tells of a file; where only the
// name itself does, in the commonest way alone.
func (s *prober) probeName() error {
	switch {
	case s.error:
		return s.probeFolders()
	case fileName.MatchString(s.Point.Name):
		_, err := s.reportExistence(s.probeNullDevice("/" + strings.Repeat("../", deepest)))
		return err
	}
	return nil
}

var (
	fileName  = lazyregexp.New(`(?i)file|path|page|doc|folder|dir|template|include|inc$|view|load|read|download|content|layout|theme|lang|locale|style|img|image|pdf|report|log|name|src|target|resource|module|conf`)
	fileValue = lazyregexp.New(`[/\\]|\.[A-Za-z][A-Za-z0-9]{1,4}$`)
	// fileError are texts of functions that open files.
	fileError = lazyregexp.New(`(?i)No such file or directory|FileNotFoundException|NoSuchFileException|failed to open stream|failed opening (?:required )?'|cannot find the (?:file|path) specified|could not find (?:a part of )?(?:the )?(?:file|path)|\b(?:no such|invalid|unknown|missing) file(?: ?name)?\b|\bfile (?:(?:was|is|could|does) )?not (?:be )?(?:found|exist)|\bfile (?:doesn|didn)['’]t (?:yet )?exist|MalformedURLException|unknown url type|ENOENT|\[Errno 2\]|Is a directory|File name too long|(?:problem|couldn't|cannot|could not|can't|unable to|failed to) (?:\w+ ){0,2}(?:open(?:ing)?|read(?:ing)?|writ(?:e|ing)|get(?:ting)?|find|load) (?:\w+ ){0,2}file`)
)

// showsFileError reports whether the answer, whose text without entities is given, holds an error
// of a function that opens files.
func showsFileError(resp *message.Response, text string) bool {
	if text == resp.Text() {
		return resp.MatchesBody(fileError)
	}
	return fileError.MatchString(text)
}

// isNormalized reports whether "./value" is the same as the value, and a folder of a
// random name before it is not.
func (s *prober) isNormalized() (bool, error) {
	v := s.Point.Value
	if v == "" {
		return false, nil
	}
	dir, file := path.Split(v)
	for _, c := range []struct {
		value string
		same  bool
	}{{dir + "./" + file, true}, {dir + s.RandomLetters(5) + "/" + file, false}} {
		resp, err := s.SendValue(c.value)
		if err != nil {
			return false, err
		}
		if s.PageOf(resp, c.value).Equal(s.base.Page()) != c.same {
			return false, nil
		}
	}
	return true, nil
}

// A file is one that systems have, with what it holds.
type file struct {
	name string
	text *lazyregexp.Regexp
}

var (
	passwd  = file{"etc/passwd", lazyregexp.New(`root:[^:\n]{0,100}:0:0:`)}
	winIni  = file{"windows/win.ini", lazyregexp.New(`(?i)\[(?:fonts|extensions|mci extensions)\]\s*\r?\n`)}
	webXML  = file{"WEB-INF/web.xml", lazyregexp.New(`<web-app[\s>]`)}
	deepest = 12 // folders up that lead to the root of any usual path
)

// kept is what removing "../" once makes the way up of.
const kept = "....//"

// A try is a value with the file that it names.
type try struct {
	value string
	file  file
}

// fileNames are the values that name files, those that fit most applications first.
func (s *prober) fileNames() []try {
	up := strings.Repeat("../", deepest)
	v := s.Point.Value
	dir, _ := path.Split(v)
	out := []try{{"/" + up + passwd.name, passwd}, {up + passwd.name, passwd}}
	if dir != "" && dir != "/" {
		out = append(out, try{dir + up + passwd.name, passwd})
	}
	out = append(out, try{"file:///" + passwd.name, passwd})
	for _, depth := range s.folderDepths() {
		out = append(out, try{strings.Repeat("../", depth) + webXML.name, webXML})
	}
	if d := s.folderDepths(); len(d) > 0 {
		out = append(out, try{"/" + webXML.name, webXML}, try{"/" + strings.Repeat("../", d[0]) + webXML.name, webXML},
			try{"/" + strings.Repeat(kept, d[0]) + webXML.name, webXML})
	}
	out = append(out,
		try{"/" + strings.Repeat(kept, deepest) + passwd.name, passwd},
		try{strings.Repeat("..%2f", deepest) + strings.ReplaceAll(passwd.name, "/", "%2f"), passwd},
		// looked at between two that decode
		try{strings.Repeat("..%252f", deepest) + strings.ReplaceAll(passwd.name, "/", "%252f"), passwd},
		try{"/" + strings.Repeat(`..\`, deepest) + strings.ReplaceAll(winIni.name, "/", `\`), winIni},
		try{`C:\` + strings.ReplaceAll(winIni.name, "/", `\`), winIni})
	if ext := path.Ext(v); ext != "" && len(ext) < 6 {
		out = append(out, try{up + passwd.name + "\x00" + ext, passwd}, try{up + passwd.name + "?" + ext, passwd},
			try{up + passwd.name + "#" + ext, passwd})
	} else {
		out = append(out, try{up + passwd.name + "\x00", passwd})
	}
	return out
}

// folderDepths are how many folders up the root of a Java application is from the page: all
// of the path but the name of the application, or all of it. A value that names a page
// is run or forwarded to, and no file is read: none.
func (s *prober) folderDepths() []int {
	if likelyJava.MatchString(s.Point.Value) {
		return nil
	}
	n := strings.Count(s.Request.Path, "/") - 1
	switch {
	case n > 8 || !likelyJava.MatchString(s.Request.Path) && s.base.First.Header.Get("Server") != "" &&
		!s.HasFact("java"):
		return nil
	case n > 1:
		return []int{n - 1, n}
	}
	return []int{1}
}

// likelyJava matches addresses of applications that most likely run in Java, whose
// files have names of their own.
var likelyJava = lazyregexp.New(`(?i)\.(?:jsp|jspx|do|action|jsf|faces|xhtml)$|;jsessionid|/servlet`)

// probeContent looks for the content of files.
func (s *prober) probeContent() (found bool, err error) {
	for _, t := range s.fileNames() {
		if strings.Contains(t.value, "\x00") && s.Point.In == message.InHeader {
			continue
		}
		resp, err := s.SendValue(t.value)
		if err != nil {
			return false, err
		}
		if !holdsContent(resp, t.file, s.base) {
			continue
		}
		// Another name in the same place shows nothing of the kind.
		control := strings.Replace(t.value, path.Base(t.file.name), s.RandomLetters(6), 1)
		if strings.Contains(t.value, `\`) || strings.Contains(t.value, "2f") {
			control = t.value[:len(t.value)-3] + s.RandomLetters(3)
		}
		again, err := s.SendValue(control)
		if err != nil {
			return false, err
		}
		if holdsContent(again, t.file, s.base) {
			return false, nil
		}
		s.MarkFound(Mark)
		s.RaiseAlert(activescan.Alert{Rule: byContent, Payload: t.value, Request: s.Request.With(s.Point, t.value),
			Responses:     []*message.Response{resp, again},
			ResponseNotes: []string{"a file of the system", "one that does not exist"},
			Proof: []string{fmt.Sprintf("The response to the value %s contains the content of "+
				"%s (%s).", t.value, t.file.name, t.file.text), "The value " + control + " is not."}})
		return true, nil
	}
	return s.probePHPStream()
}

// holdsContent reports whether an answer holds the content of the file, and the baseline does
// not.
func holdsContent(resp *message.Response, f file, base *activescan.Baseline) bool {
	return resp.Text() != base.First.Text() && f.text.MatchString(html.UnescapeString(resp.Text())) &&
		!f.text.MatchString(html.UnescapeString(base.First.Text()))
}

// probePHPStream sends PHP a stream that holds a program, harmless: it prints a product.
func (s *prober) probePHPStream() (found bool, err error) {
	if !lazyregexp.New(`(?i)\.php$|php`).MatchString(s.Request.Path + s.base.First.Header.Get("X-Powered-By")) {
		return false, nil
	}
	var answers []*message.Response
	var payload string
	for range 2 {
		a, b := s.RandomNumber(1000, 9999), s.RandomNumber(1000, 9999)
		payload = fmt.Sprintf("data:text/plain,<?php echo %d*%d;?>", a, b)
		resp, err := s.SendValue(payload)
		if err != nil {
			return false, err
		}
		if !strings.Contains(resp.Text(), fmt.Sprint(a*b)) {
			return false, nil
		}
		answers = append(answers, resp)
	}
	s.MarkFound(Mark)
	s.MarkFound("code")
	s.RaiseAlert(activescan.Alert{Rule: byInclude, Payload: payload, Request: s.Request.With(s.Point, payload),
		Responses:     answers,
		ResponseNotes: []string{"a program that prints a product", "that of two others"},
		Proof: []string{"The value " + payload + " is a stream with a program; the response contains the product " +
			"that it prints.", "So it was with two other numbers."}})
	return true, nil
}

// existing are folders that systems of the Unix kind have at their root.
var existing = []string{"etc", "usr", "var", "dev", "tmp", "bin", "lib", "opt"}

// probeFolders asks for what exists in every system and for what does not. The device that is
// empty can be opened to write, too, without harm; the path beside it is below a folder
// that does not exist, so nothing is made there. Folders cannot be written at all.
func (s *prober) probeFolders() error {
	dir, _ := path.Split(s.Point.Value)
	i := s.RandomNumber(0, len(existing)-1)
	ways := []string{"/" + strings.Repeat("../", deepest), dir + strings.Repeat("../", deepest),
		"/" + strings.Repeat(kept, deepest)}
	if s.Point.Value == "" || scheme.MatchString(s.Point.Value) {
		ways = append(ways, "file:///")
	}
	for n, up := range ways {
		if slices.Contains(ways[:n], up) {
			continue
		}
		directory := func() (yes, no string) {
			i++
			return up + existing[i%len(existing)] + "/.", up + s.RandomLetters(3) + "/."
		}
		for _, ask := range []activescan.ConditionPayloads{s.probeNullDevice(up), directory} {
			if found, err := s.reportExistence(ask); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// probeNullDevice asks for the empty device, and for the same below a folder that does not exist.
func (s *prober) probeNullDevice(up string) activescan.ConditionPayloads {
	i := s.RandomNumber(0, 2)
	return func() (yes, no string) {
		i++
		folder := "dev/" + strings.Repeat("./", i%3)
		return up + folder + "null", up + s.RandomLetters(3) + folder[3:] + "null"
	}
}

// scheme begins an address.
var scheme = lazyregexp.New(`(?i)^[a-z][a-z0-9+.-]*:/`)

// reportExistence reports a vulnerability when the application tells what exists from what does not. What
// exists and is answered as a name that names nothing is not asked about further, but for
// where files are made: there only a name in a folder that does not exist is another one.
func (s *prober) reportExistence(ask activescan.ConditionPayloads) (found bool, err error) {
	yes, no := ask()
	first, err := s.SendValue(yes)
	if err != nil || s.PageOf(first, yes).Equal(s.missing) && !(s.error && s.any) {
		return false, err
	}
	second, err := s.SendValue(no)
	if err != nil {
		return false, err
	}
	there, missing := s.PageOf(first, yes), s.PageOf(second, no)
	if there.Equal(missing) {
		return false, nil
	}
	c, err := s.CompareConditions(ask, there, missing)
	if c == nil || err != nil {
		return false, err
	}
	s.MarkFound(Mark)
	s.RaiseAlert(activescan.Alert{Rule: byFolder, Payload: c.Yes, Request: s.Request.With(s.Point, c.Yes),
		Responses:     c.Responses,
		ResponseNotes: c.ResponseNotes,
		Proof: []string{"The value " + c.Yes + " leads to the root of the file system, to something that exists, and " +
			"is answered in one way; " + c.No + ", which does not exist, in another.",
			fmt.Sprintf("So it was in %d rounds with other names.", activescan.Rounds)}})
	return true, nil
}
