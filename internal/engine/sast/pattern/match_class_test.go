package pattern_test

import "testing"

// TestClassMatches matches one pattern for each construct of the other languages. The lines that must
// match end with a comment that says so; every other line must not.
func TestClassMatches(t *testing.T) { checkMatches(t, classMatches) }

var classMatches = []patternTest{
	{"java", "method call on a type", "",
		`(Statement $S).executeQuery($Q)`,
		`
import java.sql.Statement;
class A {
  void m(Statement s, Other o) {
    s.executeQuery(q); // match
    o.executeQuery(q);
  }
}
`},
	{"java", "string concatenation", "",
		`"..." + $X`,
		`
class A { void m() {
  String a = "x" + b; // match
  String c = b + d;
} }
`},
	{"java", "annotation", "",
		`@Controller
class $C { ... }`,
		`
@Controller // match
class A { }
class B { }
`},
	{"java", "method with a modifier", "",
		`public void $M(...) { ... }`,
		`
class A {
  public void a() {} // match
  void b() {}
  public int c() { return 1; }
}
`},
	{"java", "catch of a type", "",
		`try { ... } catch (Exception $E) { }`,
		`
class A { void m() {
  try { f(); } catch (Exception e) { } // match
  try { f(); } catch (Error e) { }
} }
`},
	{"java", "field", "",
		`String $X = "...";`,
		`
class A {
  String a = "x"; // match
  int b = 1;
  void m() { String c = "y"; } // match
}
`},
	{"java", "conditional", "",
		`$C ? $A : $B`,
		`
class A { void m() {
  x = a ? b : c; // match
} }
`},
	{"java", "cast", "",
		`(String) $X`,
		`
class A { void m() {
  y = (String) x; // match
  y = (Object) x;
} }
`},
	{"java", "for each", "",
		`for (String $S : $L) { ... }`,
		`
class A { void m() {
  for (String s : l) { f(s); } // match
  for (Object o : l) { f(o); }
} }
`},
	{"java", "return null", "",
		`return null;`,
		`
class A {
  Object a() { return null; } // match
  Object b() { return x; }
}
`},
	{"java", "lambda", "",
		`$X -> $Y`,
		`
class A { void m() {
  f(a -> g(a)); // match
  f(this::g);
} }
`},
	{"go", "function with a result", "",
		`func $F(...) error { ... }`,
		`
package a
func f() error { return nil } // match
func g() {}
`},
	{"go", "short declaration", "",
		`$X := f()`,
		`
package a
func m() {
	a := f() // match
	var b = f()
	b = f()
}
`},
	{"go", "ignored error", "",
		`_ = $F(...)`,
		`
package a
func m() {
	_ = f(1) // match
	err := f(1)
}
`},
	{"go", "struct literal", "",
		`tls.Config{..., InsecureSkipVerify: true, ...}`,
		`
package a
import "crypto/tls"
var a = tls.Config{InsecureSkipVerify: true} // match
var b = tls.Config{MinVersion: 1}
`},
	{"go", "pointer to a literal", "",
		`&http.Server{...}`,
		`
package a
import "net/http"
var a = &http.Server{Addr: "x"} // match
var b = http.Server{}
`},
	{"go", "goroutine", "",
		`go $F(...)`,
		`
package a
func m() {
	go f(1) // match
	f(1)
}
`},
	{"go", "deferred call", "",
		`defer $X.Close()`,
		`
package a
func m() {
	defer f.Close() // match
	f.Close()
}
`},
	{"go", "if with an error", "",
		`if err != nil { return }`,
		`
package a
func m() {
	if err != nil { return } // match
	if err == nil { return }
}
`},
	{"go", "method of a type", "",
		`func ($R *T) $M(...) { ... }`,
		`
package a
func (t *T) a() {} // match
func (t T) b() {}
func (o *O) c() {}
`},
	{"go", "conversion", "",
		`[]byte($X)`,
		`
package a
var a = []byte(s) // match
var b = string(s)
`},
	{"ruby", "call with a block", "",
		`$X.each do |$Y| ... end`,
		`
a.each do |b| # match
  f(b)
end
a.map { |b| b }
`},
	{"ruby", "hash argument", "",
		`f(secure: false)`,
		`
f(secure: false) # match
f(secure: true)
`},
	{"ruby", "string with a part", "",
		`"...#{$X}..."`,
		`
q = "a#{b}" # match
q = "a"
`},
	{"php", "superglobal", "",
		`$_GET[...]`,
		`
<?php
$a = $_GET["x"]; // match
$b = $_POST["x"];
`},
	{"php", "function call", "",
		`system(...)`,
		`
<?php
system($a); // match
other($a);
`},
	{"csharp", "object creation", "",
		`new SqlCommand($X, ...)`,
		`
class A { void M() {
  var a = new SqlCommand(q, c); // match
  var b = new Other(q);
} }
`},
	{"kotlin", "call", "",
		`f($X)`,
		`
fun m() {
  f(1) // match
  g(1)
}
`},
	{"rust", "unsafe block", "",
		`unsafe { ... }`,
		`
fn m() {
    unsafe { f(); } // match
    f();
}
`},
	{"rust", "macro call", "",
		`println!(...)`,
		`
fn m() {
    println!("a"); // match
    f();
}
`},
	{"scala", "call", "",
		`f($X)`,
		`
object A {
  f(1) // match
  g(1)
}
`},
	{"c", "call", "",
		`gets($X)`,
		`
void m(void) {
  gets(b); // match
  fgets(b, 1, f);
}
`},
	{"c", "comparison", "",
		`if ($X = $Y) { ... }`,
		`
void m(void) {
  if (a = b) { f(); } // match
  if (a == b) { f(); }
}
`},
	{"bash", "command", "",
		`eval ...`,
		`
eval "$x" # match
echo "$x"
`},
	{"yaml", "entry", "",
		`privileged: true`,
		`
a:
  privileged: true # match
b:
  privileged: false
`},
	{"hcl", "block", "",
		`resource "aws_s3_bucket" $NAME { ... }`,
		`
resource "aws_s3_bucket" "a" { # match
}
resource "other" "b" {
}
`},
	{"java", "method of any class", "",
		`class $C { $T $M(...) { ... } }`,
		`
class A { int f() { return 1; } } // match
class B { int x; }
`},
	{"java", "try with resources", "",
		`try ($T $R = $V) { ... }`,
		`
class A { void f() throws Exception { try (Reader r = open()) { r.read(); } } } // match
class B { void f() { try { g(); } catch (Exception e) { } } }
`},
	{"java", "static call by import", "",
		`Files.readString($P)`,
		`
import java.nio.file.Files;
class A { void f() { Files.readString(p); } } // match
class B { void f() { Other.readString(p); } }
`},
	{"java", "full name of a type", "",
		`(java.io.File $F).delete()`,
		`
import java.io.File;
class A { void f(File x) { x.delete(); } } // match
class B { void f(String x) { x.delete(); } }
`},
	{"java", "synchronized block", "",
		`synchronized ($X) { ... }`,
		`
class A { void f() { synchronized (this) { g(); } } } // match
class B { void f() { g(); } }
`},
	{"java", "instanceof", "",
		`$X instanceof String`,
		`
class A { boolean f(Object o) { return o instanceof String; } } // match
class B { boolean f(Object o) { return o == null; } }
`},
	{"java", "array", "",
		`new int[]{...}`,
		`
class A { int[] f() { return new int[]{1, 2}; } } // match
class B { int[] f() { return new int[3]; } }
`},
	{"java", "compound assignment", "",
		`$X += $Y;`,
		`
class A { void f(int a) { a += 1; } } // match
class B { void f(int a) { a = a + 1; } }
`},
	{"java", "annotation with a value", "",
		`@GetMapping("/a")
$T $M(...) { ... }`,
		`
class A {
@GetMapping("/a") // match
String f() { return ""; }
@GetMapping("/b")
String g() { return ""; }
}
`},
	{"go", "for with a range", "",
		`for $K, $V := range $X { ... }`,
		`
package a
func f(m map[string]int) {
	for k, v := range m { // match
		g(k, v)
	}
	for i := 0; i < 3; i++ {
	}
}
`},
	{"go", "type with a field", "",
		`type $T struct { ...; Name string; ... }`,
		`
package a
type A struct { // match
	ID   int
	Name string
}
type B struct{ ID int }
`},
	{"go", "constant", "",
		`const $X = "..."`,
		`
package a
const a = "b" // match
const c = 1
`},
	{"go", "call with a spread", "",
		`f($X...)`,
		`
package a
func g(x []int) {
	f(x...) // match
	f(x)
}
`},
	{"go", "package by import", "",
		`exec.Command($X)`,
		`
package a
import "os/exec"
func f(x string) {
	exec.Command(x) // match
	other.Command(x)
}
`},
	{"go", "package under another name", "",
		`exec.Command($X)`,
		`
package a
import run "os/exec"
func f(x string) {
	run.Command(x) // match
	run.Other(x)
}
`},
	{"go", "function literal", "",
		`go func() { ... }()`,
		`
package a
func f() {
	go func() { g() }() // match
	go g()
}
`},
	{"go", "map literal", "",
		`map[string]$T{...}`,
		`
package a
var m = map[string]int{"a": 1} // match
var n = map[int]int{}
`},
	{"ruby", "method definition", "",
		`def $M(...)
  ...
end`,
		`
def a(x) # match
  x
end
b = 1
`},
	{"ruby", "class with a base", "",
		`class $C < Base
  ...
end`,
		`
class A < Base # match
end
class B < Other
end
`},
	{"ruby", "condition behind", "",
		`redirect_to $X`,
		`
redirect_to a if b # match
redirect b
`},
	{"ruby", "call without parentheses", "",
		`puts($X)`,
		`
puts a # match
puts(a) # match
print a
`},
	{"ruby", "symbol", "",
		`f(:a)`,
		`
f(:a) # match
f("a")
`},
	{"php", "object method", "",
		`$X->query($Q)`,
		`
<?php
$db->query($q); // match
query($q);
`},
	{"php", "static method", "",
		`DB::raw($Q)`,
		`
<?php
DB::raw($q); // match
Other::raw($q);
`},
	{"php", "echo", "",
		`echo $X;`,
		`
<?php
echo $a; // match
print $a;
`},
	{"php", "string with a variable", "",
		`"...$X..."`,
		`
<?php
f("a $b c"); // match
f('a');
`},
	{"php", "new", "",
		`new $C(...)`,
		`
<?php
$a = new User(1); // match
$b = user(1);
`},
	{"csharp", "method with an attribute", "",
		`[HttpGet]
$T $M(...) { ... }`,
		`
class C {
[HttpGet] // match
int A() { return 1; }
int B() { return 2; }
}
`},
	{"csharp", "using", "",
		`using ($T $X = $V) { ... }`,
		`
class C { void A() { using (Stream s = Open()) { F(s); } } } // match
class D { void A() { F(s); } }
`},
	{"csharp", "interpolated string", "",
		`$"...{$X}..."`,
		`
class C { void A() { F($"a {b} c"); } } // match
class D { void A() { F("a"); } }
`},
	{"kotlin", "value and variable", "",
		`val $X = f()`,
		`
fun a() { val x = f() } // match
fun b() { val x = g() }
`},
	{"kotlin", "named argument", "",
		`f(a = $X)`,
		`
fun a() { f(a = 1) } // match
fun b() { f(c = 1) }
`},
	{"rust", "method call", "",
		`$X.unwrap()`,
		`
fn f() { a.unwrap(); } // match
fn g() { a.expect("b"); }
`},
	{"rust", "let", "",
		`let $X = f();`,
		`
fn a() { let x = f(); } // match
fn b() { let x = g(); }
`},
	{"scala", "new", "",
		`new Random(...)`,
		`
object A { val a = new Random(1) } // match
object B { val b = Random }
`},
	{"c", "declaration with an array", "",
		`char $X[$N];`,
		`
void f(void) { char a[10]; } // match
void g(void) { int b[10]; }
`},
	{"c", "pointer", "",
		`*$P = $X;`,
		`
void f(int *p) { *p = 1; } // match
void g(int p) { p = 1; }
`},
	{"c", "include", "",
		`#include <string.h>`,
		`
#include <string.h> // match
#include <stdio.h>
`},
	{"cpp", "method call", "",
		`$X.c_str()`,
		`
void f() { s.c_str(); } // match
void g() { c_str(s); }
`},
	{"bash", "variable", "",
		`eval $X`,
		`
eval $a # match
echo $a
`},
	{"yaml", "nested entry", "",
		`a:
  ...
  b: 1`,
		`
a: # match
  c: 2
  b: 1
d:
  b: 1
`},
	{"yaml", "list element", "",
		`- run: $X`,
		`
- run: a # match
- uses: b
`},
	{"hcl", "attribute", "",
		`acl = "public"`,
		`
resource "a" "b" {
  acl = "public" # match
}
resource "a" "c" {
  acl = "private"
}
`},
}
