package survey_test

import (
	"testing"

	"merlon/internal/engine/sast/taint/tainttest"
)

// TestConstants pins which globals count as constants: those that nothing else sets.
func TestConstants(t *testing.T) {
	tainttest.Run(t, tainttest.Flask, []tainttest.Case{
		{Name: "a list that nothing changes", Top: `
ALLOWED = ["a", "b"]`, Body: `
if x in ALLOWED:
    os.system(x)`},
		{Name: "a list that the program sets again", Top: `
ALLOWED = ["a", "b"]
def add():
    global ALLOWED
    ALLOWED = [request.args["y"]]`, Body: `
add()
if x in ALLOWED:
    os.system(x) # want command`},
		{Name: "a dictionary that maps to constants", Top: `
COMMANDS = {"a": "ls", "b": "ps"}`, Body: `
os.system(COMMANDS[x])
os.system(COMMANDS.get(x, "ls"))`},
	})
}

// TestConstantExpressions pins that a regular expression of the module is known where it
// is used.
func TestConstantExpressions(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "a literal", Top: `
const NAME = /^[a-z]+$/`, Body: `
if (NAME.test(x)) exec(x)`},
		{Name: "a literal that admits a dangerous character", Top: `
const NAME = /^[a-z;]+$/`, Body: `
if (NAME.test(x)) exec(x) // want command`},
		{Name: "a text that is compiled", Top: `
const NAME = new RegExp("^[a-z]+$")`, Body: `
if (NAME.test(x)) exec(x)`},
		{Name: "a variable that is set again", Top: `
let NAME = /^[a-z]+$/
function loosen() { NAME = /a/ }`, Body: `
loosen()
if (NAME.test(x)) exec(x) // want command`},
	})
}

// TestPassedOn pins that a function of a library that wraps another one stays known.
func TestPassedOn(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "a promise of a function", Top: `
const { promisify } = require("util")
const run = promisify(require("child_process").exec)`, Body: `
await run(x) // want command`},
		{Name: "another name of a function", Top: `
const run = exec`, Body: `
run(x) // want command`},
		{Name: "a member of a module", Top: `
const child = require("child_process")`, Body: `
child.exec(x) // want command
child["exec"](x) // want command`},
	})
}

// TestPrototypes pins that methods of prototypes belong to objects.
func TestPrototypes(t *testing.T) {
	tainttest.Run(t, tainttest.Express, []tainttest.Case{
		{Name: "a method of a prototype", Top: `
function C(a) { this.a = a }
C.prototype.run = function () { exec(this.a) } // want command`, Body: `
new C(x).run()`},
		{Name: "a class that extends another", Top: `
class A { constructor(a) { this.a = a } }
class B extends A { run() { exec(this.a) } } // want command`, Body: `
new B(x).run()`},
	})
}
