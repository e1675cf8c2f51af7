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
}
