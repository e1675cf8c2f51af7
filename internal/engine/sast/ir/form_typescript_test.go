package ir_test

import "testing"

// TestTypeScriptForms lowers what TypeScript adds.
func TestTypeScriptForms(t *testing.T) { checkForms(t, typescriptForms) }

var typescriptForms = []formCase{
	{"parameter properties and types", "a.ts", `
class A {
  constructor(private db: Db, readonly n: number) {}
  run(q: string): string { return this.db.query(q) as string; }
}
`, `
class a.A
constructor a.A.constructor(this, db Db, n number)
b0:
  setfield this.db = db
  setfield this.n = n
  return
method a.A.run(this, q string)
b0:
  %0 = copy this
  %1 = field %0.db
  %2 = copy q
  %3 = call method query on %1 (%2)
  %4 = cast string %3
  return %4
`},
	{"generator with return type", "a.ts", `
function* f(xs: string[]): Iterable<string> {
  for (const x of xs) yield x;
  yield* g();
}
`, `
function a.f(xs) generator
b0:
  %0 = copy xs
  %1 = iterate values %0
  jump b1
b1:
  %2 = hasnext %1
  if %2 b2 b3
b2:
  %3 = next %1
  x = copy %3
  %4 = copy x
  %5 = yield %4
  jump b1
b3:
  %6 = global g
  %7 = call g g value %6 ()
  %8 = yield from %7
  return
`},
}
