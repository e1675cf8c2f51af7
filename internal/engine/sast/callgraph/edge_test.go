package callgraph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/ir"
)

// TestEdges compares the calls of small programs, each of which shows one way in which a
// call finds its targets. A source is files behind lines "-- name --"; the expected text has
// a line for each call.
func TestEdges(t *testing.T) {
	for _, test := range slices.Concat(goEdges, javaEdges, pythonEdges, scriptEdges) {
		t.Run(test.name, func(t *testing.T) {
			var files []*ir.File
			for _, part := range strings.Split(test.source, "\n-- ")[1:] {
				name, text, _ := strings.Cut(part, " --\n")
				files = append(files, lower(t, name, text))
			}
			modules := []callgraph.Module{{Path: "example.org/app"}}
			got := show(build(t, files, callgraph.Options{Modules: modules}))
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("the calls differ (-want +got):\n%s", diff)
			}
		})
	}
}

// An edgeCase is a program with its calls.
type edgeCase struct{ name, source, want string }

var goEdges = []edgeCase{
	{"functions of two packages", `
-- a/a.go --
package a

import "example.org/app/b"

func F() { b.G(); h() }
-- a/h.go --
package a

func h() {}
-- b/b.go --
package b

func G() {}
`, `
a.F: b.G() → b.G
a.F: h() → a.h
`},
	{"interface that two types satisfy", `
-- a.go --
package a

type W interface{ Write(s string) }

type X struct{}

func (x X) Write(s string) {}

type Y struct{}

func (y *Y) Write(s string) {}

func f(w W) { w.Write("a") }

func g() { f(X{}) }
`, `
f: w.Write("a") → X.Write
g: f(X{}) → f
`},
	{"only types that are made", `
-- a.go --
package a

type W interface{ Write(s string) }

type X struct{}

func (x X) Write(s string) {}

type Y struct{}

func (y Y) Write(s string) {}

func f(w W) { w.Write("a") }

func g() { use(X{}); use(Y{}) }
`, `
f: w.Write("a") → X.Write, Y.Write
g: use(X{}) (use|)
g: use(Y{}) (use|)
`},
	{"function value in a variable and a field", `
-- a.go --
package a

type T struct{ run func() }

func one() {}

func two() {}

func f() {
	g := one
	g()
	t := T{run: two}
	t.run()
}
`, `
f: g() → one
f: t.run() → two
`},
	{"type of a result", `
-- a.go --
package a

type T struct{}

func (t T) m() {}

func make1() (T, error) { return T{}, nil }

func f() {
	t, _ := make1()
	t.m()
}
`, `
f: make1() → make1
f: t.m() → T.m
`},
	{"closures call each other", `
-- a.go --
package a

func f() {
	var odd func(int)
	even := func(n int) { odd(n) }
	odd = func(n int) { even(n) }
	even(1)
}
`, `
f: even(1) → f#5
f#5: odd(n) → f#6
f#6: even(n) → f#5
together: f#5 f#6
`},
	{"function in a map", `
-- a.go --
package a

func one() {}

func two() {}

func f(k string) {
	m := map[string]func(){"a": one, "b": two}
	m[k]()
	m["a"]()
}
`, `
f: m[k]() → one, two
f: m["a"]() → one
`},
	{"callback of unknown code", `
-- a.go --
package a

import "net/http"

func handler() {}

func f() { http.HandleFunc("/", handler) }
`, `
f: http.HandleFunc("/", handler) (net/http.HandleFunc|) calls back handler
`},
}

