package frame_test

import (
	"testing"

	"merlon/internal/engine/sast/taint/tainttest"
)

// TestFields pins that fields of an object are kept apart and that names share objects.
func TestFields(t *testing.T) {
	class := `
class C:
    def __init__(self, a, b="b"):
        self.a = a
        self.b = b
    def set(self, a):
        self.a = a
    def get(self):
        return self.a`
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "a field that was set", Top: class, Body: `
c = C(x)
os.system(c.a) # want command
os.system(c.b)`},
		{Name: "a field that was overwritten", Top: class, Body: `
c = C(x)
c.a = "a"
os.system(c.a)`},
		{Name: "a setter and a getter", Top: class, Body: `
c = C("a")
c.set(x)
os.system(c.get()) # want command`},
		{Name: "two names of one object", Top: class, Body: `
c = C("a")
d = c
d.a = x
os.system(c.a) # want command`},
		{Name: "two objects of one class", Top: class, Body: `
c = C("a")
d = C(x)
os.system(c.a)
os.system(d.a) # want command`},
		{Name: "an object in a field", Top: class, Body: `
c = C(C(x))
os.system(c.a.a) # want command
os.system(c.a.b)`},
		{Name: "an object in a list", Top: class, Body: `
for c in [C(x)]:
    os.system(c.get()) # want command`},
		{Name: "a function that changes its argument", Top: class + `
def fill(c, v):
    c.a = v`, Body: `
c = C("a")
fill(c, x)
os.system(c.a) # want command`},
		{Name: "a class variable", Top: `
class D:
    text = "a"`, Body: `
D.text = x
os.system(D.text) # want command`},
	})
}

// TestVariables pins what an assignment does to what a name held before.
func TestVariables(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "overwritten", Body: `
x = "a"
os.system(x)`},
		{Name: "overwritten on one way", Body: `
if request.method == "POST":
    x = "a"
os.system(x) # want command`},
		{Name: "overwritten on both ways", Body: `
if request.method == "POST":
    x = "a"
else:
    x = "b"
os.system(x)`},
		{Name: "set in a loop", Body: `
y = "a"
for i in range(3):
    os.system(y) # want command
    y = x`},
		{Name: "unpacked", Body: `
a, b = x, "b"
os.system(a) # want command
os.system(b)`},
		{Name: "unpacked with a rest", Body: `
a, *b = "a", x
os.system(a)
os.system(b[0]) # want command`},
		{Name: "exchanged", Body: `
a, b = "a", x
a, b = b, a
os.system(a) # want command
os.system(b)`},
		{Name: "added to", Body: `
y = "ls "
y += x
os.system(y) # want command`},
		{Name: "chosen by a condition", Body: `
os.system(x if request.method == "POST" else "a") # want command`},
		{Name: "the default of or", Body: `
os.system("a" and x or "b") # want command`},
		{Name: "deleted", Body: `
d = {"a": x}
del d["a"]
os.system(d.get("a", "b"))`},
	})
}

// TestClosures pins that a function shares the variables around it.
func TestClosures(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "a variable that is captured", Body: `
const f = () => exec(x) // want command
f()`},
		{Name: "a variable that a function sets", Body: `
let y = "a"
const set = () => { y = x }
set()
exec(y) // want command`},
		{Name: "a function that is returned", Body: `
const make = v => () => v
exec(make(x)()) // want command
exec(make("a")())`},
		{Name: "a function that is given", Top: `
const twice = (f, v) => f(f(v))`, Body: `
exec(twice(v => v + "a", x)) // want command`},
	})
}

// TestPointers pins that a pointer of Go shares what it points to.
func TestPointers(t *testing.T) {
	tainttest.Run(t, tainttest.Handler, []tainttest.Case{
		{Name: "a field through a pointer", Top: `
type T struct{ a, b string }
func fill(t *T, v string) { t.a = v }`, Body: `
var t T
fill(&t, x)
exec.Command("sh", "-c", t.a) // want argument command
exec.Command("sh", "-c", t.b)`},
		{Name: "a value through a pointer", Body: `
y := "a"
p := &y
*p = x
exec.Command("sh", "-c", y) // want argument command`},
		{Name: "a pointer to a text", Body: `
p := &x
exec.Command("sh", "-c", *p) // want argument command`},
	})
}
