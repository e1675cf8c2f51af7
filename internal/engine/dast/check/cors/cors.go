// Package cors finds answers that other sites may read with the session of a user who
// looks at those sites: the server allows an origin that it does not know, with
// credentials. What anybody may read anyway is not reported: the answer has to be another
// one without the session.
package cors

import (
	"net/http"
	"net/url"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var rule = texts.Get("any-origin")

// Rule is the check.
var Rule = &activescan.Rule{ID: "cors", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	ScanOperation: scanOperation}

// maxTried bounds the operations that are tried: what decides is nearly always one place
// of the application. Those below one folder share it.
const maxTried = 12

// scanOperation asks an operation with origins that are not its own.
func scanOperation(t *activescan.OperationScan) error {
	if t.Request.Method != http.MethodGet || t.As == nil || t.As.Name() == "" {
		return nil // nobody has a session that could be used
	}
	folder, _, _ := strings.Cut(strings.TrimPrefix(t.Request.Path, "/"), "/")
	if !t.FirstTime("cors "+t.Request.Base()+" "+folder) || t.IncrementCount("cors") > maxTried {
		return nil
	}
	host := t.Request.URL().Hostname()
	for _, o := range []struct{ origin, what string }{
		{"https://" + t.RandomLetters(10) + ".example", "an unknown origin"},
		{"null", "null, the origin of frames in a sandbox"},
		{t.Request.Scheme + "://" + host + "." + t.RandomLetters(8) + ".example", "an origin that begins with the " +
			"application's"},
		{t.Request.Scheme + "://" + t.RandomLetters(6) + host, "an origin that ends with the application's"},
	} {
		answer, err := t.Send(t.Request.SetHeader("Origin", o.origin))
		if err != nil {
			return err
		}
		if allowsOrigin(answer, o.origin) {
			return proveMisconfiguration(t, o.origin, o.what, answer)
		}
	}
	return nil
}

// allowsOrigin reports whether the origin may read the answer with credentials. A wildcard with
// credentials is refused by browsers.
func allowsOrigin(resp *message.Response, origin string) bool {
	return resp.Header.Get("Access-Control-Allow-Origin") == origin &&
		strings.EqualFold(resp.Header.Get("Access-Control-Allow-Credentials"), "true")
}

// proveMisconfiguration repeats it with another origin of the kind, and compares with the answer that
// nobody gets.
func proveMisconfiguration(t *activescan.OperationScan, origin, what string, first *message.Response) error {
	again := origin
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		again = strings.Replace(origin, "://", "://"+t.RandomLetters(4), 1)
		if strings.HasPrefix(what, "an origin that begins") {
			again = origin + t.RandomLetters(4)
		}
	}
	r := t.Request.SetHeader("Origin", again)
	second, err := t.Send(r)
	if err != nil || !allowsOrigin(second, again) || first.Status >= 300 || second.Status >= 300 {
		return err
	}
	public, err := t.SendAnonymously(r)
	if err != nil || public.Status == second.Status && activescan.NewPage(public).Equal(activescan.NewPage(second)) {
		return err
	}
	t.RaiseAlert(activescan.Alert{Rule: rule, Request: r, Payload: again, Responses: []*message.Response{first, second,
		public},
		ResponseNotes: []string{what, "another one", "the same without the session"},
		Proof: []string{"The answer allows " + what + " (" + origin + ") to read it with credentials.",
			"So it does with " + again + ".", "Without the session the response differs: it is not public."}})
	return nil
}
