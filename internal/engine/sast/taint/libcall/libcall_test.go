package libcall_test

import (
	"testing"

	"merlon/internal/engine/sast/taint/tainttest"
)

// TestPythonCollections pins what the operations of lists and dictionaries pass on.
func TestPythonCollections(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "an element of a list is known by its index", Body: `
items = []
items.append(x)
items.append("b")
os.system(items[0]) # want command
os.system(items[1])`},
		{Name: "pop gives the last element", Body: `
items = ["a"]
items.append(x)
os.system(items.pop()) # want command`},
		{Name: "extend adds the elements of another list", Body: `
items = ["a"]
items.extend([x])
os.system(items[1]) # want command`},
		{Name: "a loop gives every element", Body: `
for item in ["a", x]:
    os.system(item) # want command`},
		{Name: "a dictionary keeps keys apart", Body: `
d = {"a": x, "b": "c"}
os.system(d["a"]) # want command
os.system(d["b"])`},
		{Name: "get reads a key, or the default", Body: `
d = {"a": x}
os.system(d.get("a", "c")) # want command
os.system(d.get("b", "c"))`},
		{Name: "items gives pairs", Body: `
d = {"a": x}
for k, v in d.items():
    os.system(k)
    os.system(v) # want command`},
		{Name: "an assigned key replaces the value", Body: `
d = {"a": x}
d["a"] = "b"
os.system(d["a"])`},
		{Name: "update copies keys", Body: `
d = {}
d.update({"a": x})
os.system(d["a"]) # want command`},
		{Name: "sorted and reversed keep the elements", Body: `
os.system(sorted([x])[0]) # want command
os.system(list(reversed([x]))[0]) # want command`},
		{Name: "a comprehension passes its elements on", Body: `
items = [i + "a" for i in [x]]
os.system(items[0]) # want command`},
		{Name: "map calls the function with each element", Body: `
items = list(map(lambda i: i, [x]))
os.system(items[0]) # want command`},
	})
}

// TestPythonTexts pins what the operations of texts pass on.
func TestPythonTexts(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "join takes its elements", Body: `
os.system(" ".join(["ls", x])) # want command`},
		{Name: "format takes its arguments", Body: `
os.system("ls {}".format(x)) # want command
os.system("ls %s" % x) # want command
os.system(f"ls {x}") # want command`},
		{Name: "case and blanks change nothing", Body: `
os.system(x.strip().lower()) # want command`},
		{Name: "split gives parts", Body: `
os.system(x.split(",")[0]) # want command`},
		{Name: "replace keeps the rest", Body: `
os.system(x.replace("a", "b")) # want command`},
		{Name: "the length is a number", Body: `
os.system("ls " + str(len(x)))`},
		{Name: "a number holds no command", Body: `
os.system("ls " + str(int(x)))`},
		{Name: "a comparison holds no command", Body: `
os.system("ls " + str(x == "a"))`},
		{Name: "encoding and decoding keep the text", Body: `
os.system(x.encode().decode()) # want command`},
		{Name: "a group of a match is part of the text", Body: `
m = re.match("a(.*)", x)
os.system(m.group(1)) # want command`},
	})
}

// TestJavaScriptCollections pins what the operations of arrays and objects pass on.
func TestJavaScriptCollections(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "push and index", Body: `
const a = []
a.push(x)
a.push("b")
exec(a[0]) // want command
exec(a[1])`},
		{Name: "map, filter and join", Body: `
exec([x].map(i => "a" + i).filter(i => i).join(" ")) // want command`},
		{Name: "forEach calls with the elements", Body: `
[x].forEach(i => exec(i)) // want command`},
		{Name: "reduce passes the accumulator on", Body: `
exec([x, "b"].reduce((a, b) => a + b, "")) // want command`},
		{Name: "spread copies", Body: `
exec([...["a", x]][1]) // want command
exec({...{a: x}}.a) // want command`},
		{Name: "Object.assign copies", Body: `
exec(Object.assign({}, {a: x}).a) // want command`},
		{Name: "Object.keys gives keys, values the values", Body: `
const o = {a: x}
exec(Object.keys(o)[0])
exec(Object.values(o)[0]) // want command`},
		{Name: "a Map keeps keys apart", Body: `
const m = new Map()
m.set("a", x)
m.set("b", "c")
exec(m.get("a")) // want command
exec(m.get("b"))`},
		{Name: "JSON keeps what is in it", Body: `
exec(JSON.parse(JSON.stringify({a: x})).a) // want command`},
		{Name: "concat and slice", Body: `
exec(["a"].concat([x])[1]) // want command
exec([x, "b"].slice(0, 1)[0]) // want command`},
	})
}