var javaEdges = []edgeCase{
	{"virtual call and override", `
-- p/A.java --
package p;
class A { void m() {} void n() { m(); } }
-- p/B.java --
package p;
class B extends A { void m() {} }
-- p/C.java --
package p;
class C { void f() { A a = new B(); a.m(); a.n(); } }
`, `
p.A.n: m() → p.B.m
p.C.f: new B() (p.B|) makes p.B
p.C.f: a.m() → p.B.m
p.C.f: a.n() → p.A.n
`},
	{"overloads by number and type", `
-- p/A.java --
package p;
class A {
  void m(int a) {}
  void m(String a) {}
  void m(int a, int b) {}
  void f() { m(1, 2); m("x"); }
}
`, `
p.A.f: m(1, 2) → p.A.m
p.A.f: m("x") → p.A.m
`},
	{"static call and static field", `
-- p/A.java --
package p;
class A {
  static final B B1 = new B();
  static void s() {}
  void f() { A.s(); B1.m(); }
}
-- p/B.java --
package p;
class B { void m() {} }
`, `
p#1: <static> → p.A.<static>
p.A.<static>: new B() (p.B|) makes p.B
p.A.f: A.s() → p.A.s
p.A.f: B1.m() → p.B.m
`},
	{"constructors and initializers", `
-- p/A.java --
package p;
class A {
  B b = new B();
  A() { this(1); }
  A(int n) {}
}
-- p/B.java --
package p;
class B extends A { B() { super(2); } }
`, `
p.A.<init>: new B() → p.B.B makes p.B
p.A.A: this(1) → p.A.A
p.A.A: <init> → p.A.<init>
p.B.B: super(2) → p.A.A
together: p.A.<init> p.A.A p.B.B
`},
	{"abstract class and interface", `
-- p/I.java --
package p;
interface I { void m(); }
-- p/A.java --
package p;
abstract class A implements I { void f() { m(); } }
-- p/B.java --
package p;
class B extends A { public void m() {} }
-- p/C.java --
package p;
class C { void g(I i) { i.m(); } void h() { g(new B()); } }
`, `
p.A.f: m() → p.B.m
p.C.g: i.m() → p.B.m
p.C.h: new B() (p.B|) makes p.B
p.C.h: g(new B()) → p.C.g
`},
	{"lambda for a functional interface", `
-- p/A.java --
package p;
class A {
  interface F { String apply(String s); }
  String run(F f) { return f.apply("x"); }
  String g() { return run(s -> h(s)); }
  String h(String s) { return s; }
}
`, `
p.A.run: f.apply("x") → p.A.g#5
p.A.g: run(s -> h(s)) → p.A.run
p.A.g#5: h(s) → p.A.h
`},
	{"wildcard import", `
-- p/A.java --
package p;
import q.*;
class A { void f() { new B().m(); } }
-- q/B.java --
package q;
public class B { public void m() {} }
`, `
p.A.f: new B() (q.B|) makes q.B
p.A.f: new B().m() → q.B.m
`},
	{"anonymous class", `
-- p/A.java --
package p;
class A {
  void f() { run(new Runnable() { public void run() { g(); } }); }
  void run(Runnable r) { r.run(); }
  void g() {}
}
`, `
p.A.f: new Runnable() { public void run() { g(); } } (p.A$2|) makes p.A$2
p.A.f: run(new Runnable() { public void run() { g(); } }) → p.A.run
p.A$2.run: g() → p.A.g
p.A.run: r.run() → p.A$2.run
`},
}

var pythonEdges = []edgeCase{
	{"relative import", `
-- pkg/a.py --
from .b import g
from . import c
def f():
    g()
    c.h()
-- pkg/b.py --
def g(): pass
-- pkg/c.py --
def h(): pass
`, `
pkg.a.f: g() → pkg.b.g
pkg.a.f: c.h() → pkg.c.h
`},
	{"package with an init file", `
-- pkg/__init__.py --
from .impl import run
-- pkg/impl.py --
def run(): pass
-- main.py --
import pkg
from pkg import run
pkg.run()
run()
`, `
main#1: pkg.run() → pkg.impl.run
main#1: run() → pkg.impl.run
`},
	{"star import", `
-- a.py --
from b import *
g()
-- b.py --
from c import *
-- c.py --
def g(): pass
`, `
a#1: g() → c.g
`},
	{"methods, class methods and super", `
-- a.py --
class A:
    def m(self): self.n()
    def n(self): pass
    @classmethod
    def make(cls): return cls()
    @staticmethod
    def s(): pass
class B(A):
    def n(self): super().n()
def f():
    B.make().m()
    A.s()
`, `
a.A.m: self.n() → a.B.n
a.A.make: cls() makes a.B
a.B.n: super().n() → a.A.n
a.f: B.make() → a.A.make
a.f: B.make().m() → a.A.m
a.f: A.s() → a.A.s
`},
	{"constructor and call of an object", `
-- a.py --
class A:
    def __init__(self, f): self.f = f
    def __call__(self): self.f()
def g(): pass
A(g)()
`, `
a#1: A(g) → a.A.__init__ makes a.A
a#1: A(g)() → a.A.__call__
a.A.__call__: self.f() → a.g
`},
	{"decorator that wraps", `
-- a.py --
def deco(fn):
    def wrapper(*args):
        return fn(*args)
    return wrapper
@deco
def f(x): return x
f(1)
`, `
a#1: @deco → a.deco
a#1: f(1) → a.deco.wrapper, a.f
a.deco.wrapper: fn(*args) → a.f
`},
	{"keyword and default arguments", `
-- a.py --
def f(a, cb=None): cb()
def g(): pass
f(1, cb=g)
`, `
a#1: f(1, cb=g) → a.f
a.f: cb() → a.g
`},
	{"functions in a list", `
-- a.py --
def one(): pass
def two(): pass
for h in [one, two]:
    h()
`, `
a#1: h() → a.one, a.two
`},
	{"recursion in two files", `
-- a.py --
import b
def f(): b.g()
-- b.py --
import a
def g(): a.f()
`, `
a.f: b.g() → b.g
b.g: a.f() → a.f
together: a.f b.g
`},
	{"generator", `
-- a.py --
def one(): pass
def gen():
    yield one
for f in gen():
    f()
`, `
a#1: gen() → a.gen
a#1: f() → a.one
`},
}

