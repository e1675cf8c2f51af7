package ir_test

import "testing"

// TestGoForms lowers results, deferred calls, channels, pointers and copies of structs.
func TestGoForms(t *testing.T) { checkForms(t, goForms) }

var goForms = []formCase{
	{"short declaration and return", "a.go", `
package a
func f(p string) string {
	q := p + "x"
	return q
}
`, `
function f(p string)
b0:
  %0 = copy p
  %1 = const "x"
  %2 = binary %0 + %1
  q = copy %2
  %3 = copy q
  return %3
`},
	{"several results", "a.go", `
package a
func g() (int, error) { return 1, nil }
func f() int {
	n, err := g()
	if err != nil {
		return 0
	}
	return n
}
`, `
function g()
b0:
  %0 = new ()
  %1 = const "1"
  setindex %0["0"] = %1
  %2 = const "nil"
  setindex %0["1"] = %2
  return %0
function f()
b0:
  %0 = call g g #1 ()
  %1 = index %0["0"]
  n = copy %1
  %2 = index %0["1"]
  err = copy %2
  %3 = copy err
  %4 = const "nil"
  %5 = binary %3 != %4
  if %5 b1 b2
b1:
  %6 = const "0"
  return %6
b2:
  %7 = copy n
  return %7
`},
	{"named results and a bare return", "a.go", `
package a
func f(x string) (out string, err error) {
	out = x
	return
}
`, `
function f(x string)
b0:
  %0 = const "zero"
  out = copy %0
  %1 = const "zero"
  err = copy %1
  %2 = copy x
  out = copy %2
  %3 = new ()
  %4 = copy out
  setindex %3["0"] = %4
  %5 = copy err
  setindex %3["1"] = %5
  return %3
`},
	{"deferred call runs on the way out", "a.go", `
package a
func f(c Closer) int {
	defer c.Close()
	return 1
}
`, `
function f(c Closer)
b0:
  jump b1
b1:
  %0 = copy c
  %1 = const "1"
  <result> = copy %1
  jump b2
b2:
  %2 = catch <exception>
  %3 = call method Close on %0:Closer ()
  dispatch b3 b4
b3:
  %4 = copy <exception>
  throw %4
b4:
  return <result>
`},
	{"goroutine sees what follows", "a.go", `
package a
func f(c chan int) {
	go send(c)
	c <- 1
}
`, `
function f(c)
b0:
  %0 = global send
  %1 = copy c
  %2 = call send send value %0 (%1)
  %3 = copy c
  %4 = const "1"
  setindex %3[] = %4
  %5 = call send send value %0 (%1)
  return
`},
	{"receive from a channel", "a.go", `
package a
func f(c chan string) string {
	v := <-c
	return v
}
`, `
function f(c)
b0:
  %0 = copy c
  %1 = index %0[]
  v = copy %1
  %2 = copy v
  return %2
`},
	{"range over a map", "a.go", `
package a
func f(m map[string]string) {
	for k, v := range m {
		use(k, v)
	}
}
`, `
function f(m)
b0:
  %0 = copy m
  %1 = iterate entries %0
  jump b1
b1:
  %2 = hasnext %1
  if %2 b2 b3
b2:
  %3 = next %1
  %4 = index %3["0"]
  k = copy %4
  %5 = index %3["1"]
  v = copy %5
  %6 = global use
  %7 = copy k
  %8 = copy v
  %9 = call use use value %6 (%7, %8)
  jump b1
b3:
  return
`},
	{"range over a channel", "a.go", `
package a
func f(c chan string) {
	for v := range c {
		use(v)
	}
}
`, `
function f(c)
b0:
  %0 = copy c
  %1 = iterate values %0
  jump b1
b1:
  %2 = hasnext %1
  if %2 b2 b3
b2:
  %3 = next %1
  v = copy %3
  %4 = global use
  %5 = copy v
  %6 = call use use value %4 (%5)
  jump b1
b3:
  return
`},
	{"comma ok of a map", "a.go", `
package a
func f(m map[string]string, k string) string {
	v, ok := m[k]
	if !ok {
		return ""
	}
	return v
}
`, `
function f(m, k string)
b0:
  %0 = copy m
  %1 = copy k
  %2 = index %0[%1]
  v = copy %2
  %3 = unary found %2
  ok = copy %3
  %4 = copy ok
  if %4 b1 b2
b1:
  %5 = copy v
  return %5
b2:
  %6 = const ""
  return %6
`},
	{"conversion is a cast", "a.go", `
package a
func f(b []byte) string { return string(b) }
`, `
function f(b)
b0:
  %0 = copy b
  %1 = cast string %0
  return %1
`},
	{"method expression", "a.go", `
package a
type T struct{}
func (t T) m(x int) int { return x }
func f(t T) int { return T.m(t, 1) }
`, `
struct T
method T.m(t, x int)
b0:
  %0 = copy x
  return %0
function f(t T)
b0:
  %0 = copy t
  %1 = const "1"
  %2 = call method m T.m on %0:T (%1)
  return %2
`},
	{"struct literal with a nested struct", "a.go", `
package a
type In struct{ s string }
type Out struct {
	in In
	n  int
}
func f() Out { return Out{n: 1} }
`, `
struct In
struct Out
function f()
b0:
  %0 = new Out
  %1 = const "1"
  setfield %0.n = %1
  %2 = new In
  setfield %0.in = %2
  return %0
`},
	{"copy of a struct that is changed", "a.go", `
package a
type T struct{ s string }
func f(t T) T {
	u := t
	u.s = "x"
	return u
}
`, `
struct T
function f(t T)
b0:
  %0 = copy t
  %1 = new T
  %2 = field %0.s
  setfield %1.s = %2
  u = copy %1
  %3 = const "x"
  %4 = copy u
  setfield %4.s = %3
  %5 = copy u
  return %5
`},
	{"address of a plain variable", "a.go", `
package a
func f() string {
	var s string
	scan(&s)
	return s
}
`, `
function f()
b0:
  %0 = const "null"
  s = copy %0
  %1 = global scan
  %2 = copy s
  %3 = copy &= %2
  %4 = call scan scan value %1 (%3)
  %5 = copy * %3
  s = copy %5
  %6 = copy s
  return %6
`},
	{"pointer to a variable", "a.go", `
package a
func f() string {
	s := "a"
	p := &s
	*p = "b"
	return s
}
`, `
function f()
b0:
  %0 = const "a"
  s = copy %0
  %1 = copy s
  %2 = copy & %1
  p = copy %2
  %3 = const "b"
  s = copy %3
  %4 = copy s
  return %4
`},
	{"parameter that points to a plain value", "a.go", `
package a
func set(p *string, v string) { *p = v }
`, `
function set(p string, v string)
b0:
  %0 = copy v
  %1 = copy p
  setfield %1.= = %0
  return
`},
	{"panic and recover", "a.go", `
package a
func f() {
	defer func() { recover() }()
	panic("x")
}
`, `
function f()
b0:
  jump b1
b1:
  %0 = closure #2 f
  %1 = const unknown "panic"
  %2 = const "x"
  <exception> = copy %2
  throw %2 b2
b2:
  %3 = catch <exception>
  %4 = call  value %0 ()
  dispatch b3
b3:
  %5 = copy <exception>
  throw %5
lambda f#2() captures <exception>
b0:
  %0 = catch <exception>
  return
`},
	{"type switch", "a.go", `
package a
func f(v any) string {
	switch x := v.(type) {
	case string:
		return x
	}
	return ""
}
`, `
function f(v any)
b0:
  %0 = copy v
  x = copy %0
  %1 = copy x
  %2 = typetest string %1
  %3 = cast string %1
  x.2 = copy %3
  if %2 b1 b2
b1:
  %4 = copy x.2
  return %4
b2:
  %5 = const ""
  return %5
`},
	{"fallthrough", "a.go", `
package a
func f(n int) {
	switch n {
	case 1:
		a()
		fallthrough
	case 2:
		b()
	}
}
`, `
function f(n int)
b0:
  %0 = copy n
  %1 = const "1"
  %2 = binary %0 == %1
  if %2 b1 b2
b1:
  %3 = global a
  %4 = call a a value %3 ()
  jump b3
b2:
  %5 = const "2"
  %6 = binary %0 == %5
  if %6 b3 b4
b3:
  %7 = global b
  %8 = call b b value %7 ()
  jump b4
b4:
  return
`},
	{"labelled break and continue", "a.go", `
package a
func f(n int) {
outer:
	for i := 0; i < n; i++ {
		for {
			if i == 1 {
				continue outer
			}
			break outer
		}
	}
}
`, `
function f(n int)
b0:
  jump b1
b1:
  %0 = const "0"
  i = copy %0
  jump b2
b2:
  %1 = copy i
  %2 = copy n
  %3 = binary %1 < %2
  if %3 b3 b5
b3:
  %4 = copy i
  %5 = const "1"
  %6 = binary %4 == %5
  if %6 b4 b5
b4:
  %7 = copy i
  %8 = const "1"
  %9 = binary %7 + %8
  i = copy %9
  jump b2
b5:
  return
`},
	{"goto", "a.go", `
package a
func f() {
	goto end
	a()
end:
	b()
}
`, `
function f()
b0:
  jump b1
b1:
  %0 = global b
  %1 = call b b value %0 ()
  jump b2
b2:
  return
`},
	{"closure captures a variable", "a.go", `
package a
func f(s string) func() string {
	return func() string { return s }
}
`, `
function f(s string)
b0:
  %0 = closure #2 f
  return %0
lambda f#2() captures s
b0:
  %0 = copy s
  return %0
`},
	{"new and make", "a.go", `
package a
type T struct{ s string }
func f() {
	t := new(T)
	m := make(map[string]int)
	l := make([]int, 3)
	use(t, m, l)
}
`, `
struct T
function f()
b0:
  %0 = new T
  t = copy %0
  %1 = new {}
  m = copy %1
  %2 = const "3"
  %3 = new []
  l = copy %3
  %4 = global use
  %5 = copy t
  %6 = copy m
  %7 = copy l
  %8 = call use use value %4 (%5, %6, %7)
  return
`},
}
