package code

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/scan"
)

// This file states how much of a program is in languages that no analyzer reads. An
// analysis that passed over a part of the program is not complete.

// unreadLanguages names the programming languages that this build does not read, by file
// extension. Data, documentation, style sheets, build files and queries are not listed:
// they are no part of what runs.
var unreadLanguages = map[string]string{
	".abap": "ABAP", ".ada": "Ada", ".adb": "Ada", ".ads": "Ada", ".as": "ActionScript", ".asp": "ASP",
	".ascx": "ASP.NET", ".aspx": "ASP.NET", ".asmx": "ASP.NET",
	".bas": "Visual Basic", ".cbl": "COBOL", ".cob": "COBOL", ".cfc": "ColdFusion", ".cfm": "ColdFusion",
	".cls": "Apex or Visual Basic",
	".clj": "Clojure", ".cljc": "Clojure", ".cljs": "Clojure", ".coffee": "CoffeeScript", ".cr": "Crystal",
	".cshtml": "Razor", ".razor": "Razor", ".cu": "CUDA",
	".dart": "Dart", ".elm": "Elm", ".erl": "Erlang", ".ex": "Elixir", ".exs": "Elixir", ".eex": "Elixir templates",
	".heex": "Elixir templates",
	".f90":  "Fortran", ".f95": "Fortran", ".fs": "F#", ".fsx": "F#", ".gjs": "Ember components",
	".gts": "Ember components", ".groovy": "Groovy", ".gsp": "Groovy templates",
	".hack": "Hack", ".hs": "Haskell", ".hx": "Haxe", ".ipynb": "Jupyter notebooks", ".jl": "Julia", ".lua": "Lua",
	".m": "Objective-C or MATLAB", ".mm": "Objective-C",
	".marko": "Marko components", ".ml": "OCaml", ".nim": "Nim", ".pas": "Pascal", ".pl": "Perl", ".pm": "Perl",
	".psgi": "Perl", ".ps1": "PowerShell", ".psm1": "PowerShell",
	".purs": "PureScript", ".r": "R", ".re": "ReScript", ".res": "ReScript", ".rkt": "Racket",
	".riot": "Riot components", ".scm": "Scheme", ".sol": "Solidity",
	".swift": "Swift", ".tcl": "Tcl", ".trigger": "Apex", ".vala": "Vala", ".vb": "Visual Basic", ".vbs": "VBScript",
	".vy": "Vyper", ".zig": "Zig",
}

// isProgram reports whether the build reads the file as program code. Settings and
// mark-up are none: the share of the program is not measured by them.
func isProgram(name string) bool {
	l := all.ForFile(name)
	if l == nil {
		return false
	}
	switch l.Name {
	case "html", "json", "yaml", "xml", "hcl", "dockerfile":
		return false
	}
	return true
}

// An unread is the files of one language that nobody reads.
type unread struct {
	files int
	bytes int64
	first string // path of the largest file
	most  int64  // bytes of it
}

// reportUnread degrades the analyzer for each language of the program that is not read,
// with its share of the code. Code of others counts for neither.
func reportUnread(p *scan.ProjectPass) {
	found := map[string]*unread{}
	var total int64
	for _, f := range p.Files {
		language := unreadLanguages[strings.ToLower(path.Ext(f.Path))]
		if language == "" && !isProgram(f.Path) || f.Size == 0 || lang.ThirdParty(f.Path) != "" {
			continue
		}
		total += f.Size
		if language == "" {
			continue
		}
		u := found[language]
		if u == nil {
			u = &unread{}
			found[language] = u
		}
		u.files++
		u.bytes += f.Size
		if f.Size > u.most {
			u.first, u.most = f.Path, f.Size
		}
	}
	names := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(found[b].bytes, found[a].bytes), cmp.Compare(a, b))
	})
	for _, name := range names {
		u := found[name]
		p.Degrade(scan.Reason{Code: "unread-language", Path: u.first, Message: fmt.Sprintf(
			"no analyzer reads %s: %s, %s of the program code (%d bytes), such as this one", name, count(u.files),
			percent(u.bytes, total), u.bytes)})
	}
}

func count(files int) string {
	if files == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", files)
}

// percent returns a share in words; it is never said to be nothing.
func percent(part, whole int64) string {
	if tenths := part * 1000 / max(whole, 1); tenths > 0 {
		return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
	}
	return "less than 0.1 %"
}
