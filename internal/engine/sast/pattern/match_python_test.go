package pattern_test

import "testing"

// TestPythonMatches matches one pattern for each construct of Python. The lines that must
// match end with a comment that says so; every other line must not.
func TestPythonMatches(t *testing.T) { checkMatches(t, pythonMatches) }

var pythonMatches = []patternTest{
	{"python", "call with exact arguments", "",
		`f(1, 2)`,
		`
f(1, 2)  # match
f(2, 1)
f(1)
f(1, 2, 3)
`},
	{"python", "ellipsis at the end", "",
		`f(1, ...)`,
		`
f(1)  # match
f(1, 2, 3)  # match
f(2, 1)
`},
	{"python", "ellipsis in the middle", "",
		`f(1, ..., 4)`,
		`
f(1, 4)  # match
f(1, 2, 3, 4)  # match
f(4, 1)
`},
	{"python", "same metavariable twice", "",
		`$X == $X`,
		`
a == a  # match
a == b
a.b == a.b  # match
f(1) == f(1)  # match
`},
	{"python", "metavariable for a callee", "",
		`$F(x)`,
		`
f(x)  # match
o.m(x)  # match
f(y)
`},
	{"python", "method of any object", "",
		`$O.execute($Q)`,
		`
cur.execute(q)  # match
db.cursor().execute(q)  # match
execute(q)
cur.execute(q, p)
`},
	{"python", "keyword argument", "",
		`f(..., shell=True, ...)`,
		`
f(c, shell=True)  # match
f(shell=True, c=1)  # match
f(c, shell=False)
f(c)
`},
	{"python", "keyword with any value", "",
		`f(timeout=$T)`,
		`
f(timeout=1)  # match
f(timeout=g(x))  # match
f(1)
`},
	{"python", "star arguments", "",
		`f(*$A)`,
		`
f(*xs)  # match
f(xs)
`},
	{"python", "nested call", "",
		`f(g($X))`,
		`
f(g(1))  # match
f(h(1))
f(h(g(1)))
`},
	{"python", "deep expression", "",
		`f(<... g($X) ...>)`,
		`
f(g(1))  # match
f(1 + h(g(2)))  # match
f([g(3)])  # match
f(h(1))
`},
	{"python", "any string", "",
		`f("...")`,
		`
f("a")  # match
f('b')  # match
f(f"c{d}")
f(x)
`},
	{"python", "content of a string", "",
		`f("$X")`,
		`
f("a")  # match
f(1)
`},
	{"python", "regular expression in a string", "",
		`f("=~/^a.*z$/")`,
		`
f("abcz")  # match
f("xabcz")
f("a")
`},
	{"python", "string by constant propagation", "",
		`f("a")`,
		`
A = "a"
f(A)  # match
b = A
f(b)  # match
f("b")
`},
	{"python", "concatenated constant", "",
		`f("ab")`,
		`
f("a" + "b")  # match
f("a" "b")  # match
`},
	{"python", "assignment", "",
		`$X = f(...)`,
		`
x = f(1)  # match
x, y = f(1)  # match
x += f(1)
g(f(1))
`},
	{"python", "sequence of statements", "",
		`a()
b()`,
		`
a()  # match
b()
c()
a()
c()
b()
`},
	{"python", "statements with an ellipsis", "",
		`a()
...
b()`,
		`
def f():
    a()  # match
    c()
    b()
def g():
    b()
    a()
`},
	{"python", "ellipsis enters blocks", "",
		`a()
...
b()`,
		`
a()  # match
if x:
    b()
`},
	{"python", "if with a condition", "",
		`if $X == None:
    ...`,
		`
if a == None:  # match
    f()
if a is None:
    f()
if None == a:
    g()
`},
	{"python", "symmetric comparison", "symmetric_eq: true",
		`$X == None`,
		`
a == None  # match
None == a  # match
`},
	{"python", "function with any body", "",
		`def $F(...):
    ...`,
		`
def f(): pass  # match
async def g(a, b=1):  # match
    return a
lambda: 1
`},
	{"python", "class with a base", "",
		`class $C(Base):
    ...`,
		`
class A(Base):  # match
    pass
class B(Base, Other):  # match
    pass
class C:
    pass
`},
	{"python", "return", "",
		`return $X`,
		`
def f(a):
    return a  # match
def g():
    return
`},
	{"python", "for loop", "",
		`for $X in $Y:
    f($X)`,
		`
for a in b:  # match
    f(a)
for a in b:
    f(c)
`},
	{"python", "with statement", "",
		`with open(...) as $F:
    ...`,
		`
with open(p) as h:  # match
    h.read()
with lock:
    pass
`},
	{"python", "try with a handler", "",
		`try:
    ...
except $E:
    pass`,
		`
try:  # match
    f()
except ValueError:
    pass
try:
    f()
except ValueError:
    raise
`},
	{"python", "raise", "",
		`raise $E(...)`,
		`
raise ValueError("x")  # match
raise
`},
	{"python", "import by name", "",
		`import pickle`,
		`
import pickle  # match
import pickle as p  # match
from pickle import loads  # match
import json
`},
	{"python", "name through an alias", "",
		`subprocess.run(...)`,
		`
import subprocess as sp
from subprocess import run
sp.run(c)  # match
run(c)  # match
other.run(c)
`},
	{"python", "list, tuple and set", "",
		`[1, ...]`,
		`
a = [1, 2]  # match
b = [2]
c = (1, 2)
`},
	{"python", "dictionary entry", "",
		`{..., "debug": True, ...}`,
		`
a = {"debug": True}  # match
b = {"a": 1, "debug": True, "c": 2}  # match
c = {"debug": False}
`},
	{"python", "subscript", "",
		`$X["password"]`,
		`
d["password"]  # match
d["user"]
d.password
`},
	{"python", "slice", "",
		`$X[1:]`,
		`
a[1:]  # match
a[:1]
a[1]
`},
	{"python", "unary and boolean operators", "",
		`not $X`,
		`
not a  # match
a
`},
	{"python", "associative operator", "",
		`a and b`,
		`
x = a and b  # match
y = a and b and c  # match
z = b and a
`},
	{"python", "commutative operator", "commutative_boolop: true",
		`a and b`,
		`
x = b and a  # match
`},
	{"python", "addition of strings", "",
		`"..." + $X`,
		`
q = "select " + x  # match
q = x + "y"
`},
	{"python", "percent format", "",
		`"..." % $X`,
		`
q = "a %s" % x  # match
q = x % 2
`},
	{"python", "f-string with a part", "",
		`f"...{$X}..."`,
		`
q = f"a{b}c"  # match
q = f"abc"
q = "abc"
`},
	{"python", "number", "",
		`f(1)`,
		`
f(1)  # match
f(0x1)  # match
f(1.0)  # match
f(2)
`},
	{"python", "boolean and none", "",
		`f(True, None)`,
		`
f(True, None)  # match
f(False, None)
`},
	{"python", "attribute", "",
		`$X.password`,
		`
a.password  # match
a.b.password  # match
a.name
`},
	{"python", "conditional expression", "",
		`$A if $C else $B`,
		`
x = 1 if c else 2  # match
x = 1
`},
	{"python", "lambda", "",
		`lambda $X: f($X)`,
		`
g(lambda a: f(a))  # match
g(lambda a: f(1))
`},
	{"python", "comprehension", "",
		`[$X for $X in $Y]`,
		`
a = [x for x in y]  # match
a = [f(x) for x in y]
`},
	{"python", "await", "",
		`await $X`,
		`
async def f():
    await g()  # match
    g()
`},
	{"python", "delete and assert", "",
		`assert $X`,
		`
assert a  # match
assert a, "m"
`},
	{"python", "global variable through symbolic propagation", "symbolic_propagation: true",
		`f(g())`,
		`
x = g()
f(x)  # match
f(y)
`},
	{"python", "typed metavariable", "",
		`f($X: str)`,
		`
def h(a: str, b: int):
    f(a)  # match
    f(b)
f("lit")  # match
`},
	{"python", "ellipsis of a chain", "",
		`a. ... .end()`,
		`
a.b().end()  # match
a.b().c(1).end()  # match
a.end()  # match
b.end()
`},
	{"python", "rest of arguments by name", "",
		`f($...ARGS, last)`,
		`
f(last)  # match
f(1, 2, last)  # match
f(last, 1)
`},
	{"python", "no constants", "constant_propagation: false",
		`f("a")`,
		`
f("a")  # match
x = "a"
f(x)
`},
	{"python", "no value of a variable without the option", "",
		`f(g())`,
		`
x = g()
f(x)
f(g())  # match
`},
	{"python", "no associative operator", "ac_matching: false",
		`$A and c and d`,
		`
if b and c and d: pass  # match
if c and b and d: pass
`},
	{"python", "declaration as an assignment", "",
		`$X = 1`,
		`
x = 1  # match
y: int = 1  # match
z = 2
`},
	{"python", "decorators in another order", "",
		`@a
@b
def f(): ...`,
		`
@a  # match
@b
def f(): pass
@b  # match
@a
def f(): pass
@a
def f(): pass
`},
	{"python", "decorators in order", "decorators_order_matters: true",
		`@a
@b
def f(): ...`,
		`
@a  # match
@b
def f(): pass
@b
@a
def f(): pass
`},
	{"python", "deeper expressions only where asked", "go_deeper_expr: false",
		`f(<... x ...>)`,
		`
f(x)  # match
f(g(x))
`},
	{"python", "names of a module", "",
		`os.path.join($A, $B)`,
		`
import os
os.path.join(a, b)  # match
from os.path import join
join(a, b)  # match
from os import path as p
p.join(a, b)  # match
import posixpath
posixpath.join(a, b)
`},
	{"python", "while with a break", "",
		`while $C:
    ...
    break`,
		`
while a:  # match
    f()
    break
while a:
    f()
`},
	{"python", "nested functions", "",
		`def $F(...):
    ...
    def $G(...):
        ...`,
		`
def a():  # match
    x = 1
    def b():
        pass
def c():
    pass
`},
	{"python", "parameter with a default", "",
		`def $F(..., $P=[], ...):
    ...`,
		`
def a(x=[]): pass  # match
def b(y, x=[], z=1): pass  # match
def c(x=()): pass
`},
	{"python", "parameter with a type", "",
		`def $F(..., $P: int, ...):
    ...`,
		`
def a(x: int): pass  # match
def b(x: str): pass
def c(x): pass
`},
	{"python", "return of a call in a function", "",
		`def $F(...):
    ...
    return g($X)`,
		`
def a(x):  # match
    y = x
    return g(y)
def b(x):
    return x
`},
	{"python", "else of a condition", "",
		`if $C:
    ...
else:
    g()`,
		`
if a:  # match
    f()
else:
    g()
if a:
    f()
else:
    h()
if a:
    f()
`},
	{"python", "global statement", "",
		`global $X`,
		`
def f():
    global a  # match
    nonlocal b
`},
	{"python", "augmented assignment", "",
		`$X += $Y`,
		`
a += 1  # match
a = a + 1
a -= 1
`},
	{"python", "chained comparison", "",
		`$A < $B`,
		`
if a < b: pass  # match
if a > b: pass
`},
	{"python", "string in several parts", "",
		`f("ab")`,
		`
f("a" "b")  # match
f("ab")  # match
f("a" + "c")
`},
	{"python", "bytes and raw strings", "",
		`f("...")`,
		`
f(r"a\d")  # match
f("a")  # match
f(1)
`},
	{"python", "format call", "",
		`"...".format(...)`,
		`
"a {}".format(x)  # match
s.format(x)
`},
	{"python", "print", "",
		`print(...)`,
		`
print("a", b)  # match
print()  # match
pprint()
`},
	{"python", "two statements with the same name", "",
		`$X = f()
...
g($X)`,
		`
def one():
    a = f()  # match
    h()
    g(a)
def two():
    a = f()
    g(b)
`},
	{"python", "slice of a range", "",
		`$X[1:$N]`,
		`
a[1:n]  # match
a[2:n]
a[1]
`},
	{"python", "yield", "",
		`yield $X`,
		`
def f():
    yield a  # match
    return b
`},
	{"python", "star import", "",
		`from $M import *`,
		`
from a import *  # match
from a import b
`},
}
