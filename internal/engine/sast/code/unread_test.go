package code

import (
	"strings"
	"testing"

	"merlon/internal/scan"
)

func TestUnreadLanguages(t *testing.T) {
	file := func(path string, size int64) scan.File { return scan.File{Path: path, Size: size} }
	for name, c := range map[string]struct {
		files []scan.File
		want  []string // code, path, and a part of the message
	}{
		"all is read": {[]scan.File{file("main.go", 100), file("app.vue", 100), file("README.md", 1000),
			file("data.json", 5000)}, nil},
		"half is not": {[]scan.File{file("main.go", 100), file("a.swift", 25), file("b.swift", 75),
			file("big.json", 5000)},
			[]string{"unread-language b.swift 2 files, 50.0 %"}},
		"several": {[]scan.File{file("a.lua", 1), file("b.dart", 2), file("c.py", 9997)},
			[]string{"unread-language b.dart 1 file, less than 0.1 %", "unread-language a.lua 1 file, less " +
				"than 0.1 %"}},
		"code of others":  {[]scan.File{file("main.go", 100), file("node_modules/a/b.swift", 100)}, nil},
		"an empty file":   {[]scan.File{file("main.go", 100), file("a.swift", 0)}, nil},
		"nothing is read": {[]scan.File{file("a.PS1", 10)}, []string{"unread-language a.PS1 1 file, 100.0 %"}},
	} {
		var got []string
		p := &scan.ProjectPass{Files: c.files}
		p.Degrade = func(r scan.Reason) { got = append(got, r.Code+" "+r.Path+" "+r.Message) }
		reportUnread(p)
		if len(got) != len(c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
			continue
		}
		for i, w := range c.want {
			code, rest, _ := strings.Cut(w, " ")
			path, share, _ := strings.Cut(rest, " ")
			if !strings.HasPrefix(got[i], code+" "+path+" ") ||
				!strings.Contains(got[i], share+" of the program code") {
				t.Errorf("%s: got %q, want %q", name, got[i], w)
			}
		}
	}
}
