import asyncio
import contextlib
import copy
import dataclasses
import functools
import io
import itertools
import json
import operator
import os
import queue
import threading
import collections
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple
from flask import Flask, request

app = Flask(__name__)


def a():
    return request.args.get("a")


def gen(v):
    yield "x"
    yield v


def delegated(v):
    yield from gen(v)


@app.route("/generators")
def generators():
    for x in gen(a()):
        os.system(x)  # want command
    for x in gen("x"):
        os.system(x)
    os.system(next(gen(a())))  # want command
    for x in delegated(a()):
        os.system(x)  # want command
    os.system("".join(x for x in [a()]))  # want command
    os.system([x for x in [a()]][0])  # want command
    os.system({k: v for k, v in [("k", a())]}["k"])  # want command
    os.system(list({x for x in [a()]})[0])  # want command
    first, *rest = ["x", a(), "y"]
    os.system(first)
    os.system(rest[0])  # want command
    g = gen(a())
    g.send(None)
    for i, x in enumerate([a()]):
        os.system(x)  # want command
    for x, y in zip(["x"], [a()]):
        os.system(y)  # want command
        os.system(x)
    for x in itertools.chain(["x"], [a()]):
        os.system(x)  # want command
    for x in map(lambda s: s + "!", [a()]):
        os.system(x)  # want command
    for x in filter(None, [a()]):
        os.system(x)  # want command
    for x in sorted([a()]):
        os.system(x)  # want command
    for x in reversed([a()]):
        os.system(x)  # want command
    os.system(functools.reduce(lambda p, q: p + q, ["x", a()]))  # want command


def loud(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner


def constant(f):
    def inner(*args):
        return "x"
    return inner


def with_prefix(p):
    def deco(f):
        def inner(v):
            return p + f(v)
        return inner
    return deco


class Counted:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*args)


@loud
def same(v):
    return v


@constant
def silent(v):
    return v


@with_prefix("x")
def prefixed(v):
    return v


@Counted
def counted(v):
    return v


@functools.lru_cache(maxsize=None)
def cached(v):
    return v


@app.route("/decorators")
def decorators():
    os.system(same(a()))  # want command
    os.system(prefixed(a()))  # want command
    os.system(counted(a()))  # want command
    os.system(cached(a()))  # want command


class Manager:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v

    def __exit__(self, *args):
        pass


@contextlib.contextmanager
def managed(v):
    yield v


@app.route("/contexts")
def contexts():
    with Manager(a()) as m:
        os.system(m)  # want command
    with managed(a()) as m:
        os.system(m)  # want command
    with managed("x") as m, Manager("y") as n:
        os.system(m)
        os.system(n)


@dataclass
class Data:
    name: str
    other: str = "x"
    tags: list = field(default_factory=list)


@dataclass
class Post:
    name: str
    full: str = field(init=False)

    def __post_init__(self):
        self.full = "x" + self.name


class Named(NamedTuple):
    one: str
    two: str


Point = collections.namedtuple("Point", ["x", "y"])


class Prop:
    def __init__(self, v):
        self._v = v

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, x):
        self._v = x

    @functools.cached_property
    def w(self):
        return self._v

    @staticmethod
    def st(v):
        return v

    @classmethod
    def make(cls, v):
        return cls(v)

    def __getitem__(self, k):
        return self._v

    def __call__(self, z):
        return self._v

    def __str__(self):
        return self._v

    def __add__(self, other):
        return self._v + other

    def __iter__(self):
        return iter([self._v])

    def __getattr__(self, name):
        return self._v

    def __contains__(self, x):
        return True


class Descriptor:
    def __get__(self, obj, owner=None):
        return obj._d

    def __set__(self, obj, v):
        obj._d = v


class Described:
    d = Descriptor()


class Meta(type):
    def __call__(cls, v):
        o = super().__call__()
        o.v = v
        return o


class Made(metaclass=Meta):
    pass


class Slots:
    __slots__ = ("v",)


