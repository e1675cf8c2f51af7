package credentials

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the generic rule finds in the excerpt is what it finds in the text.
func TestNarrowFindsTheSame(t *testing.T) {
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"long lower case": "İ api_key = 'q8Zt2LmX9vRw4Kp'\n"}
	err = filepath.WalkDir("testdata", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(at)
		texts[at] = strings.ReplaceAll(string(b), "{-}", "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(40) {
		texts[fmt.Sprint("seed ", seed)] = assemble(rand.New(rand.NewPCG(seed, 0)))
	}
	total := 0
	for name, text := range texts {
		want := applyRules(context.Background(), e.generic, "x.py", wholeExcerpt(text))
		got := applyRules(context.Background(), e.generic, "x.py", assignmentLines(text))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(secret{}, span{})); diff != "" {
			t.Errorf("%s (-whole +excerpt):\n%s\n%s", name, diff, text)
		}
		total += len(got)
	}
	if total < 40 {
		t.Errorf("%d secrets are found in all texts, too few to show anything", total)
	}
}

// assemble makes a text of lines that are nearly or wholly assignments of secrets.
func assemble(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	for range 60 {
		value := ""
		for range 8 + r.IntN(30) {
			value += string("abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[r.IntN(54)])
		}
		b.WriteString(pick("", "  ", "x.", "my_", "# the "))
		b.WriteString(pick("API_KEY", "password", "secret", "accessToken", "name", "monkey", "Authorization",
			"credentials"))
		b.WriteString(pick("", "_of_the_main_server", "-1", " "+strings.Repeat("y", 19)))
		b.WriteString(pick(" = ", "=", ": ", " => ", ":\n  ", "\n = \n\n", ", ", " ", "' : '", "=\n\n\n"))
		b.WriteString(pick("'"+value+"'", value, `"`+value+`"`, "None", value+";", "f("+value+")"))
		b.WriteString(pick("\n", "\r\n", "\n\n"))
	}
	return b.String()
}

func TestStorageKey(t *testing.T) {
	run := strings.Repeat("Ab3+", 21)
	for text, want := range map[string]bool{
		run + "xy==": true, "k = \"" + run + "xy==\"": true, run + "x==": false, "a == b": false, "": false,
		"==":                  false,
		"x ==" + run + "xy==": true, run + " xy==": false,
	} {
		if got := hasStorageKey(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
