package interpret_test

import (
	"testing"

	"merlon/internal/engine/sast/taint/tainttest"
)

// TestControlFlow pins that data takes the ways that the program can take.
func TestControlFlow(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "behind a return", Body: `
return "a"
os.system(x)`},
		{Name: "behind a call that ends the program", Body: `
os._exit(1)
os.system(x)`},
		{Name: "in a handler of exceptions", Body: `
try:
    raise ValueError(x)
except ValueError as e:
    os.system(str(e)) # want command`},
		{Name: "in finally", Body: `
try:
    y = x
finally:
    os.system(x) # want command`},
		{Name: "a loop that leaves", Body: `
while True:
    y = x
    break
os.system(y) # want command`},
		{Name: "a match", Body: `
match [x, "a"]:
    case [a, b]:
        os.system(a) # want command
        os.system(b)`},
		{Name: "with", Body: `
with open("a") as f:
    os.system(x) # want command`},
	})
}

// TestFunctions pins what comes out of functions of the program.
func TestFunctions(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "a result", Top: `
def f(a, b):
    return a`, Body: `
os.system(f(x, "a")) # want command
os.system(f("a", x))`},
		{Name: "one of two results", Top: `
def f(a):
    if len(a) > 3:
        return "a"
    return a`, Body: `
os.system(f(x)) # want command`},
		{Name: "several results", Top: `
def f(a):
    return "a", a`, Body: `
a, b = f(x)
os.system(a)
os.system(b) # want command`},
		{Name: "a constant that chooses a way", Top: `
def f(a, raw):
    return a if raw else "a"`, Body: `
os.system(f(x, True)) # want command
os.system(f(x, False))`},
		{Name: "a recursion", Top: `
def f(a, n):
    return a if n == 0 else f(a + "a", n - 1)`, Body: `
os.system(f(x, 3)) # want command`},
		{Name: "a generator", Top: `
def f(a):
    yield "a"
    yield a`, Body: `
for y in f(x):
    os.system(y) # want command`},
		{Name: "yield from", Top: `
def f(a):
    yield from [a]`, Body: `
for y in f(x):
    os.system(y) # want command`},
		{Name: "a global that another function reads", Top: `
last = "a"
def f():
    os.system(last) # want command`, Body: `
global last
last = x
f()`},
	})
}

// TestThrown pins that a handler gets what is thrown in its block, and nothing else.
func TestThrown(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "a text", Body: `
try { throw x } catch (e) { exec(e) } // want command`},
		{Name: "an error with a text", Body: `
try { throw new Error(x) } catch (e) { exec(e.message) } // want command`},
		{Name: "caught inside", Top: `
function f(v) { try { throw v } catch (e) { return "a" } }`, Body: `
try { exec(f(x)) } catch (e) { exec(e) }`},
		{Name: "the code behind a throw", Body: `
try { throw "a"; exec(x) } catch (e) { exec(e) }`},
	})
}

// TestGo pins what is Go's own: several results, defer, panic, channels, type switches.
func TestGo(t *testing.T) {
	tainttest.Run(t, tainttest.Handler, []tainttest.Case{
		{Name: "a result beside an error", Top: `
func f(s string) (string, error) { return s, nil }`, Body: `
y, err := f(x)
if err != nil { return }
run("ls")
_ = fmt.Sprint(strings.ToLower(y), strconv.Itoa(1))
w.Write([]byte(y)) // want html`},
		{Name: "a named result", Top: `
func f(s string) (out string) { out = s; return }`, Body: `
w.Write([]byte(f(x))) // want html`},
		{Name: "a deferred function", Body: `
defer func() { w.Write([]byte(x)) }() // want html`},
		{Name: "a channel", Body: `
c := make(chan string, 1)
c <- x
w.Write([]byte(<-c)) // want html`},
		{Name: "a type switch", Body: `
var v any = x
switch s := v.(type) {
case string:
	w.Write([]byte(s)) // want html
case int:
	w.Write([]byte(strconv.Itoa(s)))
}`},
		{Name: "a number is harmless", Body: `
n, _ := strconv.Atoi(x)
w.Write([]byte(strconv.Itoa(n)))`},
		{Name: "a range over a map", Body: `
for k, v := range map[string]string{"a": x} {
	w.Write([]byte(k))
	w.Write([]byte(v)) // want html
}`},
		{Name: "a format", Body: `
fmt.Fprintf(w, "a %s", x) // want html
fmt.Fprintf(w, "a %d", len(x))`},
	})
}
