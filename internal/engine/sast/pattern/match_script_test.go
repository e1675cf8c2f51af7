package pattern_test

import "testing"

// TestScriptMatches matches one pattern for each construct of JavaScript and TypeScript. The lines that must
// match end with a comment that says so; every other line must not.
func TestScriptMatches(t *testing.T) { checkMatches(t, scriptMatches) }

var scriptMatches = []patternTest{
	{"javascript", "call", "",
		`eval($X)`,
		`
eval(a); // match
window.eval(a);
evaluate(a);
`},
	{"javascript", "declaration kinds", "",
		`var $X = f();`,
		`
var a = f(); // match
let b = f(); // match
const c = f(); // match
d = f();
`},
	{"javascript", "only let", "let_is_var: false",
		`let $X = f();`,
		`
var a = f();
let b = f(); // match
`},
	{"javascript", "arrow and function", "",
		`function $F($X) { ... }`,
		`
function a(x) { return x; } // match
const b = (x) => x; // match
const c = function (x) {}; // match
function d(x, y) {}
`},
	{"javascript", "object members", "",
		`{ secure: false, ... }`,
		`
f({ secure: false }); // match
f({ a: 1, secure: false }); // match
f({ secure: true });
`},
	{"javascript", "template string", "",
		"`...${$X}...`",
		`
const a = ` + "`" + `x${b}y` + "`" + `; // match
const c = ` + "`" + `xy` + "`" + `;
const d = "x" + b;
`},
	{"javascript", "new", "",
		`new Function(...)`,
		`
new Function("a", b); // match
Function("a");
new Other();
`},
	{"javascript", "regular expression literal", "",
		`/.../`,
		`
const r = /a+/g; // match
const s = "/a/";
`},
	{"javascript", "member by index", "",
		`$X[$Y]`,
		`
a[b]; // match
a.b;
`},
	{"javascript", "optional call", "",
		`$X?.run()`,
		`
a?.run(); // match
a.run();
`},
	{"javascript", "spread", "",
		`f(...$X)`,
		`
f(...a); // match
f(a);
`},
	{"javascript", "loose and strict equality", "",
		`$X == null`,
		`
a == null; // match
a === null;
`},
	{"javascript", "conditional and nullish", "",
		`$X ?? $Y`,
		`
a ?? b; // match
a || b;
`},
	{"javascript", "try and catch", "",
		`try { ... } catch ($E) { }`,
		`
try { f(); } catch (e) { } // match
try { f(); } catch (e) { g(); }
`},
	{"javascript", "required module", "",
		`require("child_process").exec($X)`,
		`
require("child_process").exec(a); // match
require("other").exec(a);
`},
	{"javascript", "async function", "",
		`async function $F(...) { ... }`,
		`
async function f() {} // match
function g() {}
`},
	{"javascript", "class method", "",
		`class $C { $M(...) { ... } }`,
		`
class A { m() {} } // match
class B { x = 1; }
`},
	{"javascript", "element with an attribute", "",
		`<a target="_blank" ... />`,
		`
const a = <a target="_blank" />; // match
const b = <a href="x" target="_blank" />; // match
const c = <a href="x" />;
`},
	{"javascript", "assignment to a member", "",
		`$X.innerHTML = $Y`,
		`
el.innerHTML = a; // match
el.textContent = a;
`},
	{"javascript", "await in a statement", "",
		`f($X)`,
		`
async function g() {
  const a = await f(1); // match
  return f(2); // match
}
`},
	{"typescript", "typed parameter", "",
		`function $F($X: string) { ... }`,
		`
function a(x: string) {} // match
function b(x: number) {}
`},
	{"typescript", "cast", "",
		`$X as any`,
		`
const a = b as any; // match
const c = b as string;
`},
}
