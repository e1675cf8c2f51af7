package dockerfile

import (
	"errors"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// This file follows ARG and ENV: what a name stands for in the instructions after
// it. See https://docs.docker.com/reference/dockerfile/#environment-replacement.

// maxValue bounds a value with its variables put in, which can double with each line.
const maxValue = 64 << 10

// A scope is what names stand for.
type scope map[string]string

// addAll adds the variables of another scope.
func (s scope) addAll(other scope) {
	for name, v := range other {
		s[name] = v
	}
}

// applyVariables puts variables into the values of an instruction, and learns what an ARG
// or ENV defines.
func (d *decoder) applyVariables(cmd string, values []string) []string {
	s := d.scope
	if s == nil || cmd == "from" {
		s = d.global
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = s.expandVariables(v)
	}
	switch cmd {
	case "arg":
		d.defineArguments(s, out)
	case "env":
		// The parser gives a name, a value and what was between them.
		for i := 0; i+1 < len(out); i += 3 {
			s[out[i]] = unquote(out[i+1])
		}
		out = namesAndValues(out)
	}
	return out
}

// defineArguments adds what ARG defines: a value, or that of the outer argument of the name.
func (d *decoder) defineArguments(s scope, values []string) {
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok {
			if value, ok = d.global[name]; !ok {
				continue
			}
		}
		s[name] = unquote(value)
	}
}

// namesAndValues leaves out what the parser keeps between names and values.
func namesAndValues(values []string) []string {
	if len(values)%3 != 0 {
		return values
	}
	var out []string
	for i := 0; i+2 < len(values); i += 3 {
		out = append(out, values[i], values[i+1])
	}
	return out
}

// unquote removes the quotes around a value.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// expandVariables puts in $name, ${name} and ${name:-default}. A name that is not known
// stays as it is written.
func (s scope) expandVariables(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '\\' && i+1 < len(text) {
			b.WriteString(text[i : i+2])
			i += 2
			continue
		}
		if text[i] != '$' {
			b.WriteByte(text[i])
			i++
			continue
		}
		value, n := s.readReference(text[i:])
		b.WriteString(value)
		i += n
		if b.Len() > maxValue {
			return text
		}
	}
	return b.String()
}

// readReference reads the variable at the begin of the text: what it stands for and how
// long it is.
func (s scope) readReference(text string) (string, int) {
	if strings.HasPrefix(text, "${") {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return text, len(text)
		}
		inner := text[2:end]
		n := nameLen(inner)
		name, rest := inner[:n], inner[n:]
		value, ok := s[name]
		switch {
		case rest == "" && ok:
			return value, end + 1
		case strings.HasPrefix(rest, ":-") || strings.HasPrefix(rest, "-"):
			if !ok {
				value = strings.TrimLeft(rest, ":")[1:]
			}
			return value, end + 1
		}
		return text[:end+1], end + 1
	}
	n := nameLen(text[1:])
	if value, ok := s[text[1:1+n]]; ok && n > 0 {
		return value, n + 1
	}
	return text[:n+1], n + 1
}

// nameLen returns the length of the name at the begin of the text.
func nameLen(text string) int {
	for i, c := range []byte(text) {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9' || i == 0) {
			return i
		}
	}
	return len(text)
}

// asLocation finds the lines that an error of the parser names.
func asLocation(err error, at **parser.LocationError) bool { return errors.As(err, at) }
