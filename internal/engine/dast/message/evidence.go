package message

import (
	"net/http"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file writes requests and answers for people.

// maxEvidence bounds the text of a request or an answer in a finding, in bytes.
const maxEvidence = 16 << 10

// secretHeaders are headers whose value is a credential.
var secretHeaders = map[string]bool{"Authorization": true, "Cookie": true, "Set-Cookie": true,
	"Proxy-Authorization": true, "X-Api-Key": true, "X-Auth-Token": true}

// IsSecretHeader reports whether the value of the header is a credential.
func IsSecretHeader(header string) bool { return secretHeaders[http.CanonicalHeaderKey(header)] }

// Dump writes a request as text, with the headers as they are sent and credentials
// replaced.
func Dump(r *http.Request, content []byte) string {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.URL.RequestURI() + " HTTP/1.1\r\nHost: ")
	if r.Host != "" {
		b.WriteString(r.Host)
	} else {
		b.WriteString(r.URL.Host)
	}
	b.WriteString("\r\n")
	h := hideSecrets(r.Header)
	_ = h.Write(&b) // a builder takes everything
	b.WriteString("\r\n")
	return truncateBytes(b.String()+string(content), maxEvidence, isCut)
}

// hideSecrets returns the headers with credentials replaced. Of cookies the names
// stay.
func hideSecrets(h http.Header) http.Header {
	out := h.Clone()
	for name, values := range out {
		if !secretHeaders[name] {
			continue
		}
		for i, v := range values {
			switch name {
			case "Cookie":
				values[i] = hideCookies(v)
			case "Set-Cookie":
				values[i] = hideCookie(v)
			case "Authorization":
				scheme, _, ok := strings.Cut(v, " ")
				if !ok {
					scheme = ""
				}
				values[i] = strings.TrimSpace(scheme + " " + finding.Redacted)
			default:
				values[i] = finding.Redacted
			}
		}
	}
	return out
}

// hideCookies leaves the names of the cookies of a request.
func hideCookies(v string) string {
	pairs := strings.Split(v, "; ")
	for i, p := range pairs {
		name, _, _ := strings.Cut(p, "=")
		pairs[i] = name + "=" + finding.Redacted
	}
	return strings.Join(pairs, "; ")
}

// hideCookie leaves the name and the attributes of a cookie that an answer sets.
func hideCookie(v string) string {
	pair, attributes, _ := strings.Cut(v, ";")
	name, _, _ := strings.Cut(pair, "=")
	if attributes != "" {
		attributes = ";" + attributes
	}
	return name + "=" + finding.Redacted + attributes
}

// isCut stands at the end of evidence that was longer.
const isCut = "\n[cut]"

// Truncate returns a text for people, as valid UTF-8: of a longer one the first n bytes at
// most, and "…".
func Truncate(s string, n int) string { return truncateBytes(s, n, "…") }

// truncateBytes shortens a text to n bytes, and says so by the sign behind them.
func truncateBytes(s string, n int, sign string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + sign
}

// Exchange returns the evidence of an answer with its request.
func (r *Response) Exchange(note string) finding.Exchange {
	shown := Response{Proto: r.Proto, Status: r.Status, Header: hideSecrets(r.Header)}
	return finding.Exchange{Note: note, Request: r.Sent, Response: truncateBytes(shown.Head()+"\r\n"+r.Text(),
		maxEvidence,
		isCut), Duration: r.Took}
}

// Head returns the status line and the headers as text.
func (r *Response) Head() string {
	var b strings.Builder
	proto := r.Proto
	if proto == "" {
		proto = "HTTP/1.1"
	}
	b.WriteString(proto + " " + itoa(r.Status) + " " + http.StatusText(r.Status) + "\r\n")
	_ = r.Header.Write(&b) // a builder takes everything
	return b.String()
}

// Curl returns a command for a POSIX shell that sends the request. What a session has
// added to it, as sent tells (Response.Sent; empty: nothing), stands in the command with
// finding.Redacted in the place of credentials, for the reader to fill in.
func (r *Request) Curl(sent string) string {
	content, contentType := r.Content()
	parts := []string{"curl", "-i"}
	if r.Method != http.MethodGet || len(content) > 0 {
		parts = append(parts, "-X", quoteForShell(r.Method))
	}
	for _, h := range r.Header {
		value := h.Value
		if IsSecretHeader(h.Name) {
			value = finding.Redacted
		}
		parts = append(parts, "-H", quoteForShell(h.Name+": "+value))
	}
	headers, cookies := r.credentialHeaders(sent)
	for _, h := range headers {
		parts = append(parts, "-H", quoteForShell(h.Name+": "+h.Value))
	}
	if own := CookieHeader(r.Cookies); own != "" || len(cookies) > 0 {
		if own != "" {
			cookies = append([]string{own}, cookies...)
		}
		parts = append(parts, "-b", quoteForShell(strings.Join(cookies, "; ")))
	}
	if contentType != "" {
		parts = append(parts, "-H", quoteForShell("Content-Type: "+contentType), "--data-binary",
			quoteForShell(string(content)))
	}
	return truncateBytes(strings.Join(append(parts, "--path-as-is", quoteForShell(r.Address())), " "), maxEvidence,
		isCut)
}

// credentialHeaders returns the headers with credentials, and the cookies, of a request as Dump has
// written it that are not the request's own.
func (r *Request) credentialHeaders(sent string) (headers []Param, cookies []string) {
	head, _, _ := strings.Cut(sent, "\r\n\r\n")
	_, head, _ = strings.Cut(head, "\r\n")
	for line := range strings.SplitSeq(head, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		if !IsSecretHeader(name) || slices.ContainsFunc(r.Header, func(h Param) bool {
			return strings.EqualFold(h.Name, name)
		}) {
			continue
		}
		if name != "Cookie" {
			headers = append(headers, Param{Name: name, Value: value})
			continue
		}
		for pair := range strings.SplitSeq(value, "; ") {
			of, _, _ := strings.Cut(pair, "=")
			if !slices.ContainsFunc(r.Cookies, func(c Param) bool { return cookieText(c.Name) == of }) {
				cookies = append(cookies, pair)
			}
		}
	}
	return headers, cookies
}

// quoteForShell quotes a word for a POSIX shell. Control characters use the form of
// $'…', which bash and zsh read.
func quoteForShell(s string) string {
	plain := strings.IndexFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("-_./:=@%+,", c))
	}) < 0
	if plain && s != "" {
		return s
	}
	if strings.IndexFunc(s, func(c rune) bool { return c < ' ' }) < 0 {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return "$'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", "").Replace(s) +
		"'"
}
