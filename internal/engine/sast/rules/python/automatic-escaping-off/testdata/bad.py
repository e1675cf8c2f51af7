import jinja2

def engine(loader):
    # ruleid: automatic-escaping-off
    return jinja2.Environment(loader=loader)
