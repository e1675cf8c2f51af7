package dockerfile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

// command is the command at the index of the stage.
func command(t *testing.T, d *document.Document, stage string, i int) map[string]any {
	t.Helper()
	stages, _ := d.Root["command"].(map[string]any)
	commands, _ := stages[stage].([]any)
	if i >= len(commands) {
		t.Fatalf("stage %q has %d commands of %v", stage, len(commands), stages)
	}
	return commands[i].(map[string]any)
}

func TestDecode(t *testing.T) {
	d, err := Decode("a/Dockerfile", []byte(`# syntax=docker/dockerfile:1
ARG TAG=3.19
FROM --platform=linux/amd64 alpine:$TAG AS base
ENV DIR=/srv HOST="h"
WORKDIR ${DIR}/app
RUN apk add \
    curl

FROM alpine:$TAG
FROM alpine:$TAG
ONBUILD RUN ["echo", "x"]
COPY --from=base --chown=1:1 /a /b
`))
	if err != nil {
		t.Fatal(err)
	}
	const base, second = "--platform=linux/amd64 alpine:$TAG AS base", "alpine:$TAG(1)"
	tests := []struct {
		stage string
		i     int
		want  map[string]any
	}{
		{base, 0, map[string]any{"Cmd": "from", "SubCmd": "", "Flags": []any{"--platform=linux/amd64"},
			"Value":    []any{"alpine:3.19", "AS", "base"},
			"Original": "FROM --platform=linux/amd64 alpine:$TAG AS base", "_kics_line": int64(3), "EndLine": int64(3),
			"JSON": false}},
		{base, 1, map[string]any{"Cmd": "env", "SubCmd": "", "Flags": nil, "Value": []any{"DIR", "/srv", "HOST", `"h"`},
			"Original": `ENV DIR=/srv HOST="h"`, "_kics_line": int64(4), "EndLine": int64(4), "JSON": false}},
		{base, 2, map[string]any{"Cmd": "workdir", "SubCmd": "", "Flags": nil, "Value": []any{"/srv/app"},
			"Original": "WORKDIR ${DIR}/app", "_kics_line": int64(5), "EndLine": int64(5), "JSON": false}},
		{base, 3, map[string]any{"Cmd": "run", "SubCmd": "", "Flags": nil, "Value": []any{"apk add     curl"},
			"Original": "RUN apk add     curl", "_kics_line": int64(6), "EndLine": int64(7), "JSON": false}},
		{second, 1, map[string]any{"Cmd": "onbuild", "SubCmd": "run", "Flags": nil, "Value": []any{"echo", "x"},
			"Original": `ONBUILD RUN ["echo", "x"]`, "_kics_line": int64(11), "EndLine": int64(11), "JSON": true}},
		{second, 2, map[string]any{"Cmd": "copy", "SubCmd": "", "Flags": []any{"--from=base", "--chown=1:1"},
			"Value":    []any{"/a", "/b"},
			"Original": "COPY --from=base --chown=1:1 /a /b", "_kics_line": int64(12), "EndLine": int64(12),
			"JSON": false}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, command(t, d, tt.stage, tt.i)); diff != "" {
			t.Errorf("%s %d (-want +got):\n%s", tt.stage, tt.i, diff)
		}
	}
	n, steps := d.Lines.Find("command", second, "2", "Flags", "1")
	if n.Line != 12 || steps != 5 {
		t.Errorf("the flag is at line %d after %d steps, want 12 after 5", n.Line, steps)
	}
	args, _ := d.Root["args"].([]any)
	if n, _ := d.Lines.Find("args", "0"); len(args) != 1 || n.Line != 2 {
		t.Errorf("%d arguments, the first at line %d, want 1 at 2", len(args), n.Line)
	}
}

func TestVariables(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"an argument with a default", "FROM a\nARG V=1\nRUN x-$V", "x-1"},
		{"longest name", "FROM a\nARG V=1\nARG VV=2\nRUN x$VV-${V}y", "x2-1y"},
		{"an outer argument is not seen", "ARG V=1\nFROM a\nRUN $V", "$V"},
		{"unless it is asked for", "ARG V=1\nFROM a\nARG V\nRUN $V", "1"},
		{"a default in place", "FROM a\nRUN ${V:-d} ${W-e}", "d e"},
		{"unknown stays", "FROM a\nRUN $V ${W} $(id) $1 ${", "$V ${W} $(id) $1 ${"},
		{"escaped", "FROM a\nARG V=1\nRUN \\$V", "\\$V"},
		{"a variable of the stage before", "FROM a AS b\nENV V 1 2\nFROM B\nRUN $V", "1 2"},
		{"not of another stage", "FROM a AS b\nENV V 1\nFROM c\nRUN $V", "$V"},
		{"here-document", "FROM a\nRUN <<EOF\n# no\napt-get update\n  apt-get install x\nEOF\n", "apt-get update && " +
			"apt-get install x"},
		{"here-document for another program", "FROM a\nRUN <<EOF\n#!/usr/bin/python\nprint(1)\nEOF\n", "<<EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Decode("Dockerfile", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var last map[string]any
			for _, commands := range d.Root["command"].(map[string]any) {
				list := commands.([]any)
				if c := list[len(list)-1].(map[string]any); c["Cmd"] == "run" {
					last = c
				}
			}
			if got := last["Value"].([]any)[0]; got != tt.want {
				t.Errorf("runs %q, want %q", got, tt.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	var m *document.Malformed
	if _, err := Decode("Dockerfile", []byte("FROM a\nENV x\n")); !errors.As(err, &m) || m.Line != 2 {
		t.Errorf("error %v, want one at line 2", err)
	}
	if _, err := Decode("Dockerfile", nil); !errors.As(err, &m) {
		t.Errorf("error %v of an empty file", err)
	}
	if _, err := Decode("Dockerfile", []byte(strings.Repeat("#", MaxSize+1))); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("error %v of a large file, want too large", err)
	}
	grow := "FROM a\nARG V=xxxxxxxxxx\n" + strings.Repeat("ARG V=$V$V\n", 64) + "RUN $V"
	d, err := Decode("Dockerfile", []byte(grow))
	if err != nil {
		t.Fatal(err)
	}
	if v := command(t, d, "a", 66)["Value"].([]any)[0].(string); len(v) > 2*maxValue {
		t.Errorf("a value grew to %d bytes", len(v))
	}
}

func TestMatch(t *testing.T) {
	for name, want := range map[string]bool{
		"Dockerfile": true, "a/dockerfile": true, "Dockerfile.prod": true, "web.Dockerfile": true,
		"Containerfile": true, "Dockerfile-dev": true,
		"Dockerfile.md": false, "dockerfile.go": false, "Dockerfiles": false, "docker": false, "Dockerfile.tmpl": false,
	} {
		if got := Match(name); got != want {
			t.Errorf("Match(%q) = %v", name, got)
		}
	}
}

// FuzzDecode reads any text: what it makes has a place for each command.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("FROM a\nRUN <<EOF\nx\nEOF\n"))
	f.Add([]byte("ARG A\nFROM $A AS b\nENV a=b c=$a\nONBUILD ADD x y\nCMD [\"a\"]\n"))
	f.Add([]byte("# escape=`\nFROM a`\n b\nHEALTHCHECK CMD x\nLABEL a=b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Decode("Dockerfile", text)
		if err != nil {
			return
		}
		for stage, v := range d.Root["command"].(map[string]any) {
			if got, want := len(d.Lines.Fields["command"].Fields[stage].Items), len(v.([]any)); got != want {
				t.Fatalf("stage %q has %d commands and %d places", stage, want, got)
			}
		}
	})
}
