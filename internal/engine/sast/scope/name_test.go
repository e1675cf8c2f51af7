package scope_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/scope"
)

// describe prints what is known of the argument of each "mark(x)": what it is called outside
// of the file, its type, and the constant that it is.
func describe(s *scope.Info) string {
	var b strings.Builder
	nodes := marked(s)
	for _, line := range slices.Sorted(maps.Keys(nodes)) {
		i := nodes[line]
		fmt.Fprintf(&b, "%s:", s.File.Code(i))
		if q := s.Qualified(i); q != "" {
			b.WriteString(" name " + q)
		}
		if t := s.Type(i); t != "" {
			b.WriteString(" type " + t)
		}
		if v, ok := s.Const(i); ok {
			fmt.Fprintf(&b, " constant %q", v.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestNames describes the names of sources, each of which has one rule of a language.
func TestNames(t *testing.T) {
	for _, test := range slices.Concat(scriptNames, classNames) {
		t.Run(test.language+" "+test.name, func(t *testing.T) {
			got := describe(analyze(t, test.language, strings.TrimPrefix(test.source, "\n")))
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("the names differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A nameCase is a source with what is known of its marked names.
type nameCase struct{ language, name, source, want string }

var scriptNames = []nameCase{
	{"python", "imports and aliases", `
import os.path
import os.path as p
from os import path as q, getcwd
from . import local
from ..pkg import thing as t
mark(os.path.join)
mark(p.join)
mark(q.join)
mark(getcwd)
mark(local.f)
mark(t)
`, `
os.path.join: name os.path.join
p.join: name os.path.join
q.join: name os.path.join
getcwd: name os.getcwd
local.f: name .local.f
t: name ..pkg.thing
`},
	{"python", "builtins and unknown names", `
mark(eval)
mark(unknown.x)
mark(print)
`, `
eval: name eval
unknown.x: name unknown.x
print: name print
`},
	{"python", "a variable that holds a module's function", `
import subprocess
run = subprocess.run
mark(run)
run2 = run
mark(run2)
`, `
run: name subprocess.run
run2: name subprocess.run
`},
	{"python", "a parameter hides an import", `
import os
def f(os):
    mark(os.getcwd)
mark(os.getcwd)
`, `
os.getcwd:
os.getcwd: name os.getcwd
`},
	{"python", "comprehension has a scope of its own", `
x = "a"
y = [x for x in xs]
mark(x)
`, `
x: type str constant "a"
`},
	{"python", "class members", `
class A:
    x = "a"
    def m(self):
        mark(self.x)
        mark(A.x)
        mark(x)
`, `
self.x: type str constant "a"
A.x: name A.x type str constant "a"
x: name x
`},
	{"python", "global statement", `
x = "a"
def f():
    global x
    x = "b"
mark(x)
`, `
x:
`},
	{"python", "nonlocal statement", `
def f():
    x = "a"
    def g():
        nonlocal x
        x = "b"
    mark(x)
`, `
x:
`},
	{"python", "types of annotations and calls", `
import db
from flask import Request
class User: pass
def f(r: Request, n: int = 1):
    u = User()
    c = db.Connection()
    mark(r)
    mark(n)
    mark(u)
    mark(c)
`, `
r: type flask.Request
n: type int
u: type User
c: type db.Connection
`},
	{"python", "return type of a function of the file", `
from db import Session
def make() -> Session: pass
s = make()
mark(s)
`, `
s: type db.Session
`},
	{"python", "use inside of its own value", `
def f(a):
    a = g(mark(a))
    return a
`, `
a:
`},
	{"python", "value in both branches", `
def f(c):
    if c:
        x = "a"
    else:
        x = "a"
    mark(x)
`, `
x:
`},
	{"python", "augmented assignment is no constant", `
x = "a"
x += "b"
mark(x)
`, `
x:
`},
	{"python", "star import decides nothing", `
from a import *
mark(thing)
`, `
thing: name thing
`},
	{"python", "match captures", `
def f(x):
    match x:
        case [a, b]:
            mark(a)
`, `
a:
`},
	{"python", "walrus in a comprehension", `
def f(xs):
    ys = [y := g(x) for x in xs]
    mark(y)
`, `
y:
`},
	{"javascript", "requires and destructuring", `
const cp = require("child_process");
const { exec, spawn: start } = require("node:child_process");
mark(cp.exec);
mark(exec);
mark(start);
mark(require("fs").readFile);
`, `
cp.exec: name child_process.exec
exec: name child_process.exec
start: name child_process.spawn
require("fs").readFile: name fs.readFile
`},
	{"javascript", "imports", `
import def, { a as b } from "./m";
import * as all from "./n";
mark(def.x);
mark(b);
mark(all.y);
`, `
def.x: name ./m.x
b: name ./m.a
all.y: name ./n.y
`},
	{"javascript", "hoisting and blocks", `
var x = "a";
{
  let x = "b";
  mark(x);
}
mark(x);
function f() {
  mark(y);
  var y = "c";
  mark(y);
}
`, `
x: constant "b"
x: constant "a"
y:
y: constant "c"
`},
	{"javascript", "globals", `
mark(document.cookie);
mark(process.env.HOME);
mark(JSON.parse);
`, `
document.cookie: name document.cookie
process.env.HOME: name process.env.HOME
JSON.parse: name JSON.parse
`},
	{"javascript", "folded values", `
const a = "x";
const b = a + "y";
const c = ` + "`" + `${b}z` + "`" + `;
mark(b);
mark(c);
mark(-1);
mark(2 * 3);
mark(!true);
mark(1 < 2);
`, `
b: constant "xy"
c: constant "xyz"
-1: constant "-1"
2 * 3: constant "6"
!true: constant "false"
1 < 2: constant "true"
`},
	{"javascript", "members of this", `
class A {
  x = "a";
  m() { mark(this.x); }
}
`, `
this.x: constant "a"
`},
	{"javascript", "catch and loop variables", `
try { f(); } catch (e) {
  mark(e);
}
for (const k of ["a"]) {
  mark(k);
}
`, `
e:
k:
`},
	{"javascript", "default exports", `
import m from "express";
const app = m();
mark(m.Router);
mark(app.get);
`, `
m.Router: name express.Router
app.get:
`},
	{"typescript", "declared types", `
import { Repository } from "typeorm";
class S {
  constructor(private users: Repository<User>) {}
  f(q: string, n?: number) {
    mark(q);
    mark(n);
  }
}
`, `
q: type string
n: type number
`},
}

var classNames = []nameCase{
	{"java", "packages and imports", `
package p;
import java.util.List;
import static java.lang.Math.max;
import q.*;
class A {
  void m(List<String> l, String s, Other o) {
    mark(l);
    mark(s);
    mark(o);
    mark(max);
    mark(Runtime.getRuntime);
  }
}
`, `
l: type java.util.List
s: type java.lang.String
o: type p.Other
max: name java.lang.Math.max
Runtime.getRuntime: name java.lang.Runtime.getRuntime
`},
	{"java", "fields that others may change", `
class A {
  private final String a = "x";
  public String b = "y";
  static final int N = 3;
  void m() {
    mark(a);
    mark(b);
    mark(N);
    mark(N + 1);
  }
}
`, `
a: type java.lang.String constant "x"
b: type java.lang.String
N: type int constant "3"
N + 1: constant "4"
`},
	{"java", "types of new, cast and conditional", `
class A {
  void m(Object o, boolean c) {
    mark(new StringBuilder());
    mark((java.io.File) o);
    mark(c ? new B() : null);
    mark(this);
    mark("s");
  }
}
`, `
new StringBuilder(): type java.lang.StringBuilder
(java.io.File) o: type java.io.File
c ? new B() : null: type B
this: type A
"s": type java.lang.String constant "s"
`},
	{"java", "field of an object of the file", `
class B { java.sql.Connection con; }
class A {
  void m(B b) {
    mark(b.con);
  }
}
`, `
b.con: type java.sql.Connection
`},
	{"java", "loop may write again", `
class A {
  void m(boolean c) {
    String s = "a";
    while (c) {
      mark(s);
      s = g();
    }
  }
}
`, `
s: type java.lang.String
`},
	{"java", "pattern of instanceof", `
class A {
  void m(Object o) {
    if (!(o instanceof String s)) return;
    mark(s);
  }
}
`, `
s: type java.lang.String
`},
	{"java", "a write in a try", `
class A {
  void m() {
    String s = null;
    try { s = "a"; } catch (E e) {}
    mark(s);
  }
}
`, `
s: type java.lang.String
`},
	{"java", "lambda parameter", `
class A {
  void m(java.util.List<String> l) {
    l.forEach(x -> mark(x));
  }
}
`, `
x:
`},
	{"go", "packages", `
package a

import (
	"net/http"
	sqlx "github.com/jmoiron/sqlx"
	"gopkg.in/yaml.v3"
	"example.org/m/v2"
)

func f() {
	mark(http.Get)
	mark(sqlx.Open)
	mark(yaml.Unmarshal)
	mark(m.F)
}
`, `
http.Get: name net/http.Get
sqlx.Open: name github.com/jmoiron/sqlx.Open
yaml.Unmarshal: name gopkg.in/yaml.v3.Unmarshal
m.F: name example.org/m/v2.F
`},
	{"go", "types of receivers, parameters and results", `
package a

import "database/sql"

type T struct{ db *sql.DB }

func open() *sql.DB { return nil }

func (t *T) m(r *sql.Rows) {
	d := open()
	mark(t)
	mark(r)
	mark(d)
	mark(t.db)
}
`, `
t: type a.T
r: type database/sql.Rows
d: type database/sql.DB
t.db: type database/sql.DB
`},
	{"go", "constants", `
package a

const (
	a = "x"
	b = a + "y"
	n = 1 << 3
)

func f() {
	mark(b)
	mark(n)
	mark(n | 1)
}
`, `
b: constant "xy"
n: constant "8"
n | 1: constant "9"
`},
	{"go", "short declaration in an inner block", `
package a

func f(c bool) {
	s := "a"
	if c {
		s := "b"
		mark(s)
	}
	mark(s)
}
`, `
s: type string constant "b"
s: type string constant "a"
`},
	{"go", "address taken", `
package a

func f() {
	s := "a"
	scan(&s)
	mark(s)
}
`, `
s:
`},
	{"csharp", "usings and types", `
using System.Data;
namespace N {
  class A {
    const string C = "x";
    void M(SqlCommand c, string s) {
      mark(s);
      mark(C);
    }
  }
}
`, `
s: type string
C: type string constant "x"
`},
	{"php", "names of classes and variables", `
<?php
use App\Db\Connection;
function f(Connection $c) {
  $a = "x";
  mark($c);
  mark($a);
}
`, `
$c: type App.Db.Connection
$a: constant "x"
`},
	{"ruby", "constants and locals", `
A = "x"
def f(b)
  c = "y"
  mark(A)
  mark(b)
  mark(c)
end
`, `
A: constant "x"
b:
c: constant "y"
`},
}
