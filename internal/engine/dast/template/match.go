package template

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
)

// This file decides whether an answer matches.

// responseValues returns the values that an answer gives to matchers and later
// requests. Names of headers are written in lower case with underscores, and cookies
// that the answer sets are values too. The names of the format come last, so that no
// header of the target replaces them.
func responseValues(resp *message.Response) values {
	head := resp.Head()
	v := values{}
	for _, c := range (&http.Response{Header: resp.Header}).Cookies() {
		v[strings.ToLower(c.Name)] = c.Value
	}
	for name, all := range resp.Header {
		v[strings.ToLower(strings.ReplaceAll(name, "-", "_"))] = strings.Join(all, " ")
	}
	body := string(resp.Body)
	for name, value := range map[string]any{"status_code": float64(resp.Status), "body": body, "header": head,
		"all_headers": head, "response": head + "\r\n" + body,
		"request": resp.Sent, "content_length": float64(len(body)), "duration": resp.Took.Seconds(),
		"host": resp.Request.Host, "matched": resp.Request.Address(), "type": "http"} {
		v[name] = value
	}
	if _, ok := v["content_type"]; !ok {
		v["content_type"] = ""
	}
	return v
}

// responsePart returns the part of an answer that a matcher looks at. Headers and
// cookies are parts as well, by their names.
func responsePart(name string, v values) (string, bool) {
	switch name {
	case "":
		name = "body"
	case "all":
		return textOf(v["all_headers"]) + "\r\n" + textOf(v["body"]), true
	}
	if rest, ok := strings.CutPrefix(name, "all_"); ok && numberedPart.MatchString(name) && rest != "headers" {
		return textOf(v["all_headers_"+rest]) + "\r\n" + textOf(v["body_"+rest]), true
	}
	x, ok := v[name]
	return textOf(x), ok
}

// matchResponse reports whether the answer matches, and the names of the matchers that do.
// Without matchers nothing does.
func (j *judge) matchResponse(e *evaluation) (ok bool, names []string) {
	for _, m := range j.matchers {
		holds := m.matchesResponse(e)
		if holds && m.Name != "" && !m.Internal {
			names = append(names, m.Name)
		}
		if holds != j.all {
			if !j.all {
				ok = true
				continue // the names of all that match
			}
			return false, nil
		}
	}
	return ok || j.all && len(j.matchers) > 0, names
}

// isReportable reports whether a match is more than a step of the template.
func (j *judge) isReportable() bool {
	return slices.ContainsFunc(j.matchers, func(m *matcher) bool { return !m.Internal })
}

// matchesResponse applies one matcher. A part that the answer does not have never
// matches, not even a negative matcher: nothing is known of it.
func (m *matcher) matchesResponse(e *evaluation) bool {
	var found []bool
	switch m.Type {
	case "status":
		code, ok := e.values["status_code"].(float64)
		return ok && slices.Contains(m.Status, int(code)) != m.Negative
	case "dsl":
		found = m.matchExpressions(e)
	default:
		from, ok := responsePart(m.Part, e.values)
		if !ok {
			return false
		}
		found = m.matchText(from, e)
	}
	all, _ := readCondition(m.Condition) // it was read before
	if all {
		return !slices.Contains(found, false) != m.Negative
	}
	return slices.Contains(found, true) != m.Negative
}

// matchText tries every word, pattern and size of a matcher on a part of an answer. A
// word with a name that has no value does not match.
func (m *matcher) matchText(from string, e *evaluation) []bool {
	var out []bool
	if m.NoCase && m.Type == "word" {
		from = strings.ToLower(from)
	}
	for _, w := range m.Words {
		w, missing := fillExpressions(w, e)
		if m.NoCase {
			w = strings.ToLower(w)
		}
		out = append(out, missing == "" && strings.Contains(from, w))
	}
	for _, re := range m.regex {
		out = append(out, re.MatchString(from))
	}
	for _, b := range m.binary {
		out = append(out, strings.Contains(from, b))
	}
	if len(m.Size) > 0 {
		out = append(out, slices.Contains(m.Size, len(from)))
	}
	return out
}

// matchExpressions evaluates every expression of a matcher. One that fails, or gives no
// truth value, does not match.
func (m *matcher) matchExpressions(e *evaluation) []bool {
	var out []bool
	for i, x := range m.dsl {
		if x == nil {
			// What is filled in cannot end the string that it stands in.
			filled, _ := fillAs(m.DSL[i], e, escaper.Replace)
			var err error
			if x, err = parseExpression(filled); err != nil {
				out = append(out, false)
				continue
			}
		}
		v, err := x.root.eval(e)
		out = append(out, err == nil && v == true)
	}
	return out
}

// numberAnswer adds an answer under names with its number.
func numberAnswer(v, more values, n int) {
	for name, value := range more {
		v[fmt.Sprintf("%s_%d", name, n)] = value
	}
}
