const express = require('express');
const util = require('util');
const fs = require('fs');
const { exec } = require('child_process');
const EventEmitter = require('events');
const app = express();

app.get('/lists', (req, res) => {
  const a = ['x', req.query.a];
  const b = [...a, 'z'];
  exec(b[1]); // want command
  exec(b[0]);
  exec(b[2]);
  const [, second = 'y', ...rest] = [...a, req.query.b];
  exec(second); // want command
  exec(rest[0]); // want command
  exec([...a].reverse()[0]); // want command
  const r = ['x', req.query.a];
  r.reverse();
  exec(r[0]); // want command
  exec(r[1]);
  const s = ['a', req.query.a, 'c'];
  const cut = s.splice(1, 1);
  exec(cut[0]); // want command
  exec(s[1]);
  exec(a.sort()[0]); // want command
  exec([1].flatMap(() => [req.query.a])[0]); // want command
  for (const [k, v] of ['x', req.query.a].entries()) exec(v); // want command
  exec([req.query.a].concat('x')[0]); // want command
  exec(a.slice(1)[0]); // want command
  exec(['x', 'y', req.query.a].slice(0, 2)[1]);
  exec([[req.query.a]].flat()[0]); // want command
  exec(['q', req.query.a].at(-1)); // want command
  exec(['q', req.query.a].pop()); // want command
  exec([req.query.a, 'q'].shift()); // want command
  exec(a.find((x) => x)); // want command
  exec(a.findLast((x) => x)); // want command
  exec(a.filter((x) => x)[0]); // want command
  exec(a.reduce((acc, x) => acc + x, '')); // want command
  exec(a.reduceRight((acc, x) => acc + x)); // want command
  exec(new Array(2).fill(req.query.a)[0]); // want command
  exec(Array.from([req.query.a], (x) => x + '!')[0]); // want command
  exec(Array.from({ length: 1 }, () => req.query.a)[0]); // want command
  exec(Array.of('x', req.query.a)[1]); // want command
  exec(Array.of('x', req.query.a)[0]);
  exec(a.join(' ')); // want command
  exec(a.toString()); // want command
  exec(a.toSorted()[0]); // want command
  exec(a.with(0, req.query.b)[0]); // want command
  const un = []; un.unshift(req.query.a); exec(un[0]); // want command
  const cw = ['x', req.query.a]; cw.copyWithin(0, 1); exec(cw[0]); // want command
});

app.get('/objects', (req, res) => {
  const o = { a: req.query.a, b: 'x' };
  const { a, b, c = req.query.c } = o;
  exec(a); // want command
  exec(b);
  exec(c); // want command
  const p = { ...o, z: 'q' };
  exec(p.a); // want command
  exec(p.z);
  exec(p.b);
  const { b: bb, ...others } = o;
  exec(others.a); // want command
  exec(Object.assign({}, o).a); // want command
  exec(Object.assign({}, o).b);
  for (const [k, v] of Object.entries(o)) exec(v); // want command
  exec(Object.values(o)[0]); // want command
  exec(Object.keys({ [req.query.k]: 1 })[0]); // want command
  exec(Object.fromEntries([['k', req.query.a]]).k); // want command
  exec(Object.fromEntries(Object.entries(o)).a); // want command
  const d = {};
  Object.defineProperty(d, 'v', { value: req.query.a });
  exec(d.v); // want command
  Object.defineProperty(d, 'w', { get() { return req.query.a; } });
  exec(Object.freeze(o).a); // want command
  exec(Object.create(o).a); // want command
  exec(structuredClone(o).a); // want command
  exec(JSON.parse(JSON.stringify(o)).a); // want command
  exec(JSON.stringify({ q: req.query.a })); // want command
  exec(o?.a); // want command
  exec(o['a']); // want command
  const key = 'a';
  exec(o[key]); // want command
  exec(o['b']);
  Reflect.set(d, 'q', req.query.a);
  exec(d.q); // want command
  exec(Reflect.get(o, 'a')); // want command
  const px = new Proxy(o, {});
  const py = new Proxy({}, { get: (t, k) => req.query.a });
  const sym = Symbol('s');
  const so = { [sym]: req.query.a };
  exec(so[sym]); // want command
  delete o.a;
  exec(o.a);
});

