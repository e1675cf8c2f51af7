package lock

import "testing"

func TestPaket(t *testing.T) {
	text := "STRATEGY: MIN\nNUGET\n  remote: https://www.nuget.org/api/v2\n    FSharp.Core (4.7)\n    Fake.Core " +
		"(5.20.4) - restriction: >= net45\n      FSharp.Core (>= 4.7)\n    Broken\nGITHUB\n  remote: fsharp/FAKE\n   " +
		" src/Globbing.fs (a1b2)\n      FSharp.Core (>= 4.7)\n\nGROUP Test\nNUGET\n  remote: " +
		"https://www.nuget.org/api/v2\n    FSharp.Core (5.0)\n    xunit (2.4.1)\n      fsharp.core (>= 4.7)\n"
	tree := files{"x/paket.lock": text}
	check(t, "x/paket.lock", tree, "4 FSharp.Core@4.7", "5 Fake.Core@5.20.4", "16 FSharp.Core@5.0", "17 xunit@2.4.1")
	tree["x/paket.dependencies"] = "source https://nuget.org/api/v2\nnuget fake.core ~> 5\ngithub fsharp/FAKE " +
		"src/Globbing.fs\ngroup Test\n  nuget xunit\n"
	in := " direct in x/paket.dependencies"
	check(t, "x/paket.lock", tree, "4 FSharp.Core@4.7 transitive via Fake.Core@5.20.4", "5 Fake.Core@5.20.4"+in,
		"16 FSharp.Core@5.0 transitive via xunit@2.4.1", "17 xunit@2.4.1"+in)
	g, err := Read(File{Path: "paket.lock", Content: []byte(text), Read: func(string) []byte { return nil }})
	if err != nil || len(g.Broken) != 1 || g.Broken[0] != 7 {
		t.Errorf("broken lines: %v, %v", g, err)
	}
}

func TestDepsJSON(t *testing.T) {
	check(t, "bin/app.deps.json", files{"bin/app.deps.json": `{
"runtimeTarget": {"name": ".NETCoreApp,Version=v8.0"},
"targets": {".NETCoreApp,Version=v8.0": {
  "app/1.0.0": {"dependencies": {"Serilog": "3.1.1"}, "runtime": {"app.dll": {}}},
  "Serilog/3.1.1": {"dependencies": {"System.Text.Json": "8.0.0"}},
  "System.Text.Json/8.0.0": {}}},
"libraries": {
"app/1.0.0": {"type": "project"},
"Serilog/3.1.1": {"type": "package"},
"System.Text.Json/8.0.0": {"type": "package"},
"Other.Reference/4.0.0.0": {"type": "referenceassembly"},
"runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/8.0.0": {"type": "runtimepack"}
}}`}, "9 Serilog@3.1.1 direct", "10 System.Text.Json@8.0.0 transitive via Serilog@3.1.1", "12 Microsoft.NETCore.App.Runtime.linux-x64@8.0.0 transitive")
}

func TestSwift(t *testing.T) {
	check(t, "Package.resolved", files{"Package.resolved": `{"object": {"pins": [
{"package": "Nimble", "repositoryURL": "https://github.com/Quick/Nimble.git", "state": {"branch": null, "version": "9.2.1"}},
{"package": "Own", "repositoryURL": "../Own", "state": {"version": "1.0.0"}}
]}, "version": 1}`}, "2 github.com/Quick/Nimble@9.2.1")
	check(t, "Package.resolved", files{"Package.swift": `.package(url: "https://github.com/apple/swift-nio", from: "2.0.0")`, "Package.resolved": `{"pins": [
{"identity": "swift-nio", "kind": "remoteSourceControl", "location": "git@github.com:apple/swift-nio.git", "state": {"version": "2.60.0"}},
{"identity": "tip", "kind": "remoteSourceControl", "location": "https://github.com/a/tip", "state": {"branch": "main", "revision": "abc"}},
{"identity": "mona.list", "kind": "registry", "location": "", "state": {"version": "1.0.0"}}
], "version": 3}`}, "2 github.com/apple/swift-nio@2.60.0 direct in Package.swift", "3 github.com/a/tip@ transitive", "4 mona.list@1.0.0 transitive")
}

// What a lock file says in part counts, and what it does not say is told.
func TestPartly(t *testing.T) {
	check(t, "mix.lock", files{"mix.lock": "%{\n  \"a\": {:hex, :a, \"1.0.0\", \"h\", [:mix], [], \"hexpm\"},\n  " +
		"\"b\": {:other, \"x\"},\n}\n"}, "2 a@1.0.0")
	check(t, "gradle.lockfile", files{"gradle.lockfile": "a:b:1.0=compileClasspath\nbroken\n"}, "1 a:b@1.0")
	if got, err := read("gradle.lockfile", files{"gradle.lockfile": "nothing of this\nis a package\n"}); err == nil {
		t.Errorf("a file without a package: %v", got)
	}
	check(t, "pnpm-lock.yaml", files{"pnpm-lock.yaml": "lockfileVersion: 5.4\ndependencies:\n  nanoid: 3.3.4\n  e: " +
		"1.0.0_f@2.0.0\n  l: link:../l\npackages:\n  registry.example.org/@foo/bar/1.1.0:\n    dev: false\n  " +
		"github.com/kevva/is-positive/97edff6f:\n    name: is-positive\n    version: 3.1.0\n  file:lib/lodash.tgz:\n " +
		"   name: lodash\n    version: 4.17.21\n  file:own:\n    resolution: {directory: own, type: directory}\n    " +
		"name: own\n    version: 1.0.0\n"},
		"7 @foo/bar@1.1.0 transitive", "9 is-positive@3.1.0 transitive", "12 lodash@4.17.21 transitive",
		"3 nanoid@3.3.4 direct in package.json", "4 e@1.0.0 direct in package.json")
	check(t, "pnpm-lock.yaml", files{"pnpm-lock.yaml": "---\nlockfileVersion: '9.0'\npackages:\n  pnpm@12.0.0: " +
		"{}\nsnapshots:\n  pnpm@12.0.0: {}\n---\nlockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      " +
		"a:\n        specifier: ^1\n        version: 1.2.0\npackages:\n  a@1.2.0: {}\nsnapshots:\n  a@1.2.0: {}\n"},
		"4 pnpm@12.0.0 transitive", "16 a@1.2.0 direct in package.json")
	check(t, "build.sbt.lock", files{"build.sbt": `libraryDependencies += "org.typelevel" %% "cats-core" % "2.9.0"`, "build.sbt.lock": `{"lockVersion": 1, "dependencies": [
{"org": "org.typelevel", "name": "cats-core_2.13", "version": "2.9.0", "configurations": ["compile", "test"]},
{"org": "org.scalatest", "name": "scalatest_2.13", "version": "3.2.15", "configurations": ["test"]}]}`},
		"2 org.typelevel:cats-core_2.13@2.9.0 direct in build.sbt", "3 org.scalatest:scalatest_2.13@3.2.15 "+
			"transitive dev")
	check(t, "bun.lock", files{"bun.lock": "{\"lockfileVersion\": 1, \"workspaces\": {\"\": {\"name\": \"own\", " +
		"\"dependencies\": {\"a\": \"1\"}}}, \"packages\": {\n\"own\": [\"own@root:\", {}],\n\"a\": [\"a@1.0.0\", " +
		"\"\", {}, \"sha512-x\"]}}"}, "3 a@1.0.0 direct in package.json")
}
