package reach_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/engine/sca/reach"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// program reads files that are written as "-- name --" and their text.
func program(t *testing.T, text string, packages ...finding.Package) *reach.Program {
	t.Helper()
	tree := fstest.MapFS{}
	for part := range strings.SplitSeq(text, "-- ") {
		if name, body, ok := strings.Cut(part, " --\n"); ok {
			tree[name] = &fstest.MapFile{Data: []byte(body)}
		}
	}
	in := reach.Tree{Context: t.Context(), FS: tree, Workers: 2, Packages: packages}
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			in.Files = append(in.Files, scan.File{Path: path, Size: int64(len(tree[path].Data))})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, p := range packages {
		asked = append(asked, p.Ecosystem)
	}
	p, err := reach.Read(in, asked)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func direct(ecosystem, name string) finding.Package {
	return finding.Package{Ecosystem: ecosystem, Name: name, Version: "1.0.0", Scope: finding.Direct}
}

// The cases of each language: called, imported but not called, not used.
var cases = []struct {
	name, code string
	pkg        finding.Package
	flaw       reach.Flaw
	want       finding.ReachVerdict
}{
	// JavaScript and TypeScript
	{"js: called through require", "-- a.js --\nconst _ = require('lodash')\nmodule.exports = (t) => _.template(t)()\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "Command injection in `template`"), finding.Reachable},
	{"js: called by a name of its own", "-- a.js --\nimport { template as t } from " +
		"'lodash'\nconsole.log(t(process.argv[2]))\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "injection through template()"), finding.Reachable},
	{"js: another function is called", "-- a.js --\nimport { map } from 'lodash'\nmap([], x => x)\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "injection through template()"), finding.Imported},
	{"js: called where nothing runs", "-- a.js --\nconst _ = require('lodash')\nfunction never(t) { return " +
		"_.template(t) }\nconsole.log(_.VERSION)\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "`_.template`"), finding.Imported},
	{"js: not used", "-- a.js --\nconst fs = require('fs')\nfs.readFileSync('lodash.txt')\n",
		direct("npm", "left-pad"), reach.Flaw{}, finding.NotFound},
	{"js: a name that begins the same", "-- a.js --\nimport x from 'lodash-es'\nx.map([])\n",
		direct("npm", "lodash"), reach.Flaw{}, finding.NotFound},
	{"ts: a part of a package of a scope", "-- a.ts --\nimport { parse } from '@acme/xml/reader'\nexport function " +
		"go(s: string) { return parse(s) }\n",
		direct("npm", "@acme/xml"), reach.FlawOf(nil, "`parse` does not end"), finding.Reachable},
	{"js: required by a computed name", "-- a.js --\nconst plugin = require(process.env.PLUGIN)\nplugin()\n",
		direct("npm", "left-pad"), reach.Flaw{}, finding.UnknownReach},
	{"js: named in settings", "-- a.js --\nconsole.log(1)\n-- .babelrc.json --\n{\"presets\": [\"left-pad\"]}\n",
		direct("npm", "left-pad"), reach.Flaw{}, finding.UnknownReach},
	// Python
	{"py: called", "-- app.py --\nimport yaml\ndef read(s):\n    return yaml.load(s)\nprint(read('a'))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load` runs code"), finding.Reachable},
	{"py: called in a handler", "-- app.py --\nfrom flask import Flask, request\nimport yaml as y\napp = " +
		"Flask('a')\n@app.route('/')\ndef index():\n    return y.load(request.data)\n",
		direct("PyPI", "pyyaml"), reach.FlawOf(nil, "yaml.load() runs code"), finding.Reachable},
	{"py: the safe function is called", "-- app.py --\nimport yaml\nprint(yaml.safe_load('a'))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load` runs code"), finding.Imported},
	{"py: called where nothing runs", "-- app.py --\nimport yaml\ndef _never(s):\n    return yaml.load(s)\nprint(1)\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load` runs code"), finding.Imported},
	{"py: not used", "-- app.py --\nimport os, requests\nprint(os.name, requests)\n",
		direct("PyPI", "PyYAML"), reach.Flaw{}, finding.NotFound},
	{"py: a method of an object", "-- app.py --\nfrom jinja2 import Environment\nenv = " +
		"Environment()\nprint(env.from_string('x').render())\n",
		direct("PyPI", "Jinja2"), reach.FlawOf(nil, "escape through `Environment.from_string`"), finding.Reachable},
	{"py: imported by a computed name", "-- app.py --\nimport importlib, sys\nimportlib.import_module(sys.argv[1])\n",
		direct("PyPI", "PyYAML"), reach.Flaw{}, finding.UnknownReach},
	{"py: names not known, and an import of nobody", "-- app.py --\nimport strange\nprint(strange)\n",
		direct("PyPI", "acme-things"), reach.Flaw{}, finding.UnknownReach},
	// Go
	{"go: called", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nimport " +
		"\"gopkg.in/yaml.v2\"\nfunc main() { var v any; yaml.Unmarshal(nil, &v) }\n",
		direct("Go", "gopkg.in/yaml.v2"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "gopkg.in/yaml.v2",
			Names: []string{"Unmarshal", "Decoder.Decode"}}}}, finding.Reachable},
	{"go: a method is called, in another package", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage " +
		"main\nimport \"example.org/app/in\"\nfunc main() { in.Read() }\n-- in/in.go --\npackage in\nimport y " +
		"\"gopkg.in/yaml.v2\"\nfunc Read() { d := y.NewDecoder(nil); d.Decode(nil) }\n",
		direct("Go", "gopkg.in/yaml.v2"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "gopkg.in/yaml.v2", Names: []string{"NewDecoder"}}}},
		finding.Reachable},
	{"go: another function", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nimport " +
		"\"gopkg.in/yaml.v2\"\nfunc main() { yaml.Marshal(nil) }\n",
		direct("Go", "gopkg.in/yaml.v2"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "gopkg.in/yaml.v2", Names: []string{"Unmarshal"}}}},
		finding.Imported},
	{"go: called where nothing runs", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nimport " +
		"\"gopkg.in/yaml.v2\"\nfunc main() { yaml.Marshal(nil) }\nfunc never() { yaml.Unmarshal(nil, nil) }\n",
		direct("Go", "gopkg.in/yaml.v2"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "gopkg.in/yaml.v2", Names: []string{"Unmarshal"}}}},
		finding.Imported},
	{"go: not used", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nimport \"fmt\"\nfunc main() " +
		"{ fmt.Println() }\n",
		direct("Go", "gopkg.in/yaml.v2"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "gopkg.in/yaml.v2", Names: []string{"Unmarshal"}}}},
		finding.NotFound},
	{"go: another package of the module", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nimport " +
		"\"golang.org/x/net/idna\"\nfunc main() { idna.ToASCII(\"\") }\n",
		direct("Go", "golang.org/x/net"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "golang.org/x/net/html", Names: []string{"Parse"}}}},
		finding.UnknownReach},
	{"go: a callback", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nimport " +
		"(\n\"net/http\"\n\"golang.org/x/net/html\"\n)\nfunc main() { http.HandleFunc(\"/\", page) }\nfunc page(w " +
		"http.ResponseWriter, r *http.Request) { html.Parse(r.Body) }\n",
		direct("Go", "golang.org/x/net"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "golang.org/x/net/html", Names: []string{"Parse"}}}},
		finding.Reachable},
	{"go: the standard library", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nimport " +
		"\"archive/zip\"\nfunc main() { zip.OpenReader(\"a\") }\n",
		direct("Go", "stdlib"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "archive/zip", Names: []string{"OpenReader"}}}},
		finding.Reachable},
	{"go: the standard library, in a dependency perhaps", "-- go.mod --\nmodule example.org/app\n-- main.go " +
		"--\npackage main\nfunc main() {}\n",
		direct("Go", "stdlib"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "archive/zip", Names: []string{"OpenReader"}}}},
		finding.UnknownReach},
	// Java
	{"java: called on an object", "-- A.java --\npackage a;\nimport org.yaml.snakeyaml.Yaml;\npublic class A { " +
		"public Object read(String s) { Yaml y = new Yaml(); return y.load(s); } }\n",
		direct("Maven", "org.yaml:snakeyaml"), reach.FlawOf(nil, "`Yaml.load` makes any object"), finding.Reachable},
	{"java: a static method", "-- A.java --\npackage a;\nimport org.apache.commons.io.FileNameUtils;\nimport " +
		"org.apache.commons.io.FilenameUtils;\npublic class A { public static void main(String[] s) { " +
		"FilenameUtils.normalize(s[0]); } }\n",
		direct("Maven", "commons-io:commons-io"), reach.FlawOf(nil, "FileNameUtils.normalize() lets paths leave"),
		finding.Reachable},
	{"java: another method", "-- A.java --\npackage a;\nimport org.yaml.snakeyaml.Yaml;\npublic class A { public " +
		"Object write(Object o) { return new Yaml().dump(o); } }\n",
		direct("Maven", "org.yaml:snakeyaml"), reach.FlawOf(nil, "`Yaml.load` makes any object"), finding.Imported},
	{"java: private and never called", "-- A.java --\npackage a;\nimport com.thoughtworks.xstream.XStream;\npublic " +
		"class A { private Object never(String s) { return new XStream().fromXML(s); } }\n",
		direct("Maven", "com.thoughtworks.xstream:xstream"), reach.FlawOf(nil, "`fromXML` makes any object"),
		finding.Imported},
	{"java: not used", "-- A.java --\npackage a;\nimport java.util.List;\npublic class A { List<String> l; }\n",
		direct("Maven", "org.json:json"), reach.Flaw{}, finding.NotFound},
	{"java: used without an import", "-- A.java --\npackage a;\nimport org.slf4j.Logger;\npublic class A { " +
		"Logger l; }\n",
		direct("Maven", "org.apache.logging.log4j:log4j-core"), reach.Flaw{}, finding.UnknownReach},
	{"java: names not known, and an import of nobody", "-- A.java --\npackage a;\nimport com.strange.Thing;\npublic " +
		"class A { Thing t; }\n",
		direct("Maven", "org.acme:things"), reach.Flaw{}, finding.UnknownReach},
	{"py: a pin of what another package brings", "-- app.py --\nfrom flask import Flask\nprint(Flask)\n",
		direct("PyPI", "Werkzeug"), reach.Flaw{}, finding.UnknownReach},
	{"go: called by a test only", "-- go.mod --\nmodule example.org/app\n-- main.go --\npackage main\nfunc main() " +
		"{}\n-- main_test.go --\npackage main\nimport (\n\"testing\"\n\"gopkg.in/yaml.v2\"\n)\nfunc TestX(t " +
		"*testing.T) { yaml.Unmarshal(nil, nil) }\n",
		direct("Go", "gopkg.in/yaml.v2"),
		reach.Flaw{Symbols: []finding.Symbols{{Path: "gopkg.in/yaml.v2", Names: []string{"Unmarshal"}}}},
		finding.Imported},
	// what others brought in
	{"js: inherited", "-- a.js --\nimport express from 'express'\nexpress()\n",
		finding.Package{Ecosystem: "npm", Name: "qs", Version: "6.0.0", Scope: finding.Transitive,
			Via: []string{"express@4.0.0", "body-parser@1.0.0"}}, reach.Flaw{}, finding.Imported},
	{"js: brought in by what is not imported", "-- a.js --\nconsole.log(1)\n",
		finding.Package{Ecosystem: "npm", Name: "qs", Version: "6.0.0", Scope: finding.Transitive,
			Via: []string{"express@4.0.0"}}, reach.Flaw{}, finding.UnknownReach},
}

