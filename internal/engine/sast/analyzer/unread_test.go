package analyzer

import (
	"strings"
	"testing"

	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/scan"
)

// An extension is read or unread, never both, and no part of a program goes by unseen.
func TestExtensionsOfPrograms(t *testing.T) {
	for ext, language := range unreadLanguages {
		if all.ForFile("a"+ext) != nil || isTemplate("a"+ext) {
			t.Errorf("%s is read and said to be %s, which is not", ext, language)
		}
	}
	for _, ext := range strings.Fields(`.go .java .kt .kts .scala .groovy .clj .js .mjs .cjs .es6 .jsx .ts .mts .tsx
		.vue .svelte .astro .marko .coffee .py .pyw .wsgi .pyx .rb .rake .jbuilder .php .phtml .inc .ctp .module .cs
		.vb .fs .cshtml .razor .vbhtml .aspx .ascx .ashx .asp .c .h .cc .cpp .m .mm .swift .rs .dart .lua .pl .pm
		.ex .exs .erl .hs .ml .jl .r .sh .ps1 .sol .cfm .jsp .jspf .jspx .tag .erb .rhtml .haml .slim .ejs .pug .hbs
		.twig .liquid .ftl .vm .njk .mustache .gohtml .templ .heex .latte .mako .html .plsql .cbl .abap`) {
		if all.ForFile("a"+ext) == nil && !isTemplate("a"+ext) && unreadLanguages[ext] == "" {
			t.Errorf("%s is neither read nor said to be unread", ext)
		}
	}
}

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