@app.route("/classes")
def classes():
    d = Data(a())
    os.system(d.name)  # want command
    os.system(Data(name=a()).name)  # want command
    os.system(Data("x", a()).other)  # want command
    os.system(dataclasses.asdict(d)["name"])  # want command
    os.system(dataclasses.replace(d, other=a()).other)  # want command
    os.system(Post(a()).full)  # want command
    os.system(Named("x", a()).two)  # want command
    os.system(Point("x", a()).y)  # want command
    p = Prop(a())
    os.system(p.v)  # want command
    os.system(p.w)  # want command
    q = Prop("x")
    os.system(q.v)
    q.v = a()
    os.system(q.v)  # want command
    os.system(Prop.st(a()))  # want command
    os.system(p["k"])  # want command
    os.system(p("z"))  # want command
    os.system(str(p))  # want command
    os.system(f"{p}")  # want command
    os.system(p + "x")  # want command
    for x in p:
        os.system(x)  # want command
    os.system(p.missing)  # want command
    e = Described()
    e.d = a()
    os.system(e.d)  # want command
    os.system(Made(a()).v)  # want command
    s = Slots()
    setattr(s, "v", a())
    os.system(s.v)  # want command
    os.system(getattr(s, "v"))  # want command
    os.system(getattr(s, "nothing", a()))  # want command
    os.system(vars(s)["v"])  # want command
    f = getattr(p, "st")
    os.system(f(a()))  # want command
    os.system(operator.attrgetter("v")(s))  # want command


def star(*args, **kwargs):
    os.system(args[1])  # want command
    os.system(args[0])
    os.system(kwargs["k"])  # want command
    os.system(kwargs["z"])


def kwonly(x, *, y="x"):
    os.system(y)  # want command
    os.system(x)


@app.route("/functions")
def functions():
    star("x", a(), k=a(), z="x")
    kwonly("x", y=a())
    f()
    g = functools.partial(same, a())
    table = {"a": lambda v: v, "b": lambda v: "x"}
    os.system(table["a"](a()))  # want command
    os.system(table["b"](a()))
    os.system((lambda v=a(): v)())  # want command
    if (w := a()) is not None:
        os.system(w)  # want command
    opts = {"y": a()}
    kwonly("x", **opts)
    os.system("{}".format(a()))  # want command
    os.system("{x}".format(x=a()))  # want command
    os.system("%s" % a())  # want command
    os.system("%(x)s" % {"x": a()})  # want command
    os.system("{x}".format_map({"x": a()}))  # want command
    os.system(f"{a()!r:>10}")  # want command
    os.system(" ".join(["x", a()]))  # want command
    os.system(a().replace("x", "y").split(",")[0].strip())  # want command
    os.system("x" if a() == "1" else a())  # want command
    x, y = y2() if False else ("x", a())
    os.system(y)  # want command
    os.system(x)
    os.system(globals()["same"](a()))  # want command
    os.system(a() or "x")  # want command
    os.system("x" and a())  # want command
    os.system(bytes(a(), "utf8").decode())  # want command
    os.system(str(a().encode(), "utf8"))  # want command
    before, sep, after = a().partition(":")
    os.system(after)  # want command
    os.system(json.loads(json.dumps({"q": a()}))["q"])  # want command
    os.system(copy.deepcopy({"q": a()})["q"])  # want command
    buf = io.StringIO()
    buf.write(a())
    os.system(buf.getvalue())  # want command
    os.system("".join(reversed(a())))  # want command
    os.system(a()[::-1])  # want command
    os.system(string_template(a()))  # want command


def y2():
    return ("x", "x")


def string_template(v):
    import string
    return string.Template("x $v").substitute(v=v)


@app.route("/match")
def matched():
    match {"k": a(), "t": [a(), "x"]}:
        case {"k": v, "t": [h, *t]}:
            os.system(v)  # want command
            os.system(h)  # want command
    match a():
        case "x" as y:
        case str(z):
            os.system(z)  # want command
        case other:
            os.system(other)  # want command
    match Data(a()):
        case Data(name=n, other=o):
            os.system(n)  # want command


