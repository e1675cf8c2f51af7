def plain(box):
    a = source("x")
    sink(a)  # found plain
    sink(clean(a))
    sink(clean(source("y")))
    b = wrap(a)
    sink(b + "z")  # found plain
    box.fill(a)
    sink(box)  # found plain
    check(a)
    sink(a)
    helper(b)


def wrap(v):
    return [v]


def helper(v):
    sink(v)  # found plain


def labels():
    s = secret()
    send(s)  # found labels
    send(s + public())


def inside(p):
    store(p)  # found inside
    store(other(p))
    q = p
    store(q)  # found inside
    pass_on(q)


def pass_on(a, b):
    store(a)
