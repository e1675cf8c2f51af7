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
	{"javascript", "variable without a value", "",
		`var $X;`,
		`
var a; // match
var b = 1;
`},
	{"javascript", "no arrow for a function", "arrow_is_function: false",
		`function $F(...) { ... }`,
		`
function a() {} // match
const b = () => {};
`},
	{"javascript", "order of members", "",
		`f({a: 1, b: 2})`,
		`
f({a: 1, b: 2}); // match
f({b: 2, a: 1}); // match
f({a: 1});
`},
	{"javascript", "a member among others", "",
		`f({..., a: $V, ...})`,
		`
f({a: 1, b: 2}); // match
f({b: 2, a: 1, c: 3}); // match
f({b: 2});
`},
	{"javascript", "for loop", "",
		`for (let $I = 0; ...; ...) { ... }`,
		`
for (let i = 0; i < n; i++) { f(); } // match
for (let i = 1; i < n; i++) { f(); }
`},
	{"javascript", "while and do", "",
		`while (true) { ... }`,
		`
while (true) { f(); } // match
while (x) { f(); }
`},
	{"javascript", "switch with a case", "",
		`switch ($X) { case "a": ... }`,
		`
switch (v) { case "a": f(); } // match
switch (v) { case "b": f(); }
`},
	{"javascript", "throw", "",
		`throw new Error($M)`,
		`
function f() { throw new Error("a"); } // match
function g() { throw e; }
`},
	{"javascript", "typeof and delete", "",
		`typeof $X === "string"`,
		`
if (typeof a === "string") {} // match
if (a === "string") {}
`},
	{"javascript", "exported function", "",
		`export function $F(...) { ... }`,
		`
export function a() {} // match
function b() {}
`},
	{"javascript", "default export", "",
		`export default $X`,
		`
export default a; // match
export const b = 1;
`},
	{"javascript", "class with a base", "",
		`class $C extends Base { ... }`,
		`
class A extends Base {} // match
class B extends Other {}
class C {}
`},
	{"javascript", "promise chain", "",
		`$P.then(...).catch(...)`,
		`
p().then(f).catch(g); // match
p().then(f);
`},
	{"javascript", "call on any chain", "",
		`$X. ... .send($Y)`,
		`
res.status(1).send(a); // match
res.send(a); // match
send(a);
`},
	{"javascript", "immediate function", "",
		`(function (...) { ... })()`,
		`
(function () { f(); })(); // match
f();
`},
	{"javascript", "template with an ellipsis", "",
		"`...${$X}...`",
		`
f(` + "`" + `a ${b} c` + "`" + `); // match
f(` + "`" + `a` + "`" + `);
`},
	{"javascript", "constant of a template", "",
		`f("ab")`,
		`
const x = "b";
f(` + "`" + `a${x}` + "`" + `); // match
f(` + "`" + `a${y}` + "`" + `);
`},
	{"javascript", "imported default", "",
		`import $X from "fs"`,
		`
import fs from "fs"; // match
import { a } from "fs";
import os from "os";
`},
	{"javascript", "call of an imported name", "",
		`fs.readFile($X)`,
		`
import fs from "fs";
fs.readFile(a); // match
other.readFile(a);
`},
	{"javascript", "element with children", "",
		`<a>...</a>`,
		`
const x = <a><b/></a>; // match
const y = <b></b>;
`},
	{"javascript", "attribute with any value", "",
		`<$T onClick={...} />`,
		`
const x = <a onClick={f} />; // match
const y = <a title="b" />;
`},
	{"typescript", "generic call", "",
		`f<$T>($X)`,
		`
f<string>(a); // match
g<string>(a);
`},
	{"typescript", "interface", "",
		`interface $I { ... }`,
		`
interface A { x: string } // match
class B { x: string }
`},
	{"typescript", "private member", "",
		`class $C { private $F: $T; }`,
		`
class A { private x: string; } // match
class B { y: string; }
`},
}
