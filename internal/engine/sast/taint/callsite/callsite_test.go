package callsite_test

import (
	"testing"

	"merlon/internal/engine/sast/taint/tainttest"
)

// TestArguments pins which parameter takes which argument.
func TestArguments(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "by place", Top: `
def f(a, b):
    os.system(a)
    os.system(b) # want command`, Body: `
f("a", x)`},
		{Name: "by name", Top: `
def f(a, b):
    os.system(a)
    os.system(b) # want command`, Body: `
f(b=x, a="a")`},
		{Name: "the rest", Top: `
def f(a, *rest):
    os.system(a)
    os.system(rest[0]) # want command`, Body: `
f("a", x)`},
		{Name: "names without a parameter", Top: `
def f(a, **rest):
    os.system(a)
    os.system(rest["b"]) # want command`, Body: `
f("a", b=x)`},
		{Name: "a list that is spread", Top: `
def f(a, b):
    os.system(a)
    os.system(b) # want command`, Body: `
f(*["a", x])`},
		{Name: "a dictionary that is spread", Top: `
def f(a, b):
    os.system(a)
    os.system(b) # want command`, Body: `
f(**{"a": "a", "b": x})`},
		{Name: "a default", Top: `
def f(a, b="b"):
    os.system(b)`, Body: `
f(x)`},
		{Name: "the receiver is no argument", Top: `
class C:
    def f(self, a, b):
        os.system(a)
        os.system(b) # want command`, Body: `
C().f("a", x)`},
	})
}

// TestDispatch pins which functions a call may run.
func TestDispatch(t *testing.T) {
	tainttest.Run(t, tainttest.Servlet, []tainttest.Case{
		{Name: "a method of the object's class", Top: `
  static class A { void f(String s) throws Exception { } }
  static class B extends A { void f(String s) throws Exception { Runtime.getRuntime().exec(s); } } // want command`,
			Body: `
A a = new B();
a.f(x);`},
		{Name: "not that of a class beside it", Top: `
  static class A { void f(String s) throws Exception { } }
  static class B extends A { void f(String s) throws Exception { Runtime.getRuntime().exec(s); } }`, Body: `
A a = new A();
a.f(x);`},
		{Name: "every implementation of an interface", Top: `
  interface I { void f(String s) throws Exception; }
  static class B implements I { public void f(String s) throws Exception { Runtime.getRuntime().exec(s); } } // want command
  void g(I i, String s) throws Exception { i.f(s); }`, Body: `
g(new B(), x);`},
		{Name: "a method that is inherited", Top: `
  static class A { void f(String s) throws Exception { Runtime.getRuntime().exec(s); } } // want command
  static class B extends A { }`, Body: `
new B().f(x);`},
		{Name: "overloads differ by their number of parameters", Top: `
  void f(String s) { }
  void f(String s, int n) throws Exception { Runtime.getRuntime().exec(s); }`, Body: `
f(x);`},
		{Name: "a lambda", Top: `
  interface F { void call(String s) throws Exception; }
  void g(F f, String s) throws Exception { f.call(s); }`, Body: `
g(s -> Runtime.getRuntime().exec(s), x); // want command`},
		{Name: "a method reference", Top: `
  interface F { void call(String s) throws Exception; }
  void g(F f, String s) throws Exception { f.call(s); }
  static void h(String s) throws Exception { Runtime.getRuntime().exec(s); } // want command`, Body: `
g(App::h, x);`},
		{Name: "super", Top: `
  static class A { void f(String s) throws Exception { Runtime.getRuntime().exec(s); } } // want command
  static class B extends A { void f(String s) throws Exception { super.f(s); } }`, Body: `
new B().f(x);`},
	})
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "a function in a dictionary", Top: `
def f(a):
    os.system(a) # want command
def g(a):
    pass`, Body: `
{"f": f, "g": g}["f"](x)`},
		{Name: "a callable object", Top: `
class C:
    def __call__(self, a):
        os.system(a) # want command`, Body: `
C()(x)`},
		{Name: "a decorator of the program", Top: `
def d(f):
    def inner(a):
        return f(a)
    return inner
@d
def g(a):
    os.system(a) # want command`, Body: `
g(x)`},
		{Name: "a property", Top: `
class C:
    def __init__(self, a):
        self._a = a
    @property
    def a(self):
        return self._a`, Body: `
os.system(C(x).a) # want command`},
	})
}

// TestConditionsOfModels pins sinks that depend on other arguments of their call.
func TestConditionsOfModels(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "a shell runs a text", Top: "import subprocess", Body: `
subprocess.run(x, shell=True) # want command`},
		{Name: "without a shell a list is a program with arguments", Top: "import subprocess", Body: `
subprocess.run(["ls", x]) # want argument`},
	})
}