func TestVerdicts(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			packages := []finding.Package{c.pkg, direct("PyPI", "requests"), direct("PyPI", "Flask"),
				direct("Maven", "org.slf4j:slf4j-api")}
			got := program(t, c.code, packages...).Verdict(&c.pkg, c.flaw)
			if got.Verdict != c.want {
				t.Errorf("%s, %s; want %s", got.Verdict, got.Reason, c.want)
			}
			if got.Reason == "" || (got.Verdict == finding.Reachable) != (len(got.Steps) > 0 &&
				got.Steps[len(got.Steps)-1].Kind == finding.Sink) {
				t.Errorf("evidence: %+v", got)
			}
		})
	}
}

// The evidence leads from code that runs by itself to the call.
func TestSteps(t *testing.T) {
	pkg := direct("PyPI", "PyYAML")
	p := program(t, "-- app.py --\nfrom lib import read\nprint(read('a'))\n-- lib.py --\nimport yaml\ndef read(s):\n "+
		"   return inner(s)\ndef inner(s):\n    return yaml.load(s)\n", pkg)
	var got []string
	for _, s := range p.Verdict(&pkg, reach.FlawOf(nil, "`load`")).Steps {
		got = append(got, fmt.Sprintf("%s %s:%d %s", s.Kind, s.Location.Path, s.Location.StartLine, s.Message))
	}
	want := "source app.py:1 code of the file; intermediate lib.py:2 lib.read; intermediate lib.py:4 lib.inner; sink " +
		"lib.py:5 calls yaml.load"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestNothingToRead(t *testing.T) {
	pkg := direct("npm", "lodash")
	if got := program(t, "-- README.md --\nhello\n", pkg).Verdict(&pkg,
		reach.Flaw{}); got.Verdict != finding.UnknownReach {
		t.Errorf("without sources: %+v", got)
	}
	gem := direct("RubyGems", "rails")
	if got := program(t, "-- a.rb --\nrequire 'rails'\n", gem).Verdict(&gem,
		reach.Flaw{}); got.Verdict != finding.UnknownReach || reach.Supported("RubyGems") {
		t.Errorf("of a language that is not read: %+v", got)
	}
	bad := program(t, "-- a.js --\n"+strings.Repeat("x", 2<<20)+"\n", pkg)
	if got := bad.Verdict(&pkg, reach.Flaw{}); got.Verdict != finding.UnknownReach ||
		!strings.Contains(got.Reason, "a.js") {
		t.Errorf("with a file that cannot be read: %+v", got)
	}
}
