package credentials

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/betterleaks/betterleaks/config"
	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/secrets/pattern"
)

// Windows change nothing of what the rules find, in texts with secrets of many
// kinds and in texts full of the words that the rules look for.
func TestWindowsOfRules(t *testing.T) {
	cfg, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	var all, words strings.Builder
	err = filepath.WalkDir("testdata", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		all.Write(b)
		all.WriteString(strings.Repeat("\nlorem ipsum dolor sit amet, consetetur", 20) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for word := range cfg.Keywords {
		words.WriteString(word + "_key = \"" + strings.Repeat("a1B2", 9) + "\"\n")
	}
	texts := []string{all.String(), words.String(), "x" + strings.ReplaceAll(words.String(), "\n", " ") +
		strings.Repeat("é", 300)}
	narrowed := 0
	for id, rule := range cfg.Rules {
		if rule.Regex == nil {
			continue
		}
		plain, err := regexp.Compile(rule.Regex.String())
		if err != nil {
			t.Fatal(err)
		}
		windowed, err := pattern.Compile(rule.Regex.String())
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			want := plain.FindAllStringIndex(text, -1)
			if diff := cmp.Diff(want, windowed.FindAllStringIndex(text, -1)); diff != "" {
				t.Errorf("%s in text %d (-want +got):\n%s", id, i, diff)
			}
			narrowed += len(want)
		}
	}
	if narrowed == 0 {
		t.Error("no rule matches anything in the texts")
	}
}
