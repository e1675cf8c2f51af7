package sarif

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"merlon/internal/finding"
)

// This file writes what was seen of a running application: the place in it, the request
// that proves a flaw, its answer (sections 3.46 and 3.47), and the place in the source
// where that is known.

// webRequest is the request of a live finding (section 3.46).
type webRequest struct {
	Protocol   string            `json:"protocol,omitempty"`
	Version    string            `json:"version,omitempty"`
	Target     string            `json:"target,omitempty"`
	Method     string            `json:"method,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Body       *text             `json:"body,omitempty"`
}

// webResponse is the response of a live finding (section 3.47).
type webResponse struct {
	Protocol string            `json:"protocol,omitempty"`
	Version  string            `json:"version,omitempty"`
	Status   int               `json:"statusCode,omitempty"`
	Phrase   string            `json:"reasonPhrase,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     *text             `json:"body,omitempty"`
}

// addLiveEvidence adds the evidence of a running application. Where the flaw is known in the
// source, that is where it is mended, so it is the result's location; the address is
// beside it.
func (r *resultObject) addLiveEvidence(f *finding.Finding) {
	l := f.Live
	r.Properties["live"] = l
	if u, err := url.Parse(l.URL); err == nil && u.Host != "" {
		r.Locations[0].Physical.Artifact = artifactAddress{URI: u.String()}
	}
	if n := len(l.Exchanges); n > 0 {
		last := l.Exchanges[n-1]
		r.Request, r.Response = readRequest(last.Request, l), readResponse(last.Response)
	}
	if l.Code == nil {
		return
	}
	handler := location{Physical: newPhysicalLocation(l.Code.Handler, nil),
		Message: &text{Text: "the handler of the operation"}}
	r.Related = append(r.Related, handler)
	if flaw := l.Code.Flaw; flaw != nil {
		at := r.Locations[0]
		at.Message = &text{Text: "proven here in the running application: " + l.Method + " " + l.URL}
		r.Related = append(r.Related, at)
		r.Locations[0] = location{Physical: newPhysicalLocation(flaw.Location, nil)}
		r.Message.Text += fmt.Sprintf(" In the code: %s:%d (%s).", flaw.Location.Path, flaw.Location.StartLine,
			flaw.RuleID)
	}
}

// splitMessage cuts a message of HTTP/1.1 into its first line, headers and body. Of a header
// that comes several times the values are joined (RFC 9110, section 5.3).
func splitMessage(message string) (first string, headers map[string]string, body string) {
	head, body, _ := strings.Cut(message, "\r\n\r\n")
	first, rest, _ := strings.Cut(head, "\r\n")
	headers = map[string]string{}
	for line := range strings.SplitSeq(rest, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			value = strings.TrimSpace(value)
			if before, again := headers[name]; again {
				value = before + ", " + value
			}
			headers[name] = value
		}
	}
	return first, headers, body
}

// splitProtocol cuts "HTTP/1.1" into its parts.
func splitProtocol(s string) (protocol, number string) {
	protocol, number, _ = strings.Cut(s, "/")
	return protocol, number
}

// readRequest converts the text of a request into its SARIF object.
func readRequest(message string, l *finding.Live) *webRequest {
	first, headers, body := splitMessage(message)
	parts := strings.SplitN(first, " ", 3)
	if len(parts) != 3 {
		return nil
	}
	out := &webRequest{Method: parts[0], Target: parts[1], Headers: headers}
	out.Protocol, out.Version = splitProtocol(parts[2])
	if body != "" {
		out.Body = &text{Text: body}
	}
	if l.Parameter != "" {
		out.Parameters = map[string]string{l.Parameter: l.Payload}
	}
	return out
}

// readResponse converts the text of a response into its SARIF object.
func readResponse(message string) *webResponse {
	first, headers, body := splitMessage(message)
	parts := strings.SplitN(first, " ", 3)
	if len(parts) < 2 {
		return nil
	}
	status, err := strconv.Atoi(parts[1])
	if err != nil {
		return nil
	}
	out := &webResponse{Status: status, Headers: headers}
	out.Protocol, out.Version = splitProtocol(parts[0])
	if len(parts) == 3 {
		out.Phrase = parts[2]
	}
	if body != "" {
		out.Body = &text{Text: body}
	}
	return out
}
