package ir_test

import "testing"

// TestPythonForms lowers parameters, decorators, comprehensions, generators and patterns.
func TestPythonForms(t *testing.T) { checkForms(t, pythonForms) }

var pythonForms = []formCase{
	{"parameters of every kind", "a.py", `
def f(a, b=1, *rest, c, **more):
    return a, b, rest, c, more
`, `
function a.f(a, b, *rest, c, **more)
b0:
  %0 = missing b
  if %0 b1 b2
b1:
  %1 = const "1"
  b = copy %1
  jump b2
b2:
  %2 = new ()
  %3 = copy a
  setindex %2["0"] = %3
  %4 = copy b
  setindex %2["1"] = %4
  %5 = copy rest
  setindex %2["2"] = %5
  %6 = copy c
  setindex %2["3"] = %6
  %7 = copy more
  setindex %2["4"] = %7
  return %2
`},
	{"decorator", "a.py", `
@route("/x")
def f():
    return 1
`, `
top a#0()
b0:
  %0 = global route
  %1 = const "/x"
  %2 = call route route value %0 (%1)
  %3 = closure #1 a.f
  %4 = call  value %2 (%3)
  setglobal a.f = %4
  return
function a.f()
b0:
  %0 = const "1"
  return %0
`},
	{"class with fields and self", "a.py", `
class A(B):
    x = 1
    def __init__(self, v):
        self.v = v
    @classmethod
    def make(cls):
        return cls(1)
    @staticmethod
    def s(n):
        return n
`, `
class a.A : B
top a#0()
b0:
  %0 = call init <static> a.A.<static> #1 ()
  return
static a.A.<static>() static
b0:
  %0 = const "1"
  setglobal a.A.x = %0
  return
constructor a.A.__init__(self, v)
b0:
  %0 = copy v
  %1 = copy self
  setfield %1.v = %0
  return
method a.A.make(cls)
b0:
  %0 = copy cls
  %1 = const "1"
  %2 = call cls value %0 (%1)
  return %2
method a.A.s(n) static
b0:
  %0 = copy n
  return %0
`},
	{"super call", "a.py", `
class A(B):
    def f(self):
        return super().f()
`, `
class a.A : B
method a.A.f(self)
b0:
  %0 = call super f on self ()
  return %0
`},
	{"property", "a.py", `
class A:
    @property
    def name(self):
        return self.n
`, `
class a.A
method a.A.name(self)
b0:
  %0 = copy self
  %1 = field %0.n
  return %1
`},
	{"comprehension", "a.py", `
def f(xs):
    return [g(x) for x in xs if x]
`, `
function a.f(xs)
b0:
  %0 = new []
  %1 = copy xs
  %2 = iterate values %1
  jump b1
b1:
  %3 = hasnext %2
  if %3 b2 b4
b2:
  %4 = next %2
  x = copy %4
  %5 = copy x
  if %5 b3 b1
b3:
  %6 = global g
  %7 = copy x
  %8 = call g g value %6 (%7)
  setindex %0[] = %8
  jump b1
b4:
  return %0
`},
	{"dictionary comprehension and unpacking", "a.py", `
def f(xs):
    d = {k: v for k, v in xs}
    return {**d, "a": 1}
`, `
function a.f(xs)
b0:
  %0 = new {}
  %1 = copy xs
  %2 = iterate values %1
  jump b1
b1:
  %3 = hasnext %2
  if %3 b2 b3
b2:
  %4 = next %2
  %5 = index %4["0"]
  k = copy %5
  %6 = index %4["1"]
  v = copy %6
  %7 = copy k
  %8 = copy v
  setindex %0[%7] = %8
  jump b1
b3:
  d = copy %0
  %9 = new {}
  %10 = copy d
  setindex %9["..."] = %10
  %11 = const "a"
  %12 = const "1"
  setindex %9["a"] = %12
  return %9
`},
	{"unpacking assignment", "a.py", `
def f(t):
    a, *b, c = t
    a, c = c, a
    return b
`, `
function a.f(t)
b0:
  %0 = copy t
  %1 = index %0["0"]
  a = copy %1
  %2 = const "1"
  %3 = const "-1"
  %4 = slice %0[%2:%3]
  b = copy %4
  %5 = const "-1"
  %6 = index %0[%5]
  c = copy %6
  %7 = copy c
  %8 = copy a
  a = copy %7
  c = copy %8
  %9 = const unknown "tuple"
  %10 = copy b
  return %10
`},
	{"with statement", "a.py", `
def f(p):
    with open(p) as h:
        return h.read()
`, `
function a.f(p)
b0:
  %0 = global open
  %1 = copy p
  %2 = call open open value %0 (%1)
  %3 = enter %2
  h = copy %3
  %4 = copy h
  %5 = call method read on %4 ()
  return %5
`},
	{"try except else finally", "a.py", `
def f():
    try:
        g()
    except (A, B) as e:
        h(e)
    else:
        i()
    finally:
        j()
`, `
function a.f()
b0:
  jump b1
b1: except b3
  %0 = global g
  %1 = call g g value %0 ()
  jump b2
b2: except b6
  %2 = global i
  %3 = call i i value %2 ()
  jump b6
b3:
  dispatch b4 b5
b4: except b6
  %4 = catch <exception>.1
  e = copy %4
  %5 = global h
  %6 = copy e
  %7 = call h h value %5 (%6)
  jump b6
b5:
  %8 = copy <exception>.1
  <exception> = copy %8
  throw %8 b6
b6:
  %9 = global j
  %10 = call j j value %9 ()
  dispatch b7 b8
b7:
  %11 = copy <exception>
  throw %11
b8:
  return
`},
	{"bare raise", "a.py", `
def f():
    try:
        g()
    except A:
        raise
`, `
function a.f()
b0:
  jump b1
b1: except b3
  %0 = global g
  %1 = call g g value %0 ()
  jump b2
b2:
  return
b3:
  dispatch b4 b5
b4:
  %2 = catch A <exception>
  throw %2
b5:
  %3 = copy <exception>
  throw %3
`},
	{"generator and await", "a.py", `
async def f(x):
    y = await x
    yield y
    yield from g()
`, `
function a.f(x) async generator
b0:
  %0 = copy x
  %1 = await %0
  y = copy %1
  %2 = copy y
  %3 = yield %2
  %4 = global g
  %5 = call g g value %4 ()
  %6 = yield from %5
  return
`},
	{"loop with else", "a.py", `
def f(xs):
    for x in xs:
        if x:
            break
    else:
        g()
`, `
function a.f(xs)
b0:
  %0 = copy xs
  %1 = iterate values %0
  jump b1
b1:
  %2 = hasnext %1
  if %2 b2 b3
b2:
  %3 = next %1
  x = copy %3
  %4 = copy x
  if %4 b4 b1
b3:
  %5 = global g
  %6 = call g g value %5 ()
  jump b4
b4:
  return
`},
	{"match statement", "a.py", `
def f(x):
    match x:
        case [a, *b]:
            g(a, b)
        case {"k": v} if v:
            g(v)
        case _:
            pass
`, `
function a.f(x)
b0:
  %0 = copy x
  %1 = index %0["0"]
  a = copy %1
  %2 = const "true"
  %3 = slice %0[_:_]
  b = copy %3
  %4 = const unknown "pattern"
  if %4 b1 b2
b1:
  %5 = global g
  %6 = copy a
  %7 = copy b
  %8 = call g g value %5 (%6, %7)
  jump b6
b2:
  %9 = const "k"
  %10 = index %0["k"]
  v = copy %10
  %11 = const "true"
  %12 = const unknown "pattern"
  if %12 b3 b5
b3:
  %13 = copy v
  if %13 b4 b5
b4:
  %14 = global g
  %15 = copy v
  %16 = call g g value %14 (%15)
  jump b6
b5:
  %17 = const "true"
  if %17 b6 b6
b6:
  return
`},
	{"global and nonlocal", "a.py", `
n = 0
def f():
    global n
    n = 1
    m = 2
    def g():
        nonlocal m
        m = 3
    g()
    return m
`, `
top a#0()
b0:
  %0 = const "0"
  setglobal a.n = %0
  return
function a.f()
b0:
  %0 = const "1"
  setglobal a.n = %0
  %1 = const "2"
  m = copy %1
  %2 = closure #2 a.f.g
  g = copy %2
  %3 = copy g
  %4 = call g #2 value %3 ()
  %5 = copy m
  return %5
function a.f.g() captures m
b0:
  %0 = const "3"
  m = copy %0
  return
`},
	{"chained comparison and boolean operators", "a.py", `
def f(a, b):
    return a and b or not a
`, `
function a.f(a, b)
b0:
  %0 = copy a
  if %0 b1 b2
b1:
  %1 = copy b
  %2 = copy %1
  jump b3
b2:
  %2 = copy %0
  jump b3
b3:
  %3 = copy %2
  %4 = copy %3
  if %3 b5 b4
b4:
  %5 = copy a
  %6 = unary not %5
  %4 = copy %6
  jump b5
b5:
  %7 = copy %4
  return %7
`},
	{"slices and deletion", "a.py", `
def f(a, i):
    del a[i]
    del a.b
    return a[1:i]
`, `
function a.f(a, i)
b0:
  %0 = copy a
  %1 = copy i
  delete %0
  %2 = copy a
  delete b %2
  %3 = copy a
  %4 = const "1"
  %5 = copy i
  %6 = slice %3[%4:%5]
  return %6
`},
	{"imports", "a.py", `
import os.path
from subprocess import run as r, call
r(os.path.join("a"))
call("b")
`, `
top a#0()
b0:
  %0 = global subprocess.run
  %1 = global os
  %2 = global os.path of %1
  %3 = const "a"
  %4 = call method join os.path.join on %2 (%3)
  %5 = call r subprocess.run value %0 (%4)
  %6 = global subprocess.call
  %7 = const "b"
  %8 = call call subprocess.call value %6 (%7)
  return
`},
	{"f-string", "a.py", `
def f(a):
    return f"x{a}y{a.b}"
`, `
function a.f(a)
b0:
  %0 = const "x"
  %1 = copy a
  %2 = const "y"
  %3 = copy a
  %4 = field %3.b
  %5 = concat %0 %1 %2 %4
  return %5
`},
	{"walrus", "a.py", `
def f(a):
    if (n := g(a)):
        return n
`, `
function a.f(a)
b0:
  %0 = global g
  %1 = copy a
  %2 = call g g value %0 (%1)
  n = copy %2
  if %2 b1 b2
b1:
  %3 = copy n
  return %3
b2:
  return
`},
}