class Box {
  #v = 'x';
  static shared;
  static { Box.ready = 'x'; }
  constructor(v) { this.#v = v; }
  get value() { return this.#v; }
  set value(v) { this.#v = v; }
  static of(v) { return new Box(v); }
  #hidden() { return this.#v; }
  show() { return this.#hidden(); }
  *[Symbol.iterator]() { yield this.#v; }
  toString() { return this.#v; }
  bound = () => this.#v;
}
class Sub extends Box {
  constructor(v) { super(v); this.own = 'x'; }
  show() { return super.show() + '!'; }
}

app.get('/classes', (req, res) => {
  const b = new Box(req.query.a);
  exec(b.value); // want command
  exec(b.show()); // want command
  exec(b.bound()); // want command
  exec(`${b}`); // want command
  const q = new Box('x');
  exec(q.value);
  q.value = req.query.a;
  exec(q.value); // want command
  exec(Box.of(req.query.a).value); // want command
  exec(new Sub(req.query.a).show()); // want command
  exec(new Sub(req.query.a).own);
  exec(Box.ready);
});

function* gen(v) { yield 'x'; yield v; }
async function* agen(v) { yield v; }
function* outer(v) { yield* gen(v); }

app.get('/generators', async (req, res) => {
  for (const x of gen(req.query.a)) exec(x); // want command
  for (const x of gen('x')) exec(x);
  for await (const x of agen(req.query.a)) exec(x); // want command
  exec(gen(req.query.a).next().value); // want command
  exec([...outer(req.query.a)][0]); // want command
  const [first] = gen(req.query.a);
  exec(first); // want command
});

function later(v) { return new Promise((resolve, reject) => resolve(v)); }
function failing(v) { return new Promise((resolve, reject) => reject(v)); }
function back(v, cb) { cb(null, v); }
const backAsync = util.promisify(back);
const sleepy = (v) => new Promise((r) => setTimeout(() => r(v), 10));

app.get('/promises', async (req, res) => {
  exec(await later(req.query.a)); // want command
  later(req.query.a).then((v) => exec(v)); // want command
  later('x').then((v) => exec(v));
  failing(req.query.a).catch((e) => exec(e)); // want command
  failing(req.query.a).then(() => {}, (e) => exec(e)); // want command
  back(req.query.a, (err, v) => exec(v)); // want command
  const [x, y] = await Promise.all([later('x'), later(req.query.a)]);
  exec(y); // want command
  exec(await Promise.race([later(req.query.a)])); // want command
  exec(await sleepy(req.query.a)); // want command
  Promise.reject(req.query.a).catch((e) => exec(e)); // want command
  Promise.resolve(req.query.a).then((v) => v + '!').then((v) => exec(v)); // want command
  Promise.resolve(req.query.a).finally(() => {}).then((v) => exec(v)); // want command
  later(req.query.a).then((v) => { throw v; }).catch((e) => exec(e)); // want command
  const { promise, resolve } = Promise.withResolvers();
  resolve(req.query.a);
  for (const r of await Promise.allSettled([later(req.query.a)])) exec(r.value); // want command
  process.nextTick((v) => exec(v), req.query.a); // want command
  setTimeout((v) => exec(v), 1, req.query.a); // want command
});

function tag(strings, ...values) { return values[0]; }
function all() { return arguments[0]; }
function sum(...args) { return args.join(' '); }
function self() { return this.v; }

app.get('/functions', (req, res) => {
  exec(String.raw`a ${req.query.a}`); // want command
  exec(all(req.query.a)); // want command
  exec(sum('x', req.query.a)); // want command
  exec(sum(...['x', req.query.a])); // want command
  exec(self.call({ v: req.query.a })); // want command
  exec(self.apply({ v: req.query.a }, [])); // want command
  exec(Reflect.apply(all, null, [req.query.a])); // want command
  const curry = (x) => (y) => x + y;
  exec(curry('x')(req.query.a)); // want command
  const compose = (f, g) => (x) => f(g(x));
  exec(compose((x) => x, (x) => x + '!')(req.query.a)); // want command
  (function () { exec(this.q); }).call({ q: req.query.a }); // want command
  const table = { run: (v) => exec(v), not: (v) => exec('x') }; // want command
  table[req.query.op](req.query.a);
  table.not(req.query.a);
  outer: for (;;) { for (;;) { exec(req.query.a); break outer; } } // want command
  let acc = ''; for (const c of req.query.a) acc += c; exec(acc); // want command
  let t = 'x'; t ||= req.query.a; exec(t);
  let n = null; n ??= req.query.a; exec(n); // want command
  const fns = []; fns.push((v) => exec(v)); fns.forEach((f) => f(req.query.a)); // want command
  exec((0, req.query.a)); // want command
  exec(req.query.a.replace(/x/g, (m) => m)); // want command
  exec('x'.replace('x', req.query.a)); // want command
  exec('x'.concat(req.query.a)); // want command
  exec(req.query.a.match(/(.*)/)[1]); // want command
  for (const m of req.query.a.matchAll(/(.*)/g)) exec(m[1]); // want command
  exec(/(.*)/.exec(req.query.a)[1]); // want command
  exec(req.query.a.split(',').map((s) => s.trim()).join(' ')); // want command
  exec(Buffer.from(req.query.a, 'base64').toString()); // want command
  exec(decodeURIComponent(req.query.a)); // want command
  exec(atob(req.query.a)); // want command
  exec(new URL(req.query.a).hostname); // want command
  exec(new URLSearchParams(req.query.a).get('x')); // want command
  exec(util.format('%s', req.query.a)); // want command
  exec('x'.padEnd(10, req.query.a)); // want command
  exec(new TextDecoder().decode(new TextEncoder().encode(req.query.a))); // want command
});

app.get('/collections', (req, res) => {
  const m = new Map([['a', req.query.a], ['b', 'x']]);
  exec(m.get('a')); // want command
  exec(m.get('b'));
  for (const [k, v] of m) exec(v); // want command
  for (const v of m.values()) exec(v); // want command
  m.forEach((v, k) => exec(v)); // want command
  exec([...m.values()][0]); // want command
  exec(Object.fromEntries(m).a); // want command
  m.delete('a'); exec(m.get('a'));
  const s = new Set([req.query.a]);
  for (const v of s) exec(v); // want command
  exec([...s][0]); // want command
  s.forEach((v) => exec(v)); // want command
  exec(Array.from(s)[0]); // want command
  s.clear();
  for (const v of s) exec(v);
  const w = new WeakMap(); const k = {}; w.set(k, req.query.a); exec(w.get(k)); // want command
  const mk = new Map(); mk.set(req.query.a, 1); for (const x of mk.keys()) exec(x); // want command
  const it = m.entries();
  const m2 = new Map(); m2.set('a', 'x').set('b', req.query.a); exec(m2.get('b')); // want command
  const grouped = Object.groupBy([req.query.a], (x) => 'g'); exec(grouped.g[0]); // want command
});

class Bus extends EventEmitter {}
app.get('/events', (req, res) => {
  const e = new EventEmitter();
  e.on('x', (v) => exec(v)); // want command
  e.emit('x', req.query.a);
  const bus = new Bus();
  bus.once('y', (v, w) => exec(w)); // want command
  bus.emit('y', 'x', req.query.a);
  let body = '';
  req.on('data', (chunk) => { body += chunk; });
  req.on('end', () => exec(body)); // want command
});

app.get('/errors', (req, res) => {
  try { throw new Error(req.query.a); } catch (e) { exec(e.message); } // want command
  try { throw { detail: req.query.a }; } catch ({ detail }) { exec(detail); } // want command
  const err = new Error('x', { cause: req.query.a }); exec(err.cause); // want command
  class Mine extends Error { constructor(m, d) { super(m); this.d = d; } }
  try { throw new Mine('x', req.query.a); } catch (e) { exec(e.d); } // want command
  try { throw new Mine(req.query.a, 'x'); } catch (e) { exec(e.message); } // want command
});

app.get('/dynamic', async (req, res) => {
  const { run } = await import('./other.mjs');
  run(req.query.a);
  const other = require('./common');
  other.go(req.query.a);
  new other.Klass(req.query.a).go();
});
const fsp = util.promisify(fs.readFile);

const bound = {
  run(v) { exec(v); }, // want command
  safe(v) { exec('ls'); },
  start(v) {
    const self = this;
    fs.stat('x', () => self.run.bind(self)(v));
    self.safe(v);
  },
};
app.get('/bound', (req, res) => bound.start.bind(bound)(req.query.a));

const cp = require('child_process');
const held = { child: cp, inline: require('child_process'), other: fs };
app.get('/held', (req, res) => {
  held.child.exec(req.query.a); // want command
  held.inline.exec(req.query.a); // want command
  held.other.exec(req.query.a);
  const local = { child: cp };
  local.child.exec(req.query.a); // want command
});