// TestPromises pins that data waits in a promise until it is awaited.
func TestPromises(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "await of a resolved promise", Body: `
exec(await Promise.resolve(x)) // want command`},
		{Name: "then is called with the value", Body: `
Promise.resolve(x).then(v => exec(v)) // want command`},
		{Name: "then returns a promise of the result", Body: `
exec(await Promise.resolve(x).then(v => v + "a")) // want command`},
		{Name: "the executor resolves", Body: `
exec(await new Promise((resolve, reject) => resolve(x))) // want command`},
		{Name: "catch is called with what was rejected", Body: `
Promise.reject(x).catch(e => exec(e)) // want command`},
		{Name: "all gives a list", Body: `
const [a, b] = await Promise.all(["a", Promise.resolve(x)])
exec(a)
exec(b) // want command`},
		{Name: "an async function returns a promise", Top: `
async function f(v) { return v }`, Body: `
exec(await f(x)) // want command
exec(await f("a"))`},
	})
}

// TestUnknownCalls pins what a function that no model knows does: what goes in comes out.
func TestUnknownCalls(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "an argument comes out", Top: "import unknownlib", Body: `
os.system(unknownlib.f(x)) # want command
os.system(unknownlib.f("a"))`},
		{Name: "the receiver comes out", Top: "import unknownlib", Body: `
os.system(unknownlib.C(x).text()) # want command`},
		{Name: "a setter changes its receiver", Top: "import unknownlib", Body: `
c = unknownlib.C()
c.set_name(x)
os.system(c.name()) # want command`},
		{Name: "another method does not", Top: "import unknownlib", Body: `
c = unknownlib.C()
c.check(x)
os.system(c.name())`},
		{Name: "a statement with values beside it", Top: "import unknownlib", Body: `
os.system(unknownlib.ask("SELECT a FROM b WHERE c = ?", x))`},
		{Name: "a data class keeps its fields", Top: `
from dataclasses import dataclass
@dataclass
class D:
    a: str
    b: str`, Body: `
d = D(x, "c")
os.system(d.a) # want command
os.system(d.b)`},
	})
	tainttest.Run(t, tainttest.Servlet, []tainttest.Case{
		{Name: "a generated accessor reads its field", Top: `
  record R(String a, String b) {}`, Body: `
R r = new R(x, "c");
Runtime.getRuntime().exec(r.a()); // want command
Runtime.getRuntime().exec(r.b());`},
		{Name: "a value of an enumeration is the program's own", Top: `
  enum E { A, B }`, Body: `
run(E.valueOf(x).name());`},
	})
}

// TestJavaLibrary pins collections and builders of Java.
func TestJavaLibrary(t *testing.T) {
	tainttest.Run(t, tainttest.Servlet, []tainttest.Case{
		{Name: "a list", Body: `
List<String> a = new ArrayList<>();
a.add(x);
a.add("b");
Runtime.getRuntime().exec(a.get(0)); // want command
Runtime.getRuntime().exec(a.get(1));`},
		{Name: "a map", Body: `
Map<String, String> m = new HashMap<>();
m.put("a", x);
m.put("b", "c");
Runtime.getRuntime().exec(m.get("a")); // want command
Runtime.getRuntime().exec(m.get("b"));`},
		{Name: "a builder", Body: `
StringBuilder b = new StringBuilder("ls ");
b.append(x);
Runtime.getRuntime().exec(b.toString()); // want command`},
		{Name: "a number", Body: `
Runtime.getRuntime().exec("ls " + Integer.parseInt(x));`},
		{Name: "an optional", Body: `
Runtime.getRuntime().exec(Optional.of(x).orElse("a")); // want command`},
		{Name: "a list of given elements", Body: `
Runtime.getRuntime().exec(List.of("a", x).get(1)); // want command`},
	})
}
