import os

import bottle
import cherrypy
from fastapi import BackgroundTasks, FastAPI
from flask import Flask
from flask.views import View
from pyramid.view import view_config

app = FastAPI()
site = Flask(__name__)


@app.get("/items/{name}")
async def item(name: str, count: int = 0):
    # ruleid: command-injection
    os.system("find " + name)
    # ok: command-injection
    os.system("head -n " + str(count))


def later(name):
    # ruleid: command-injection
    os.system("touch " + name)


@app.post("/items")
def add(name: str, tasks: BackgroundTasks):
    tasks.add_task(later, name)


@site.route("/pages/<int:number>/<name>")
def page(number, name):
    # ok: command-injection
    os.system("page " + str(number))
    # ruleid: command-injection
    os.system("page " + name)


class Shelf(View):
    def dispatch_request(self, name):
        # ruleid: command-injection
        os.system("shelf " + name)


def box(name):
    # ruleid: command-injection
    os.system("box " + name)


site.add_url_rule("/box/<name>", "box", box)


@view_config(route_name="find")
def find(request):
    # ruleid: command-injection
    os.system("find " + request.matchdict["name"])
