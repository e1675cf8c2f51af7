package guard_test

import (
	"testing"

	"merlon/internal/engine/sast/taint/tainttest"
)

// TestChecks pins which checks make data harmless, on the branch where they hold.
func TestChecks(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "one of some constants", Body: `
if x in ("a", "b"):
    os.system(x)
else:
    os.system(x) # want command`},
		{Name: "none of some constants ends the request", Body: `
if x not in ["a", "b"]:
    return "no"
os.system(x)`},
		{Name: "a list that may hold other texts", Body: `
allowed = ["a"]
allowed.append(request.args["y"])
if x in allowed:
    os.system(x) # want command`},
		{Name: "equal to a constant", Body: `
if x == "a":
    os.system(x)
os.system(x) # want command`},
		{Name: "a whole match of harmless characters", Body: `
if re.fullmatch("[a-z0-9]+", x):
    os.system(x)`},
		{Name: "a match of the beginning alone", Body: `
if re.match("[a-z]+", x):
    os.system(x) # want command`},
		{Name: "both of two conditions", Body: `
if len(x) < 9 and x in ("a", "b"):
    os.system(x)`},
		{Name: "one of two conditions", Body: `
if len(x) < 9 or x in ("a", "b"):
    os.system(x) # want command`},
		{Name: "a key of a constant dictionary", Body: `
d = {"a": "ls", "b": "ps"}
if x in d:
    os.system(x)
    os.system(d[x])`},
		{Name: "a check of another variable", Body: `
y = request.args["y"]
if y in ("a", "b"):
    os.system(x) # want command`},
		{Name: "a check of what is then changed", Body: `
if x in ("a", "b"):
    x = request.args["y"]
    os.system(x) # want command`},
		{Name: "a check in a function", Top: `
def is_allowed(v):
    return v in ("a", "b")`, Body: `
if is_allowed(x):
    os.system(x)`},
		{Name: "a check that throws", Top: `
def check(v):
    if v not in ("a", "b"):
        raise ValueError()`, Body: `
check(x)
os.system(x)`},
	})
}

// TestPathChecks pins checks of where a path leads.
func TestPathChecks(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "a canonical path below a folder", Body: `
p = os.path.realpath("/data/" + x)
if not p.startswith("/data/"):
    return "no"
open(p)`},
		{Name: "a path that is not canonical", Body: `
p = "/data/" + x
if not p.startswith("/data/"):
    return "no"
open(p) # want path`},
		{Name: "the last part of a path", Body: `
open("/data/" + os.path.basename(x))`},
		{Name: "no step up is in it", Body: `
if ".." in x or x.startswith("/"):
    return "no"
open("/data/" + x)`},
	})
}

// TestSwitches pins that a case of constants makes its value harmless.
func TestSwitches(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "a case of a constant", Body: `
switch (x) {
  case "a": exec(x); break
  default: exec(x) // want command
}`},
		{Name: "a type check", Body: `
if (typeof x === "number") exec("ls " + x)
else exec("ls " + x) // want command`},
		{Name: "an early return", Body: `
if (!["a", "b"].includes(x)) return
exec(x)`},
		{Name: "a set of constants", Top: `
const allowed = new Set(["a", "b"])`, Body: `
if (allowed.has(x)) exec(x)`},
		{Name: "an expression without anchors", Body: `
if (/[a-z]+/.test(x)) exec(x) // want command`},
		{Name: "an expression with anchors", Body: `
if (/^[a-z]+$/.test(x)) exec(x)`},
	})
}
