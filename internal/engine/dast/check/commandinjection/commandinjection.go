// Package commandinjection finds parameters that become part of a command line of the operating
// system, or the whole of one. The proof is arithmetic that only a shell, or the program
// expr, does; where nothing of the output is shown, the time that the command takes, or
// a call to a listener of ours.
package commandinjection

import (
	"fmt"
	"strings"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	byOutput = texts.Get("output")
	byTime   = texts.Get("time")
	byCall   = texts.Get("callback")
)

// Rule is the check by output, Slow that by time and by calls.
var (
	Rule = &activescan.Rule{ID: "command", FindingRules: []*finding.Rule{byOutput}, Profile: scan.Safe,
		AcceptsPoint: acceptsPoint,
		ProbePoint:   probePoint}
	Slow = &activescan.Rule{ID: "command", FindingRules: []*finding.Rule{byTime, byCall},
		OASTRules: []*finding.Rule{byCall},
		Profile:   scan.Standard, Slow: true, Concurrent: true, AcceptsPoint: acceptsPoint, ProbePoint: probeDelay}
)

// Mark is what is said of points that commands are found at.
const Mark = "command"

// acceptsPoint reports whether a command can stand at a point. Names of parameters are
// tried too, for programs take them as options.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName:
		return false
	}
	return p.Type != "boolean" && p.Type != "null"
}

// A form puts a command of a shell behind, or in the place of, a value.
type form struct {
	name string
	make func(v, command string) string
	// command prints the difference of two numbers between two words, or just the
	// difference. A sum would not do: many applications decode "+" once more.
	command func(before, after string, a, b int) string
	bare    bool // only the difference is printed
	quiet   bool // tried where the first probe changes nothing, too
}

// closeQuotes repeats a command behind a sign that ends the command before, once for each
// kind of quotes that the value may stand in: the rest of the line is a comment, which the
// gap parts from the command. In it stands the value again, for filters that look at ends.
func closeQuotes(sign, gap string) func(v, command string) string {
	return func(v, command string) string {
		one := sign + command + gap + "#"
		end := v
		if strings.ContainsAny(v, "\r\n") { // what is behind it is no comment
			end = ""
		}
		return v + one + "'" + one + `"` + one + end
	}
}

// replaceValue puts a command in the place of the value; of an assignment ("NAME=value"), such as
// that of a variable of the environment, only behind the sign.
func replaceValue(v, command string) string {
	name, _, ok := strings.Cut(v, "=")
	if !ok {
		return command
	}
	return name + "=" + command
}

// unixSubtraction has a shell compute a difference between two words, which an echo of
// the value cannot hold.
func unixSubtraction(before, after string, a, b int) string {
	return fmt.Sprintf("echo %s$((%d-%d))%s", before, a, b, after)
}

// subtractionWithoutSpaces has no space, no tab and no end of a line.
func subtractionWithoutSpaces(before, after string, a, b int) string {
	return fmt.Sprintf("echo${IFS}%s$((%d-%d))%s", before, a, b, after)
}

// subtractionWithTabs has no space, and neither a dollar nor brackets. The remainder is the difference (try).
// A minus that stands alone would be an argument by which many programs read standard input,
// for ever, where the value is not run but handed to one of them.
func subtractionWithTabs(before, after string, a, b int) string {
	return fmt.Sprintf("echo\t%s`expr\t%d\t%%\t%d`%s", before, a, b, after)
}

// subtractionByExpr is the difference (try) by the program expr.
func subtractionByExpr(_, _ string, a, b int) string { return fmt.Sprintf("expr %d %% %d", a, b) }

// windowsSubtraction has cmd.exe compute a difference, which set /a prints without a
// line end.
func windowsSubtraction(_, _ string, a, b int) string { return fmt.Sprintf("set /a %d-%d", a, b) }

// forms are tried in this order. Each is written otherwise as well, for filters of spaces and signs.
var forms = []form{
	{name: "behind a pipe", make: closeQuotes("|", " "), command: unixSubtraction, quiet: true},
	{name: "behind a semicolon", make: closeQuotes(";", ";"), command: subtractionWithoutSpaces},
	{name: "in the place of the command", make: replaceValue, command: subtractionByExpr, bare: true},
	{name: "in a command substitution", make: func(v, c string) string { return v + "$(" + c + ")" },
		command: unixSubtraction},
	{name: "on a new line", make: closeQuotes("\n", "\t"), command: subtractionWithTabs},
	{name: "behind an ampersand, for Windows", make: func(v, c string) string { return v + "&" + c + `&"&` + c + "&" },
		command: windowsSubtraction, bare: true},
	{name: "in a substitution of PowerShell", make: func(v, c string) string { return v + "$(" + c + ")" },
		command: func(before, after string, a, b int) string {
			return fmt.Sprintf("-join('%s',(%d-%d),'%s')", before, a, b, after)
		}},
}