var scriptEdges = []edgeCase{
	{"commonjs module and its members", `
-- lib/a.js --
const b = require("./b");
const { c } = require("./b");
b.run();
c();
-- lib/b.js --
exports.run = function run() { helper(); };
exports.c = () => 1;
function helper() {}
`, `
lib/a#1: b.run() → lib/b.run#1
lib/a#1: c() → lib/b#2
lib/b.run#1: helper() → lib/b.helper
`},
	{"folder with an index file", `
-- a.js --
const m = require("./m");
m.f();
-- m/index.js --
module.exports = { f: function f() {} };
`, `
a#1: m.f() → m.f#1
`},
	{"module that is a function", `
-- a.js --
const make = require("./b");
make()();
-- b.js --
module.exports = function outer() { return function inner() {}; };
`, `
a#1: make() → b.outer#1
a#1: make()() → b.outer.inner#1
`},
	{"es modules and re-exports", `
-- a.js --
import run, { f as g } from "./b.js";
import * as all from "./b.js";
run();
g();
all.f();
-- b.js --
export { f } from "./c.js";
export default function run() {}
-- c.js --
export function f() {}
`, `
a#1: run() → b.run
a#1: g() → c.f
a#1: all.f() → c.f
`},
	{"alias of the root folder", `
-- src/app.js --
import { q } from "@/lib/db";
q();
-- src/lib/db.js --
export function q() {}
`, `
src/app#1: q() → src/lib/db.q
`},
	{"prototype methods", `
-- a.js --
function A() {}
A.prototype.m = function m() { this.n(); };
A.prototype.n = function n() {};
new A().m();
`, `
a#1: new A() → a.A
a#1: new A().m() → a.m#2
a.m#2: this.n() → a.n#3
`},
	{"class and inherited method", `
-- a.js --
class A { m() { this.n(); } n() {} }
class B extends A { n() {} }
new B().m();
`, `
a#1: new B() (a.B|) makes a.B
a#1: new B().m() → a.A.m
a.A.m: this.n() → a.B.n
`},
	{"callback of a function of the program", `
-- a.js --
function each(list, fn) { for (const x of list) fn(x); }
each([1], function visit(x) {});
`, `
a#1: each([1], function visit(x) {}) → a.each
a.each: fn(x) → a.visit#2
`},
	{"call, apply and bind", `
-- a.js --
function f(a) {}
f.call(null, 1);
f.apply(null, [1]);
const g = f.bind(null);
g();
`, `
a#1: f.call(null, 1) → a.f
a#1: f.apply(null, [1]) → a.f
a#1: f.bind(null) (a.f.bind|)
a#1: g() → a.f
`},
	{"listener that is kept", `
-- a.js --
class E { constructor() { this.l = []; } on(f) { this.l.push(f); } emit() { for (const f of this.l) f(); } }
const e = new E();
e.on(function heard() {});
e.emit();
`, `
a#1: new E() → a.E.constructor makes a.E
a#1: e.on(function heard() {}) → a.E.on
a#1: e.emit() → a.E.emit
a.E.on: this.l.push(f) calls back a.heard#3
a.E.emit: f() → a.heard#3
`},
	{"promise passes a function on", `
-- a.js --
async function f() { return function inner() {}; }
async function g() { const h = await f(); h(); }
`, `
a.g: f() → a.f
a.g: h() → a.f.inner#1
`},
	{"object with computed member", `
-- a.js --
const table = { a() {}, b() {} };
function f(k) { table[k](); }
`, `
a.f: table[k]() → a.a, a.b
`},
	{"dynamic import", `
-- a.js --
async function f() { const m = await import("./b.js"); m.g(); }
-- b.js --
export function g() {}
`, `
a.f: m.g() → b.g
`},
	{"typed field of another file", `
-- src/a.ts --
import { Db } from "./db";
class A { constructor(private db: Db) {} run() { this.db.query(); } }
-- src/db.ts --
export class Db { query() {} }
`, `
src/a.A.run: this.db.query() → src/db.Db.query
`},
}
