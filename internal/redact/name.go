package redact

import (
	"regexp"
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file redacts by name alone, where nobody knows the values any more: evidence that
// was stored before secrets were redacted by value, of targets that have changed since.

// harmless are the headers of a request that say how a client works.
// A header that is not in the list may be a credential under a name that nobody knows, so it is
// redacted.
var harmless = lazyregexp.New(`(?i)^(accept|accept-encoding|accept-language|access-control-.*|cache-control|connection|content-.*|host|if-.*|origin|pragma|range|referer|` +
	`sec-.*|te|transfer-encoding|upgrade.*|user-agent|x-forwarded-.*|x-merlon-scan|x-requested-with|x-http-method-override|x-original-url|x-rewrite-url)$`)

// credentialValue is a member of JSON, a field or a parameter that is named like a
// credential, with its value.
var credentialValue = lazyregexp.New(`((?i:["'\s&?;]|^)(?i:[\w.-]*(?:password|passwd|passphrase|pwd|secret|access_?token|refresh_?token|id_?token|auth_?token|session_?id|api_?key|jwt))["'\\]*\s*[=:]\s*["'\\]*)([^\s"'&;,<>{}\\]+)`)

// curlHeader matches a header argument of a curl command.
var curlHeader = lazyregexp.New(`(-H '?)([A-Za-z0-9_-]+)(: )([^']*?)(' |' ?$| -| --)`)

// RedactLive returns evidence with credentials replaced that their name tells: headers of
// requests but for those that describe a client, and what is named like a password or a
// token. The parameter that was attacked stays.
func RedactLive(l *finding.Live) *finding.Live {
	if l == nil {
		return nil
	}
	out := *l
	out.Exchanges = slices.Clone(l.Exchanges)
	for i := range out.Exchanges {
		e := &out.Exchanges[i]
		// All unknown headers of a request, but only members named like a credential in a
		// response.
		e.Request = redactNamed(requestHeaders(e.Request, l), l)
		e.Response = redactNamed(e.Response, l)
	}
	out.Curl = redactNamed(curlHeader.Compiled().ReplaceAllStringFunc(l.Curl, func(text string) string {
		m := curlHeader.FindStringSubmatch(text)
		if harmless.MatchString(m[2]) || isAttacked(l, m[2]) {
			return text
		}
		return m[1] + m[2] + m[3] + finding.Redacted + m[5]
	}), l)
	return &out
}

// isAttacked reports whether the name is the parameter of the finding. Its value is the payload,
// which is evidence and no secret.
func isAttacked(l *finding.Live, name string) bool { return strings.EqualFold(l.Parameter, name) }

// requestHeaders redacts the headers of a request as text.
func requestHeaders(request string, l *finding.Live) string {
	head, body, ok := strings.Cut(request, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	for i, line := range lines {
		name, value, is := strings.Cut(line, ": ")
		// Line 0 is the request line. A header with a value that was redacted already keeps its
		// form.
		if i == 0 || !is || harmless.MatchString(name) || isAttacked(l, name) ||
			strings.Contains(value, finding.Redacted) {
			continue
		}
		lines[i] = name + ": " + finding.Redacted
	}
	head = strings.Join(lines, "\r\n")
	if !ok {
		return head
	}
	return head + "\r\n\r\n" + body
}

// valueName matches the name of a parameter or header.
var valueName = regexp.MustCompile(`[\w.-]+`)

// redactNamed redacts what is named like a credential.
func redactNamed(text string, l *finding.Live) string {
	re := credentialValue.Compiled()
	return re.ReplaceAllStringFunc(text, func(found string) string {
		m := re.FindStringSubmatch(found)
		// A value that may be an ordinary word stays, unless its name is that of a password.
		if name := valueName.FindString(m[1]); isAttacked(l, name) || strings.HasPrefix(m[2], finding.Redacted) ||
			classifyValue(m[2], nil) == behindName && !password.MatchString(name) {
			return found
		}
		return m[1] + finding.Redacted
	})
}
