import jinja2

def engine(loader):
    # ok: automatic-escaping-off
    return jinja2.Environment(loader=loader, autoescape=True)