@app.route("/collections")
def collected():
    d = {"a": a(), "b": "x"}
    os.system(d["a"])  # want command
    os.system(d["b"])
    os.system(d.get("a", "x"))  # want command
    os.system(d.get("zz", a()))  # want command
    for k, v in d.items():
        os.system(v)  # want command
    os.system(list(d.values())[0])  # want command
    os.system({**d, "z": "x"}["a"])  # want command
    os.system({**d, "z": "x"}["z"])
    os.system(dict(q=a())["q"])  # want command
    os.system(dict([("q", a())])["q"])  # want command
    os.system(d.pop("a"))  # want command
    os.system(d.setdefault("m", a()))  # want command
    e = {}
    e.update({"q": a()})
    os.system(e["q"])  # want command
    e.update(r=a())
    os.system(e["r"])  # want command
    dd = collections.defaultdict(list)
    dd["k"].append(a())
    dq = collections.deque()
    dq.append(a())
    os.system(dq.popleft())  # want command
    od = collections.OrderedDict(q=a())
    os.system(od["q"])  # want command
    cm = collections.ChainMap({"q": a()})
    os.system(cm["q"])  # want command
    l = ["x"]
    l.append(a())
    os.system(l[1])  # want command
    os.system(l[0])
    os.system(l[-1])  # want command
    l.insert(0, a())
    os.system(l[0])  # want command
    m = ["x"]
    m.extend([a()])
    m += [a()]
    os.system(m[2])  # want command
    os.system((["x"] + [a()])[1])  # want command
    os.system(l[0:1][0])  # want command
    del d["b"]
    s = {"x"}
    s.add(a())
    for x in s:
        os.system(x)  # want command
    t = ("x", a())
    os.system(t[1])  # want command
    os.system(t[0])
    h = queue.Queue()
    h.put(a())
    os.system(h.get())  # want command
    n = [["x", a()]]
    for x, y in n:
        os.system(y)  # want command
        os.system(x)
    os.system(operator.itemgetter("q")({"q": a()}))  # want command


class Bad(Exception):
    def __init__(self, detail):
        super().__init__(detail)
        self.detail = detail


def fail(v):
    raise Bad(v)


@app.route("/exceptions")
def exceptions():
    try:
        raise ValueError(a())
    except ValueError as e:
        os.system(str(e))  # want command
        os.system(e.args[0])  # want command
    try:
        fail(a())
    except Bad as e:
    try:
        fail("x")
    except Bad as e:
        os.system(e.detail)
    with contextlib.suppress(Bad):
        fail(a())


async def acoro(v):
    return v


async def agen(v):
    yield v


class AMan:
    def __init__(self, v):
        self.v = v

    async def __aenter__(self):
        return self.v

    async def __aexit__(self, *args):
        pass


@app.route("/async")
async def asynced():
    os.system(await acoro(a()))  # want command
    async for x in agen(a()):
        os.system(x)  # want command
    async with AMan(a()) as m:
        os.system(m)  # want command
    r = await asyncio.gather(acoro(a()), acoro("x"))
    os.system(r[0])  # want command
    t = asyncio.create_task(acoro(a()))
    os.system(await t)  # want command
    os.system(asyncio.run(acoro(a())))  # want command
    os.system(await asyncio.to_thread(same, a()))  # want command
    os.system(await asyncio.wait_for(acoro(a()), 1))  # want command
    q = asyncio.Queue()
    await q.put(a())
    os.system(await q.get())  # want command
    os.system([x async for x in agen(a())][0])  # want command


def job(v):
    os.system(v)  # want command


def job2(v, w):
    os.system(w)  # want command


class Worker(threading.Thread):
    def __init__(self, v):
        super().__init__()
        self.v = v

    def run(self):


@app.route("/threads")
def threads():
    threading.Thread(target=job, args=(a(),)).start()
    with ThreadPoolExecutor() as pool:
        pool.submit(job2, "x", a())
        for x in pool.map(same, [a()]):
            os.system(x)  # want command
        os.system(pool.submit(same, a()).result())  # want command
    Worker(a()).start()


counter = "x"


def setcounter(v):
    global counter
    counter = v


@app.route("/scopes")
def scopes():
    v = "x"

    def inner():
        nonlocal v
        v = a()

    inner()
    os.system(v)  # want command
    setcounter(a())
    os.system(counter)  # want command
    for _ in range(3):
        z = a()
        break
    else:
        z = "x"
    os.system(z)  # want command
    try:
        u = a()
    finally:
        pass
    os.system(u)  # want command
