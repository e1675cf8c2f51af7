package ir_test

import "testing"

// TestJavaScriptForms lowers destructuring, accessors, promises, modules and JSX.
func TestJavaScriptForms(t *testing.T) { checkForms(t, javascriptForms) }

var javascriptForms = []formCase{
	{"arrow function and template", "a.js", `
const f = (a) => ` + "`" + `x${a}` + "`" + `;
f(1);
`, `
top a#0()
b0:
  %0 = closure #1 a
  f = copy %0
  setglobal a.f = %0
  %1 = copy f
  %2 = const "1"
  %3 = call f value %1 (%2)
  return
lambda a#1(a)
b0:
  %0 = const "x"
  %1 = copy a
  %2 = concat %0 %1
  return %2
`},
	{"destructuring with defaults", "a.js", `
function f({ a, b: { c = 1 }, ...rest }, [d, ...e]) {
  return [a, c, rest, d, e];
}
`, `
function a.f(<pattern>, <pattern>.1)
b0:
  %0 = field <pattern>.a
  a = copy %0
  %1 = field <pattern>.b
  %2 = field %1.c
  %3 = copy %2
  %4 = missing %2
  if %4 b1 b2
b1:
  %5 = const "1"
  %3 = copy %5
  jump b2
b2:
  %6 = copy %3
  c = copy %6
  rest = copy <pattern>
  %7 = index <pattern>.1["0"]
  d = copy %7
  %8 = const "1"
  %9 = slice <pattern>.1[%8:_]
  e = copy %9
  %10 = new []
  %11 = copy a
  setindex %10["0"] = %11
  %12 = copy c
  setindex %10["1"] = %12
  %13 = copy rest
  setindex %10["2"] = %13
  %14 = copy d
  setindex %10["3"] = %14
  %15 = copy e
  setindex %10["4"] = %15
  return %10
`},
	{"object literal with accessors", "a.js", `
const o = {
  a: 1,
  "b": 2,
  [k]: 3,
  get c() { return 4; },
  m(x) { return x; },
  ...more,
};
`, `
top a#0()
b0:
  %0 = new {}
  %1 = const "1"
  setfield %0.a = %1
  %2 = const "2"
  setfield %0.b = %2
  %3 = const "3"
  setfield %0.k = %3
  %4 = closure #1 a.c
  setfield %0.#get c = %4
  %5 = closure #2 a.m
  setfield %0.m = %5
  %6 = global more
  setindex %0["..."] = %6
  o = copy %0
  setglobal a.o = %0
  return
function a.c()
b0:
  %0 = const "4"
  return %0
function a.m(x)
b0:
  %0 = copy x
  return %0
`},
	{"class with private state", "a.js", `
class A extends B {
  x = 1;
  static y = 2;
  constructor(v) { super(v); this.v = v; }
  get w() { return this.v; }
  m() { return super.m(); }
}
`, `
class a.A : B
top a#0()
b0:
  %0 = call init <static> a.A.<static> #2 ()
  return
init a.A.<init>(this)
b0:
  %0 = const "1"
  setfield this.x = %0
  return
static a.A.<static>() static
b0:
  %0 = const "2"
  setglobal a.A.y = %0
  return
constructor a.A.constructor(this, v)
b0:
  %0 = call init <init> a.A.<init> #1 on this:a.A ()
  %1 = copy v
  %2 = call super constructor on this (%1)
  %3 = copy v
  %4 = copy this
  setfield %4.v = %3
  return
method a.A.w(this)
b0:
  %0 = copy this
  %1 = field %0.v
  return %1
method a.A.m(this)
b0:
  %0 = call super m on this ()
  return %0
`},
	{"promise executor", "a.js", `
const p = new Promise((resolve, reject) => {
  resolve(g());
  reject("x");
});
p.then(h);
`, `
top a#0()
b0:
  %0 = new Promise
  <promise> = copy %0
  %1 = closure #1 a
  %2 = call  value %1 ()
  %3 = copy <promise>
  p = copy %3
  setglobal a.p = %3
  %4 = copy p
  %5 = global h
  %6 = call method then on %4:Promise (%5)
  return
lambda a#1(resolve, reject) captures <promise>
b0:
  %0 = global g
  %1 = call g g value %0 ()
  setindex <promise>[] = %1
  %2 = const unknown "resolve"
  %3 = const "x"
  setfield <promise>.error = %3
  %4 = const unknown "resolve"
  return
`},
	{"await and for await", "a.js", `
async function f(xs) {
  for await (const x of xs) { await g(x); }
}
`, `
function a.f(xs) async
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
  %4 = global g
  %5 = copy x
  %6 = call g g value %4 (%5)
  %7 = await %6
  jump b1
b3:
  return
`},
	{"for in and for of", "a.js", `
function f(o) {
  for (const k in o) { g(k); }
  for (const [k, v] of o) { g(k, v); }
}
`, `
function a.f(o)
b0:
  %0 = copy o
  %1 = iterate keys %0
  jump b1
b1:
  %2 = hasnext %1
  if %2 b2 b3
b2:
  %3 = next %1
  k = copy %3
  %4 = global g
  %5 = copy k
  %6 = call g g value %4 (%5)
  jump b1
b3:
  %7 = copy o
  %8 = iterate values %7
  jump b4
b4:
  %9 = hasnext %8
  if %9 b5 b6
b5:
  %10 = next %8
  %11 = index %10["0"]
  k.2 = copy %11
  %12 = index %10["1"]
  v = copy %12
  %13 = global g
  %14 = copy k.2
  %15 = copy v
  %16 = call g g value %13 (%14, %15)
  jump b4
b6:
  return
`},
	{"call, apply and bind", "a.js", `
function f(g, a) {
  g.call(this, a);
  g.apply(null, a);
  return g.bind(this);
}
`, `
function a.f(this, g, a)
b0:
  %0 = copy g
  %1 = copy this
  %2 = copy a
  %3 = call g on %1 value %0 (%2)
  %4 = copy g
  %5 = const "null"
  %6 = copy a
  %7 = call g value %4 (*%6)
  %8 = copy g
  %9 = copy this
  %10 = call method bind on %8 (%9)
  return %10
`},
	{"arguments object", "a.js", `
function f(a) {
  return g(arguments[1], arguments);
}
`, `
function a.f(a, *<pattern>)
b0:
  %0 = new {}
  %1 = copy a
  setindex %0["0"] = %1
  %2 = index <pattern>["0"]
  setindex %0["1"] = %2
  %3 = index <pattern>["1"]
  setindex %0["2"] = %3
  %4 = index <pattern>["2"]
  setindex %0["3"] = %4
  %5 = iterate values <pattern>
  %6 = missing <pattern>
  %7 = next %5
  setindex %0[%6] = %7
  arguments = copy %0
  %8 = global g
  %9 = copy arguments
  %10 = const "1"
  %11 = index %9["1"]
  %12 = copy arguments
  %13 = call g g value %8 (%11, %12)
  return %13
`},
	{"logical assignment and nullish", "a.js", `
function f(a, b) {
  a ||= b;
  a ??= 1;
  a &&= 2;
  return a ?? b;
}
`, `
function a.f(a, b)
b0:
  %0 = copy a
  %1 = copy %0
  if %0 b2 b1
b1:
  %2 = copy b
  %1 = copy %2
  a = copy %2
  jump b2
b2:
  %3 = copy %1
  %4 = copy a
  %5 = copy %4
  %6 = unary present %4
  if %6 b4 b3
b3:
  %7 = const "1"
  %5 = copy %7
  a = copy %7
  jump b4
b4:
  %8 = copy %5
  %9 = copy a
  %10 = copy %9
  if %9 b5 b6
b5:
  %11 = const "2"
  %10 = copy %11
  a = copy %11
  jump b6
b6:
  %12 = copy %10
  %13 = copy a
  %14 = copy %13
  %15 = unary present %13
  if %15 b8 b7
b7:
  %16 = copy b
  %14 = copy %16
  jump b8
b8:
  %17 = copy %14
  return %17
`},
	{"optional chaining and delete", "a.js", `
function f(a) {
  delete a.b;
  delete a["c"];
  return a?.b?.(1);
}
`, `
function a.f(a)
b0:
  %0 = copy a
  delete b %0
  %1 = const unknown "delete"
  %2 = copy a
  %3 = const "c"
  delete c %2
  %4 = const unknown "delete"
  %5 = copy a
  %6 = const "1"
  %7 = call method b on %5 (%6)
  return %7
`},
	{"commonjs exports", "lib/a.js", `
const fs = require("fs");
exports.read = function (p) { return fs.readFileSync(p); };
module.exports.write = write;
function write() {}
`, `
top lib/a#0()
b0:
  %0 = global fs
  fs = copy %0
  setglobal lib/a.fs = %0
  %1 = closure #1 lib/a
  %2 = global lib/a
  setglobal lib/a.read of %2 = %1
  %3 = closure #2 lib/a.write
  %4 = global module
  %5 = global lib/a of %4
  setglobal lib/a.write of %5 = %3
  return
lambda lib/a#1(p)
b0:
  %0 = global lib/a.fs
  %1 = copy p
  %2 = call method readFileSync fs.readFileSync on %0 (%1)
  return %2
function lib/a.write()
b0:
  return
`},
	{"es modules", "lib/a.js", `
import d, { x as y } from "./b.js";
export default function f() { return y(d); }
export { f as g };
export * from "./c";
`, `
top lib/a#0()
b0:
  %0 = closure #1 lib/a.f
  setglobal lib/a = %0
  %1 = closure #1 lib/a.f
  setglobal lib/a.g = %1
  return
function lib/a.f()
b0:
  %0 = global lib/b.x
  %1 = global lib/b
  %2 = call y lib/b.x value %0 (%1)
  return %2
`},
	{"switch with fallthrough", "a.js", `
function f(n) {
  switch (n) {
    case 1:
    case 2:
      a();
      break;
    default:
      b();
  }
}
`, `
function a.f(n)
b0:
  %0 = copy n
  %1 = const "1"
  %2 = binary %0 == %1
  if %2 b2 b1
b1:
  %3 = const "2"
  %4 = binary %0 == %3
  if %4 b2 b3
b2:
  %5 = global a
  %6 = call a a value %5 ()
  jump b4
b3:
  %7 = global b
  %8 = call b b value %7 ()
  jump b4
b4:
  return
`},
	{"try with optional catch binding", "a.js", `
function f() {
  try { return g(); } catch { h(); } finally { i(); }
}
`, `
function a.f()
b0:
  jump b1
b1: except b3
  %0 = global g
  %1 = call g g value %0 ()
  jump b2
b2:
  <result> = copy %1
  jump b5
b3:
  dispatch b4
b4: except b5
  %2 = catch <exception>.1
  %3 = global h
  %4 = call h h value %3 ()
  jump b5
b5:
  %5 = global i
  %6 = call i i value %5 ()
  dispatch b6 b7 b8
b6:
  %7 = copy <exception>
  throw %7
b7:
  return
b8:
  return <result>
`},
	{"labelled block", "a.js", `
function f(a) {
  done: {
    if (a) break done;
    g();
  }
  h();
}
`, `
function a.f(a)
b0:
  jump b1
b1:
  %0 = copy a
  if %0 b3 b2
b2:
  %1 = global g
  %2 = call g g value %1 ()
  jump b3
b3:
  %3 = global h
  %4 = call h h value %3 ()
  return
`},
	{"hoisted function in a block", "a.js", `
function f() {
  return g();
  function g() { return 1; }
}
`, `
function a.f()
b0:
  %0 = closure #2 a.f.g
  g = copy %0
  %1 = copy g
  %2 = call g #2 value %1 ()
  return %2
function a.f.g()
b0:
  %0 = const "1"
  return %0
`},
	{"tagged template and regex", "a.js", `
const q = sql` + "`" + `select ${x}` + "`" + `;
const r = /a+/g;
`, `
top a#0()
b0:
  %0 = global sql
  %1 = const "select "
  %2 = global x
  %3 = concat %1 %2
  %4 = call sql sql value %0 (%3)
  q = copy %4
  setglobal a.q = %4
  %5 = const regex "/a+/g"
  r = copy %5
  setglobal a.r = %5
  return
`},
	{"element of JSX", "a.jsx", `
const v = <Box a="1" b={x} {...rest}><p>{y}</p>text</Box>;
`, `
top a#0()
b0:
  %0 = global Box
  %1 = const "1"
  %2 = global x
  %3 = global rest
  %4 = global y
  %5 = call markup p (%4)
  %6 = const "text"
  %7 = call markup Box Box value %0 (a=%1, b=%2, **%3, %5, %6)
  v = copy %7
  setglobal a.v = %7
  return
`},
}
