package ir_test

import "testing"

// TestJavaForms lowers constructors, finally, switch expressions, patterns and inner classes.
func TestJavaForms(t *testing.T) { checkForms(t, javaForms) }

var javaForms = []formCase{
	{"fields and constructor", "p/A.java", `
package p;
class A {
  String s = "x";
  static int n = 1;
  A(String t) { s = t; }
  String get() { return s; }
}
`, `
class p.A
top p#0()
b0:
  %0 = call init <static> p.A.<static> #2 ()
  return
init p.A.<init>(this)
b0:
  %0 = const "x"
  setfield this.s = %0
  return
static p.A.<static>() static
b0:
  %0 = const "1"
  setglobal p.A.n = %0
  return
constructor p.A.A(this, t java.lang.String)
b0:
  %0 = call init <init> p.A.<init> #1 on this:p.A ()
  %1 = copy t
  setfield this.s = %1
  return
method p.A.get(this)
b0:
  %0 = field this.s
  return %0
`},
	{"this and super constructor calls", "p/A.java", `
package p;
class A extends B {
  A() { this(1); }
  A(int n) { super(n); }
}
`, `
class p.A : p.B
constructor p.A.A(this)
b0:
  %0 = const "1"
  %1 = call self  on this:p.A (%0)
  return
constructor p.A.A(this, n int)
b0:
  %0 = copy n
  %1 = call super  on this (%0)
  return
`},
	{"try with resources", "p/A.java", `
package p;
class A {
  void f(java.io.File x) throws Exception {
    try (R r = open(x)) { r.read(); } catch (E | F e) { log(e); }
  }
}
`, `
class p.A
method p.A.f(this, x java.io.File)
b0:
  jump b1
b1: except b3
  %0 = copy x
  %1 = call method open on this:p.A (%0)
  jump b2
b2: except b3
  r = copy %1
  %2 = copy r
  %3 = call method read on %2:p.R ()
  jump b5
b3:
  dispatch b4 b6
b4:
  %4 = catch p.E|p.F <exception>
  e = copy %4
  %5 = copy e
  %6 = call method log on this:p.A (%5)
  jump b5
b5:
  return
b6:
  %7 = copy <exception>
  throw %7
`},
	{"finally on every way", "p/A.java", `
package p;
class A {
  int f(boolean b) {
    try {
      if (b) { return 1; }
      g();
    } finally {
      h();
    }
    return 2;
  }
}
`, `
class p.A
method p.A.f(this, b boolean)
b0:
  jump b1
b1:
  %0 = copy b
  if %0 b2 b3
b2:
  %1 = const "1"
  <result> = copy %1
  jump b4
b3: except b4
  %2 = call method g on this:p.A ()
  jump b4
b4:
  %3 = call method h on this:p.A ()
  dispatch b5 b6 b7
b5:
  %4 = copy <exception>
  throw %4
b6:
  %5 = const "2"
  return %5
b7:
  return <result>
`},
	{"switch expression", "p/A.java", `
package p;
class A {
  String f(int n) {
    return switch (n) {
      case 1 -> "one";
      default -> { String s = g(); yield s; }
    };
  }
}
`, `
class p.A
method p.A.f(this, n int)
b0:
  %0 = const unknown "switch"
  %1 = copy %0
  %2 = copy n
  %3 = const "1"
  %4 = binary %2 == %3
  if %4 b1 b2
b1:
  %5 = const "one"
  %1 = copy %5
  jump b3
b2:
  %6 = call method g on this:p.A ()
  s = copy %6
  %7 = copy s
  %1 = copy %7
  jump b3
b3:
  %8 = copy %1
  return %8
`},
	{"pattern of instanceof", "p/A.java", `
package p;
class A {
  int f(Object o) {
    if (o instanceof String s && s.length() > 1) { return s.length(); }
    return 0;
  }
}
`, `
class p.A
method p.A.f(this, o java.lang.Object)
b0:
  %0 = copy o
  %1 = typetest java.lang.String %0
  %2 = cast java.lang.String %0
  s = copy %2
  if %1 b1 b3
b1:
  %3 = copy s
  %4 = call method length on %3:java.lang.String ()
  %5 = const "1"
  %6 = binary %4 > %5
  if %6 b2 b3
b2:
  %7 = copy s
  %8 = call method length on %7:java.lang.String ()
  return %8
b3:
  %9 = const "0"
  return %9
`},
	{"lambda and method reference", "p/A.java", `
package p;
class A {
  void f(java.util.List<String> l) {
    l.forEach(x -> use(x));
    l.forEach(this::use);
  }
  void use(String s) {}
}
`, `
class p.A
method p.A.f(this, l java.util.List)
b0:
  %0 = copy l
  %1 = closure #2 p.A.f
  %2 = call method forEach on %0:java.util.List (%1)
  %3 = copy l
  %4 = copy this
  %5 = field %4.use
  %6 = call method forEach on %3:java.util.List (%5)
  return
lambda p.A.f#2(x) captures this
b0:
  %0 = copy x
  %1 = call method use p.A.use on this:p.A (%0)
  return %1
method p.A.use(this, s java.lang.String)
b0:
  return
`},
	{"anonymous class", "p/A.java", `
package p;
class A {
  void f(String s) {
    run(new Runnable() { public void run() { use(s); } });
  }
}
`, `
class p.A
class p.A$2 : java.lang.Runnable
method p.A.f(this, s java.lang.String)
b0:
  %0 = call new Runnable p.A$2 ()
  %1 = call method run on this:p.A (%0)
  return
method p.A$2.run(this) captures s
b0:
  %0 = copy s
  %1 = call method use on this:p.A$2 (%0)
  return
`},
	{"inner class uses the outer object", "p/A.java", `
package p;
class A {
  String s;
  class B { String g() { return s; } }
}
`, `
class p.A
class p.A.B
method p.A.B.g(this)
b0:
  %0 = global p.A.s
  return %0
`},
	{"compound assignment and increment", "p/A.java", `
package p;
class A {
  int[] a;
  void f(int i) { a[i] += 2; i++; --i; }
}
`, `
class p.A
method p.A.f(this, i int)
b0:
  %0 = field this.a
  %1 = copy i
  %2 = index %0[%1]
  %3 = const "2"
  %4 = binary %2 + %3
  setindex %0[%1] = %4
  %5 = copy i
  %6 = const "1"
  %7 = binary %5 + %6
  i = copy %7
  %8 = copy i
  %9 = const "1"
  %10 = binary %8 - %9
  i = copy %10
  return
`},
	{"conditional and short circuit", "p/A.java", `
package p;
class A {
  String f(boolean a, boolean b, String s) { return a && !b ? s : null; }
}
`, `
class p.A
method p.A.f(this, a boolean, b boolean, s java.lang.String)
b0:
  %0 = copy a
  if %0 b1 b3
b1:
  %1 = copy b
  if %1 b3 b2
b2:
  %2 = copy s
  %3 = copy %2
  jump b4
b3:
  %4 = const "null"
  %3 = copy %4
  jump b4
b4:
  %5 = copy %3
  return %5
`},
	{"loops", "p/A.java", `
package p;
class A {
  void f(String[] l) {
    for (int i = 0; i < l.length; i++) { use(l[i]); }
    for (String s : l) { use(s); }
    do { g(); } while (h());
    while (h()) { if (g()) break; else continue; }
  }
}
`, `
class p.A
method p.A.f(this, l)
b0:
  %0 = const "0"
  i = copy %0
  jump b1
b1:
  %1 = copy i
  %2 = copy l
  %3 = field %2.length
  %4 = binary %1 < %3
  if %4 b2 b4
b2:
  %5 = copy l
  %6 = copy i
  %7 = index %5[%6]
  %8 = call method use on this:p.A (%7)
  jump b3
b3:
  %9 = copy i
  %10 = const "1"
  %11 = binary %9 + %10
  i = copy %11
  jump b1
b4:
  %12 = copy l
  %13 = iterate values %12
  jump b5
b5:
  %14 = hasnext %13
  if %14 b6 b7
b6:
  %15 = next %13
  s = copy %15
  %16 = copy s
  %17 = call method use on this:p.A (%16)
  jump b5
b7:
  %18 = call method g on this:p.A ()
  jump b8
b8:
  %19 = call method h on this:p.A ()
  if %19 b7 b9
b9:
  %20 = call method h on this:p.A ()
  if %20 b10 b11
b10:
  %21 = call method g on this:p.A ()
  if %21 b11 b9
b11:
  return
`},
	{"assert and throw", "p/A.java", `
package p;
class A {
  void f(int n) {
    assert n > 0 : "small";
    throw new IllegalStateException("x");
  }
}
`, `
class p.A
method p.A.f(this, n int)
b0:
  %0 = copy n
  %1 = const "0"
  %2 = binary %0 > %1
  if %2 b1 b2
b1:
  %3 = const "x"
  %4 = call new IllegalStateException java.lang.IllegalStateException (%3)
  throw %4
b2:
  %5 = const "small"
  throw %5
`},
	{"static initializer and enum", "p/A.java", `
package p;
enum A {
  X("x"), Y("y");
  static { init(); }
  final String s;
  A(String s) { this.s = s; }
}
`, `
enum p.A
top p#0()
b0:
  %0 = call init <static> p.A.<static> #1 ()
  return
static p.A.<static>() static
b0:
  %0 = const "x"
  %1 = call new A p.A (%0)
  setglobal p.A.X = %1
  %2 = const "y"
  %3 = call new A p.A (%2)
  setglobal p.A.Y = %3
  %4 = call method init:p.A ()
  return
constructor p.A.A(this, s java.lang.String)
b0:
  %0 = copy s
  %1 = copy this
  setfield %1.s = %0
  return
`},
}
