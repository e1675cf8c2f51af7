package analyzer

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

// unreadLanguages names the programming and template languages that this build does not
// read, by file extension. Data, documentation, style sheets, build files and queries are
// not listed: they are no part of what runs. Nor are extensions that mostly mean something
// else (.tpl and .tmpl are charts and configuration as often as pages).
var unreadLanguages = byExtension(map[string]string{
	"ABAP": ".abap", "Ada": ".ada .adb .ads", "ActionScript": ".as .mxml", "Apex": ".trigger .apxc",
	"Apex or Visual Basic": ".cls", "ASP": ".asp .asa", "ASP.NET": ".ascx .ashx .asmx .aspx .master",
	"Ballerina": ".bal", "CUDA": ".cu .cuh", "Clojure": ".clj .cljc .cljs", "COBOL": ".cbl .cob .cpy",
	"CoffeeScript": ".coffee .litcoffee", "ColdFusion": ".cfc .cfm", "Common Lisp": ".lisp .cl", "Crystal": ".cr",
	"Cython": ".pyx", "D": ".di", "Dart": ".dart", "Elixir": ".ex .exs", "Elixir templates": ".eex .heex .leex",
	"Elm": ".elm", "Ember components": ".gjs .gts", "Erlang": ".erl .hrl", "F#": ".fs .fsi .fsx",
	"Fortran": ".f90 .f95 .f03 .f08", "FreeMarker templates": ".ftl .ftlh", "GDScript": ".gd",
	"Gleam": ".gleam", "Go templates": ".gohtml .templ", "Groovy": ".groovy", "Groovy templates": ".gsp",
	"Hack": ".hack", "Haml templates": ".haml", "Haskell": ".hs .lhs", "Haxe": ".hx",
	"HTML applications": ".hta", "Jelly templates": ".jelly", "Julia": ".jl", "Jupyter notebooks": ".ipynb",
	"Latte templates": ".latte", "Liquid templates": ".liquid", "LiveScript": ".ls", "Lua": ".lua .luau",
	"Mako templates": ".mako", "Marko components": ".marko", "Mojo": ".mojo", "Move": ".move", "Nim": ".nim",
	"Objective-C": ".mm", "Objective-C or MATLAB": ".m", "OCaml": ".ml .mli", "Pascal": ".pas .dpr",
	"Perl": ".pl .pm .psgi", "PL/SQL": ".pkb .pks .plsql", "PowerShell": ".ps1 .psm1", "Prolog": ".pro",
	"PureScript": ".purs", "QML": ".qml", "R": ".r .rmd", "Racket": ".rkt", "Raku": ".raku .rakumod",
	"Razor": ".cshtml .razor .vbhtml", "ReScript": ".re .res", "Riot components": ".riot", "RPG": ".rpgle .sqlrpgle",
	"Scheme": ".scm", "Slim templates": ".slim", "Smarty templates": ".smarty", "Solidity": ".sol",
	"Swift": ".swift", "Tcl": ".tcl", "Vala": ".vala", "VBScript": ".vbs .wsf", "Velocity templates": ".vm",
	"Visual Basic": ".bas .frm .vb", "Volt templates": ".volt", "Vyper": ".vy", "XQuery": ".xq .xquery", "Zig": ".zig",
	"ZK pages": ".zul",
})

// byExtension turns languages with their extensions into extensions with their language. The table
// is written by language, which is easier to keep; scans look up extensions.
func byExtension(languages map[string]string) map[string]string {
	out := map[string]string{}
	for language, list := range languages {
		for ext := range strings.FieldsSeq(list) {
			out[ext] = language
		}
	}
	return out
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

// An unread is the files of one language that nobody reads. Its largest file is named as an
// example.
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
			"no analyzer reads %s: %s, %s of the program code (%d bytes), such as this one", name, countText(u.files),
			percentText(u.bytes, total), u.bytes)})
	}
}

// countText returns a number of files in words.
func countText(files int) string {
	if files == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", files)
}

// percentText returns a share in words; it is never said to be nothing. Shares below one in a
// thousand still are a gap.
func percentText(part, whole int64) string {
	if tenths := part * 1000 / max(whole, 1); tenths > 0 {
		return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
	}
	return "less than 0.1 %"
}
