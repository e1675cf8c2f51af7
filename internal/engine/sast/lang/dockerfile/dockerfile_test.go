package dockerfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/lang/langtest"
)

func TestTrees(t *testing.T) { langtest.Trees(t, Language) }

func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }

func TestCorpus(t *testing.T) { langtest.Corpus(t, Language) }

func TestSplit(t *testing.T) {
	source := "# escape=\\\n\nRUN a \\ \n  # c\n\n  b\n# d\nCOPY <<E <<\"F\" /x\n1\nE\n2\nF\nUSER u \\"
	instructions, masked := splitInstructions(source)
	if len(masked) != len(source) {
		t.Fatalf("the masked text has %d bytes, the source %d", len(masked), len(source))
	}
	var got []string
	for _, in := range instructions {
		got = append(got, masked[in.start:in.end])
		for _, d := range in.docs {
			got = append(got, masked[d.start:d.end])
		}
	}
	want := []string{"RUN a             b", "COPY <<E <<\"F\" /x", "1\n", "2\n", "USER u"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// A list is an exec form only when it is JSON, as the build decides.
func TestElement(t *testing.T) {
	for text, want := range map[string]uint32{
		`"a"`: 3, `"a\"b", `: 6, `"\u00e9"`: 8, `"\x41"`: 0, `"\u00"`: 0, `a`: 0, ``: 0, `"a`: 0, `42`: 0,
		`qzellipsis, x`: 10,
	} {
		if got := jsonTokenLength(text); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// seeds are sources for the fuzzer and for the hostile forms.
var seeds = []string{
	"# escape=`\nFROM --platform=a b:${C}@d AS e\nRUN f `\n # g\n h | i\nCMD [\"j\", \"k\"]\n",
	"RUN <<E && cat <<-'F'\na $b\nE\n\tc\nF\nENV a=b c=\"d $e\"\nENV f g h\nARG i=1 j\n",
	"ONBUILD HEALTHCHECK --interval=1s CMD a\nADD --chown=b [\"c\", \"d\"]\nVOLUME e\nEXPOSE 1/udp\n",
}

func TestHostile(t *testing.T) {
	langtest.Hostile(t, Language, append(seeds, "ONBUILD ONBUILD ONBUILD ")...)
}

func FuzzLower(f *testing.F) {
	langtest.Fuzz(f, Language, append(seeds, "RUN ... | ...", "CMD [..., $X]")...)
}
