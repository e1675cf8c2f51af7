package reach_test

import (
	"testing"

	"merlon/internal/engine/sca/reach"
	"merlon/internal/finding"
)

func symbols(path string, names ...string) reach.Flaw {
	return reach.Flaw{Symbols: []finding.Symbols{{Path: path, Names: names}}}
}

const goMod = "-- go.mod --\nmodule example.org/shop\n\ngo 1.22\n"

// The ways in which programs come to a flawed function, as people write them.
var ways = []struct {
	name, code string
	pkg        finding.Package
	flaw       reach.Flaw
	want       finding.ReachVerdict
}{
	// JavaScript and TypeScript
	{"js: through a wrapper in another file", "-- lib/render.js --\nconst Handlebars = " +
		"require('handlebars');\nexports.render = function render(src, data) {\n  const tpl = " +
		"Handlebars.compile(src);\n  return tpl(data);\n};\n-- server.js --\nconst http = require('http');\nconst { " +
		"render } = require('./lib/render');\nhttp.createServer((req, res) => res.end(render(req.url, " +
		"{}))).listen(80);\n",
		direct("npm", "handlebars"), reach.FlawOf(nil, "Remote code execution when using `compile` on untrusted "+
			"templates"), finding.Reachable},
	{"ts: re-exported by a barrel", "-- src/lib/index.ts --\nexport { template } from 'lodash';\nexport * from " +
		"'./more';\n-- src/lib/more.ts --\nexport const one = 1;\n-- src/main.ts --\nimport { template } from " +
		"'./lib';\nexport function page(s: string) { return template(s)({}); }\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "Lodash _.template is vulnerable: `_.template()`"),
		finding.Reachable},
	{"ts: a namespace re-exported under a name", "-- src/util.ts --\nexport * as _ from 'lodash';\n-- src/main.ts " +
		"--\nimport { _ } from './util';\nconsole.log(_.template(process.argv[2])());\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "`template`"), finding.Reachable},
	{"ts: namespace import", "-- src/main.ts --\nimport * as yaml from 'js-yaml';\nimport { readFileSync } from " +
		"'fs';\nexport const config = yaml.load(readFileSync(process.argv[2], 'utf8'));\n",
		direct("npm", "js-yaml"), reach.FlawOf(nil, "the `load()` function runs code"), finding.Reachable},
	{"js: default import of a module that is a function", "-- a.mjs --\nimport minimist from 'minimist';\nconst argv " +
		"= minimist(process.argv.slice(2));\nconsole.log(argv);\n",
		direct("npm", "minimist"), reach.FlawOf(nil, "Prototype pollution in `minimist()`"), finding.Reachable},
	{"js: lazy require inside of a function", "-- index.js --\nmodule.exports.unpack = async (file, dir) => {\n  " +
		"const tar = require('tar');\n  await tar.extract({ file, cwd: dir });\n};\n",
		direct("npm", "tar"), reach.FlawOf(nil, "`tar.extract` follows links"), finding.Reachable},
	{"js: dynamic import", "-- index.mjs --\nexport async function unpack(file) {\n  const { extract } = await " +
		"import('tar');\n  return extract({ file });\n}\n",
		direct("npm", "tar"), reach.FlawOf(nil, "`tar.extract` follows links"), finding.Reachable},
	{"js: dynamic import with then", "-- index.mjs --\nimport('tar').then(tar => tar.extract({ file: " +
		"process.argv[2] }));\n",
		direct("npm", "tar"), reach.FlawOf(nil, "`tar.extract` follows links"), finding.Reachable},
	{"js: a destructured require with another name", "-- index.js --\nconst { verify: check } = " +
		"require('jsonwebtoken');\nmodule.exports = (req, res, next) => { req.user = " +
		"check(req.headers.authorization, process.env.KEY); next(); };\n",
		direct("npm", "jsonwebtoken"), reach.FlawOf(nil, "`jwt.verify` accepts any key"), finding.Reachable},
	{"js: an alias of the function", "-- index.js --\nconst serialize = require('node-serialize');\nconst read = " +
		"serialize.unserialize;\nrequire('http').createServer((q, s) => s.end(String(read(q.url)))).listen(1);\n",
		direct("npm", "node-serialize"), reach.FlawOf(nil, "`unserialize()` runs code"), finding.Reachable},
	{"js: handed on as a callback", "-- index.js --\nconst marked = require('marked');\nmodule.exports = pages => " +
		"pages.map(marked.parse);\n",
		direct("npm", "marked"), reach.FlawOf(nil, "`parse` takes exponential time"), finding.Reachable},
	{"js: promisified", "-- index.js --\nconst { promisify } = require('util');\nconst xml2js = " +
		"require('xml2js');\nconst parse = promisify(xml2js.parseString);\nmodule.exports = s => parse(s);\n",
		direct("npm", "xml2js"), reach.FlawOf(nil, "`parseString` pollutes prototypes"), finding.Reachable},
	{"ts: a constructor and its method", "-- src/upload.ts --\nimport AdmZip from 'adm-zip';\nexport class Upload " +
		"{\n  private zip: AdmZip;\n  constructor(file: string) { this.zip = new AdmZip(file); }\n  save(dir: " +
		"string) { this.zip.extractAllTo(dir, true); }\n}\n",
		direct("npm", "adm-zip"), reach.FlawOf(nil, "`extractAllTo` leaves the folder"), finding.Reachable},
	{"ts: injected in a controller", "-- src/pdf.controller.ts --\nimport { Controller, Get, Query } from " +
		"'@nestjs/common';\nimport { JwtService } from '@nestjs/jwt';\n@Controller('pdf')\nexport class " +
		"PdfController {\n  constructor(private readonly jwt: JwtService) {}\n  @Get()\n  get(@Query('t') t: string) " +
		"{ return this.jwt.verify(t); }\n}\n",
		direct("npm", "@nestjs/jwt"), reach.FlawOf(nil, "`verify` accepts any key"), finding.Reachable},
	{"ts: only its types are imported", "-- src/a.ts --\nimport type { Options } from 'tar';\nexport function f(o: " +
		"Options) { return o; }\n",
		direct("npm", "tar"), reach.FlawOf(nil, "`tar.extract` follows links"), finding.Imported},
	{"js: only a test calls it", "-- a.js --\nmodule.exports = 1;\n-- test/a.test.js --\nconst _ = " +
		"require('lodash');\ntest('x', () => { _.template('x')(); });\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "`template`"), finding.Imported},
	{"js: require of a name from a list", "-- a.js --\nfor (const name of ['left-pad', 'other']) { " +
		"require(name)('x'); }\n",
		direct("npm", "left-pad"), reach.FlawOf(nil, "`leftPad`"), finding.UnknownReach},
	{"js: in a page of html", "-- public/index.html --\n<script " +
		"src=\"/node_modules/jquery/dist/jquery.js\"></script>\n-- a.js --\n$('#a').html(location.hash);\n",
		direct("npm", "jquery"), reach.FlawOf(nil, "`html()`"), finding.UnknownReach},
	{"js: a part of the package", "-- a.js --\nconst template = require('lodash/template');\nmodule.exports = s => " +
		"template(s)();\n",
		direct("npm", "lodash"), reach.FlawOf(nil, "`_.template`"), finding.Reachable},
	{"jsx: a component", "-- app.jsx --\nimport React from 'react';\nimport ReactMarkdown from " +
		"'react-markdown';\nexport default function App({ text }) { return <ReactMarkdown>{text}</ReactMarkdown>; }\n",
		direct("npm", "react-markdown"), reach.FlawOf(nil, "links of `ReactMarkdown` run scripts"), finding.Reachable},
	// Python
	{"py: from x import *", "-- app.py --\nfrom yaml import *\nimport sys\nprint(load(open(sys.argv[1])))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Reachable},
	{"py: a lazy import", "-- app.py --\ndef read(text):\n    import yaml\n    return yaml.load(text)\n\nif __name__ " +
		"== '__main__':\n    read('a')\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Reachable},
	{"py: importlib with a constant", "-- app.py --\nimport importlib\nyaml = " +
		"importlib.import_module('yaml')\nprint(yaml.load('a'))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Reachable},
	{"py: a helper of the package, re-exported", "-- shop/__init__.py --\nfrom .io import load_config\n-- shop/io.py " +
		"--\nfrom yaml import load as _load\ndef load_config(p):\n    with open(p) as f:\n        return " +
		"_load(f)\n-- run.py --\nimport shop\nshop.load_config('a')\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Reachable},
	{"py: tried with another one", "-- app.py --\ntry:\n    import simplejson as json\nexcept ImportError:\n    " +
		"import json\nprint(json.loads('1'))\n",
		direct("PyPI", "simplejson"), reach.FlawOf(nil, "`simplejson.loads` reads out of bounds"), finding.Reachable},
	{"py: a method in a class with an attribute", "-- app.py --\nimport paramiko\n\nclass Box:\n    def " +
		"__init__(self):\n        self.client = paramiko.SSHClient()\n    def run(self, host, cmd):\n        " +
		"self.client.connect(host)\n        return self.client.exec_command(cmd)\n\nBox().run('a', 'ls')\n",
		direct("PyPI", "paramiko"), reach.FlawOf(nil, "`SSHClient.connect` trusts any key"), finding.Reachable},
	{"py: a subclass that inherits", "-- app.py --\nfrom jinja2 import Environment\nclass Env(Environment):\n    " +
		"pass\nprint(Env().from_string('x').render())\n",
		direct("PyPI", "Jinja2"), reach.FlawOf(nil, "`Environment.from_string`"), finding.Reachable},
	{"py: a decorator of the package", "-- app.py --\nfrom flask import Flask\nfrom flask_cors import " +
		"cross_origin\napp = Flask(__name__)\n@app.route('/')\n@cross_origin()\ndef index():\n    return 'a'\n",
		direct("PyPI", "Flask-Cors"), reach.FlawOf(nil, "`cross_origin` allows all"), finding.Reachable},
	{"py: functools.partial", "-- app.py --\nfrom functools import partial\nimport yaml\nread = partial(yaml.load, " +
		"Loader=yaml.Loader)\nprint(read('a'))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Reachable},
	{"py: handed to map", "-- app.py --\nimport yaml, sys\nprint(list(map(yaml.load, sys.argv[1:])))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Reachable},
	{"py: only for types", "-- app.py --\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from yaml import " +
		"Node\ndef f(n: 'Node'):\n    return n\nprint(f(1))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Imported},
	{"py: a task that a scheduler runs", "-- tasks.py --\nfrom celery import shared_task\nfrom PIL import " +
		"Image\n\n@shared_task\ndef thumb(path):\n    _shrink(path)\n\ndef _shrink(path):\n    " +
		"Image.open(path).thumbnail((9, 9))\n",
		direct("PyPI", "Pillow"), reach.FlawOf(nil, "`Image.open()` reads out of bounds"), finding.Reachable},
	{"py: getattr with a constant", "-- app.py --\nimport yaml\nprint(getattr(yaml, 'load')('a'))\n",
		direct("PyPI", "PyYAML"), reach.FlawOf(nil, "`yaml.load()` runs code"), finding.Imported},
	{"py: settings of Django", "-- shop/settings.py --\nINSTALLED_APPS = ['django.contrib.auth', 'ckeditor']\n-- " +
		"shop/urls.py --\nfrom django.urls import path\nurlpatterns = []\n",
		direct("PyPI", "django-ckeditor"), reach.FlawOf(nil, "`upload`"), finding.UnknownReach},
	// Go
	{"go: through an interface", goMod + "-- main.go --\npackage main\n\nimport " +
		"(\n\t\"io\"\n\t\"os\"\n\n\t\"gopkg.in/yaml.v2\"\n)\n\ntype decoder interface{ Decode(v any) error }\n\nfunc " +
		"open(r io.Reader) decoder { return yaml.NewDecoder(r) }\n\nfunc main() {\n\tvar v any\n\tvar d decoder = " +
		"open(os.Stdin)\n\t_ = d.Decode(&v)\n}\n",
		direct("Go", "gopkg.in/yaml.v2"), symbols("gopkg.in/yaml.v2", "Decoder.Decode"), finding.Reachable},
	{"go: a function value", goMod + "-- main.go --\npackage main\n\nimport \"gopkg.in/yaml.v2\"\n\nvar parse = " +
		"yaml.Unmarshal\n\nfunc main() { var v any; _ = parse([]byte(\"a\"), &v) }\n",
		direct("Go", "gopkg.in/yaml.v2"), symbols("gopkg.in/yaml.v2", "Unmarshal"), finding.Reachable},
	{"go: generics", goMod + "-- main.go --\npackage main\n\nimport \"gopkg.in/yaml.v2\"\n\nfunc read[T any](b " +
		"[]byte) (T, error) {\n\tvar v T\n\terr := yaml.Unmarshal(b, &v)\n\treturn v, err\n}\n\nfunc main() { _, _ = " +
		"read[map[string]int](nil) }\n",
		direct("Go", "gopkg.in/yaml.v2"), symbols("gopkg.in/yaml.v2", "Unmarshal"), finding.Reachable},
	{"go: a method of an embedded type", goMod + "-- main.go --\npackage main\n\nimport " +
		"(\n\t\"net/http\"\n\n\t\"github.com/gorilla/websocket\"\n)\n\ntype conn struct{ *websocket.Conn }\n\nfunc " +
		"serve(w http.ResponseWriter, r *http.Request) {\n\tu := websocket.Upgrader{}\n\tc, err := u.Upgrade(w, r, " +
		"nil)\n\tif err != nil {\n\t\treturn\n\t}\n\tx := conn{c}\n\tx.ReadMessage()\n}\n\nfunc main() { " +
		"http.HandleFunc(\"/\", serve) }\n",
		direct("Go", "github.com/gorilla/websocket"), symbols("github.com/gorilla/websocket", "Conn.ReadMessage"),
		finding.Reachable},
	{"go: a goroutine with a closure", goMod + "-- main.go --\npackage main\n\nimport jwt " +
		"\"github.com/dgrijalva/jwt-go\"\n\nfunc main() {\n\tdone := make(chan bool)\n\tgo func() {\n\t\tdefer " +
		"close(done)\n\t\tjwt.Parse(\"a\", nil)\n\t}()\n\t<-done\n}\n",
		direct("Go", "github.com/dgrijalva/jwt-go"), symbols("github.com/dgrijalva/jwt-go", "Parse"),
		finding.Reachable},
	{"go: only for its effects", goMod + "-- main.go --\npackage main\n\nimport _ \"github.com/lib/pq\"\n\nfunc " +
		"main() {}\n",
		direct("Go", "github.com/lib/pq"), symbols("github.com/lib/pq", "conn.Query"), finding.Imported},
	{"go: a dot import", goMod + "-- main.go --\npackage main\n\nimport . \"gopkg.in/yaml.v2\"\n\nfunc main() { var " +
		"v any; Unmarshal(nil, &v) }\n",
		direct("Go", "gopkg.in/yaml.v2"), symbols("gopkg.in/yaml.v2", "Unmarshal"), finding.Reachable},
	{"go: a field with the type", goMod + "-- main.go --\npackage main\n\nimport \"golang.org/x/crypto/ssh\"\n\ntype " +
		"box struct{ cfg *ssh.ServerConfig }\n\nfunc (b *box) accept(n interface{}) { b.cfg.AddHostKey(nil); " +
		"ssh.NewServerConn(nil, b.cfg) }\n\nfunc main() { b := &box{cfg: &ssh.ServerConfig{}}; b.accept(nil) }\n",
		direct("Go", "golang.org/x/crypto"), symbols("golang.org/x/crypto/ssh", "ServerConfig.AddHostKey"),
		finding.Reachable},
	// Java
	{"java: a method reference", "-- src/main/java/a/A.java --\npackage a;\nimport java.util.*;\nimport " +
		"java.util.stream.*;\nimport com.alibaba.fastjson.JSON;\npublic class A {\n  public List<Object> " +
		"all(List<String> in) { return in.stream().map(JSON::parse).collect(Collectors.toList()); }\n}\n",
		direct("Maven", "com.alibaba:fastjson"), reach.FlawOf(nil, "`JSON.parse` makes any object"), finding.Reachable},
	{"java: injected by a constructor", "-- src/main/java/a/A.java --\npackage a;\nimport " +
		"com.fasterxml.jackson.databind.ObjectMapper;\nimport " +
		"org.springframework.stereotype.Service;\n@Service\nclass Reader {\n  private final ObjectMapper mapper;\n  " +
		"Reader(ObjectMapper mapper) { this.mapper = mapper; }\n  Object read(String s) throws Exception { return " +
		"mapper.readValue(s, Object.class); }\n}\n",
		direct("Maven", "com.fasterxml.jackson.core:jackson-databind"), reach.FlawOf(nil, "`ObjectMapper.readValue` "+
			"makes gadgets"), finding.Reachable},
	{"java: an inherited method", "-- src/main/java/a/Z.java --\npackage a;\nimport " +
		"com.thoughtworks.xstream.XStream;\npublic class Z extends XStream {\n  public Object open(String s) { " +
		"return fromXML(s); }\n}\n",
		direct("Maven", "com.thoughtworks.xstream:xstream"), reach.FlawOf(nil, "`XStream.fromXML` runs commands"),
		finding.Reachable},
	{"java: a static import", "-- src/main/java/a/A.java --\npackage a;\nimport static " +
		"org.apache.commons.text.StringEscapeUtils.unescapeHtml4;\npublic class A { public static void main(String[] " +
		"a) { System.out.println(unescapeHtml4(a[0])); } }\n",
		direct("Maven", "org.apache.commons:commons-text"), reach.FlawOf(nil, "`unescapeHtml4` does not end"),
		finding.Reachable},
	{"java: a full name without an import", "-- src/main/java/a/A.java --\npackage a;\npublic class A { public " +
		"Object r(String s) { return new org.yaml.snakeyaml.Yaml().load(s); } }\n",
		direct("Maven", "org.yaml:snakeyaml"), reach.FlawOf(nil, "`Yaml.load` makes any object"), finding.Reachable},
	{"java: an import of a whole package", "-- src/main/java/a/A.java --\npackage a;\nimport " +
		"org.yaml.snakeyaml.*;\npublic class A { public Object r(String s) { return new Yaml().load(s); } }\n",
		direct("Maven", "org.yaml:snakeyaml"), reach.FlawOf(nil, "`Yaml.load` makes any object"), finding.Reachable},
	{"java: a factory that is chained", "-- src/main/java/a/A.java --\npackage a;\nimport " +
		"org.apache.commons.text.StringSubstitutor;\npublic class A { public String r(String s) { return " +
		"StringSubstitutor.createInterpolator().replace(s); } }\n",
		direct("Maven", "org.apache.commons:commons-text"), reach.FlawOf(nil, "`StringSubstitutor.replace` runs "+
			"scripts"), finding.Reachable},
	{"java: var and a lambda", "-- src/main/java/a/A.java --\npackage a;\nimport " +
		"org.apache.velocity.app.VelocityEngine;\npublic class A { public Runnable r(String s) { var e = new " +
		"VelocityEngine(); return () -> e.evaluate(null, null, \"x\", s); } }\n",
		direct("Maven", "org.apache.velocity:velocity-engine-core"), reach.FlawOf(nil, "`VelocityEngine.evaluate` "+
			"runs code"), finding.Reachable},
	{"java: the method of an interface of ours", "-- src/main/java/a/Codec.java --\npackage a;\npublic interface " +
		"Codec { Object read(String s); }\n-- src/main/java/a/YamlCodec.java --\npackage a;\nimport " +
		"org.yaml.snakeyaml.Yaml;\nclass YamlCodec implements Codec { public Object read(String s) { return new " +
		"Yaml().load(s); } }\n-- src/main/java/a/Main.java --\npackage a;\npublic class Main { public static void " +
		"main(String[] x) { Codec c = new YamlCodec(); c.read(x[0]); } }\n",
		direct("Maven", "org.yaml:snakeyaml"), reach.FlawOf(nil, "`Yaml.load` makes any object"), finding.Reachable},
	{"java: by reflection", "-- src/main/java/a/A.java --\npackage a;\npublic class A { public Object r(String s) " +
		"throws Exception { return Class.forName(s).getDeclaredConstructor().newInstance(); } }\n",
		direct("Maven", "org.json:json"), reach.FlawOf(nil, "`JSONObject`"), finding.UnknownReach},
	{"java: by reflection with a constant", "-- src/main/java/a/A.java --\npackage a;\npublic class A { public " +
		"Object r() throws Exception { return Class.forName(\"org.json.JSONObject\").getDeclaredConstructor().newInstance(); } }\n",
		direct("Maven", "org.json:json"), reach.FlawOf(nil, "`JSONObject`"), finding.Imported},
	{"java: a constructor is the flaw", "-- src/main/java/a/A.java --\npackage a;\nimport " +
		"org.json.JSONObject;\npublic class A { public Object r(String s) { return new JSONObject(s); } }\n",
		direct("Maven", "org.json:json"), reach.FlawOf(nil, "the constructor of `JSONObject` does not end"),
		finding.Reachable},
}

func TestWays(t *testing.T) {
	for _, c := range ways {
		t.Run(c.name, func(t *testing.T) {
			packages := []finding.Package{c.pkg, direct("PyPI", "Flask"), direct("PyPI", "celery"),
				direct("PyPI", "Django"), direct("npm", "@nestjs/common"),
				direct("Maven", "org.springframework:spring-context")}
			got := program(t, c.code, packages...).Verdict(&c.pkg, c.flaw)
			if got.Verdict != c.want {
				t.Errorf("%s, %s; want %s", got.Verdict, got.Reason, c.want)
			}
		})
	}
}