// probePoint looks for commands whose results are in the page, and for pages that
// change with them.
func probePoint(p *activescan.Probe) error {
	if p.AlreadyFound(Mark) || p.AlreadyFound("sql") {
		return nil
	}
	r, err := p.ProbeErrorReaction()
	if err != nil {
		return err
	}
	changed := r.Changed()
	if changed && p.Point.Names() { // a name that is missing changes the page as well
		missing, err := r.UnknownPage()
		if err != nil || missing.Equal(r.Breaking) {
			return err
		}
	}
	for _, f := range forms {
		if !changed && !f.quiet || strings.Contains(f.make("", ""), "\n") && !acceptsLineBreaks(p.Point) {
			continue
		}
		found, other, err := confirmSubtraction(p, r, f)
		if found || err != nil {
			return err
		}
		changed = changed || other // a filter refuses the command, and may let another one pass
	}
	return nil
}

// acceptsLineBreaks reports whether a value of the point can hold the end of a line.
func acceptsLineBreaks(at message.Point) bool { return at.In != message.InHeader }

// confirmSubtraction runs a subtraction, and when its result is shown, another one. other reports whether
// the page is another one than that of a value that just breaks quotes.
func confirmSubtraction(p *activescan.Probe, r *activescan.ErrorReaction, f form) (found, other bool, err error) {
	var answers []*message.Response
	var payload, proof string
	for range 2 {
		b := p.RandomNumber(50_000, 59_999)
		// less than twice as much: the difference is the remainder of a division as well
		a := b + p.RandomNumber(10_000, 49_999)
		before, after := p.RandomLetters(4), p.RandomLetters(4)
		payload = f.make(p.OriginalValue(), f.command(before, after, a, b))
		resp, err := p.SendValue(payload)
		if err != nil {
			return false, false, err
		}
		want := fmt.Sprintf("%s%d%s", before, a-b, after)
		if f.bare {
			want = fmt.Sprint(a - b)
		}
		if !strings.Contains(resp.Text(), want) || strings.Contains(payload, want) {
			return false, !p.PageOf(resp, payload).Equal(r.Breaking), nil
		}
		proof = fmt.Sprintf("The response to the value %s contains %s: %d minus %d was computed.", payload, want, a, b)
		answers = append(answers, resp)
	}
	p.MarkFound(Mark)
	p.RaiseAlert(activescan.Alert{Rule: byOutput, Payload: payload, Request: p.Request.With(p.Point, payload),
		Responses:     answers,
		ResponseNotes: []string{"a difference of two numbers", "that of two others"},
		Proof: []string{proof, "So it was with two other numbers before.", "The command stands " + f.name +
			"."}})
	return true, false, nil
}

// waits are the forms that sleep. The first is a line of its own.
var waits = []func(v string, n int) string{
	func(v string, n int) string { return closeQuotes("\n", "\t")(v, fmt.Sprintf("sleep\t%d", n)) },
	func(v string, n int) string { return closeQuotes("|", " ")(v, fmt.Sprintf("sleep %d", n)) },
	func(v string, n int) string { return replaceValue(v, fmt.Sprintf("sleep %d", n)) },
	func(v string, n int) string { return v + fmt.Sprintf("$(sleep %d)", n) },
	func(v string, n int) string { // of Windows; others would ping without end, but for -w
		c := fmt.Sprintf("ping -n %d -w 9 127.0.0.1", n+1)
		return v + "&" + c + `&"&` + c + "&"
	},
}

// probeDelay looks for commands that nothing in the page shows: by calls to the
// listener, else by the time that they take.
func probeDelay(p *activescan.Probe) error {
	if p.AlreadyFound(Mark) || p.AlreadyFound("sql") || p.Point.Names() {
		return nil
	}
	if found, err := probeOAST(p); found || err != nil {
		return err
	}
	for i, wait := range waits {
		if i == 0 && !acceptsLineBreaks(p.Point) {
			wait = func(v string, n int) string { return closeQuotes(";", ";")(v, fmt.Sprintf("sleep${IFS}%d", n)) }
		}
		d, err := p.MeasureDelay(activescan.WholeSeconds, func(d time.Duration) string {
			return wait(p.OriginalValue(), int(d/time.Second))
		})
		if err != nil {
			return err
		}
		if d != nil {
			p.MarkFound(Mark)
			p.RaiseAlert(activescan.Alert{Rule: byTime, Payload: d.Payload, Request: p.Request.With(p.Point, d.Payload),
				Responses: d.Responses, ResponseNotes: d.ResponseNotes, Proof: d.Proof})
			return nil
		}
	}
	return nil
}
