package buildah

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

func TestDecode(t *testing.T) {
	d, err := Decode("build.sh", []byte(`#!/bin/sh
# buildah run nothing here
ctr=$(buildah from "fedora")
if true; then
  buildah run ${ctr} -- apt \
    install  -y 'a b'; buildah config --env A=1 $ctr
fi
echo "$(buildah from alpine:3)" | cat
buildah run $c (x)
`))
	if err != nil {
		t.Fatal(err)
	}
	// Words keep their quotes and stand one space apart.
	line := func(cmd, value string, first, last int64) map[string]any {
		return map[string]any{"Cmd": cmd, "Value": value, "Original": cmd + " " + value, "_kics_line": first,
			"EndLine": last}
	}
	want := map[string]any{"command": map[string]any{
		`"fedora"`: []any{
			line("buildah from", `"fedora"`, 3, 3),
			line("buildah run", "${ctr} -- apt install -y 'a b'", 5, 6),
			line("buildah config", "--env A=1 $ctr", 6, 6),
		},
		"alpine:3": []any{line("buildah from", "alpine:3", 8, 8), line("buildah run", "$c", 9, 9)},
	}}
	if diff := cmp.Diff(want, d.Root); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if n, steps := d.Lines.Find("command", `"fedora"`, "1", "Original"); n.Line != 5 || steps != 4 {
		t.Errorf("the command is at line %d after %d steps", n.Line, steps)
	}
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"echo hello\n", "buildah run x y\n", "echo buildah from x\n"} {
		if d, err := Decode("x.sh", []byte(text)); d != nil || err != nil {
			t.Errorf("%q: document %v, error %v", text, d, err)
		}
	}
	if _, err := Decode("x.sh", []byte("buildah "+strings.Repeat("#", MaxSize))); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("error %v, want too large", err)
	}
	if !Match("a/b.sh") || Match("b.py") {
		t.Error("Match")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("c=$(buildah from x)\nbuildah run \"$c\" -- 'y' \\\n z # w\n")
	f.Add(strings.Repeat("buildah $(", 100) + strings.Repeat(")", 200))
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Decode("x.sh", []byte(text))
		if err != nil || d == nil {
			return
		}
		for stage, v := range d.Root["command"].(map[string]any) {
			if got, want := len(d.Lines.Fields["command"].Fields[stage].Items), len(v.([]any)); got != want {
				t.Fatalf("stage %q has %d commands and %d places", stage, want, got)
			}
		}
	})
}
