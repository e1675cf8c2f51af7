import asyncio
import collections
import enum
import os
import pathlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

from flask import Flask, request

app = Flask(__name__)


def given():
    return request.args["v"]


@dataclass
class Base:
    title: str


@dataclass
class Job(Base):
    command: str = "true"


class Pair(NamedTuple):
    left: str
    right: str


class Colour(enum.Enum):
    RED = "red"


@app.route("/fields")
def fields():
    job = Job("nightly", given())
    os.system(job.title)
    os.system(job.command)  # want command
    job = Job(title=given(), command="true")
    os.system(job.command)
    os.system(job.title)  # want command
    pair = Pair(given(), "x")
    os.system(pair.right)
    os.system(pair.left)  # want command
    os.system(Colour(given()).value)


@app.route("/defaults")
def defaults():
    groups = collections.defaultdict(list)
    groups["a"].append(given())
    os.system(groups["a"][0])  # want command
    os.system(groups["b"][0])


class Worker(threading.Thread):
    def __init__(self, command):
        super().__init__()
        self.command = command

    def run(self):
        os.system(self.command)  # want command


class Idle(threading.Thread):
    def __init__(self, command):
        super().__init__()
        self.command = command

    def run(self):
        os.system(self.command)


@app.route("/threads")
def threads():
    Worker(given()).start()
    Idle("true").start()


@app.route("/others")
async def others():
    threading.Thread(target=os.system, args=(given(),)).start()  # want command
    with ThreadPoolExecutor() as pool:
        pool.submit(os.system, given())  # want command
        pool.submit(os.system, "true")
    await asyncio.to_thread(os.system, given())  # want command
    os.system(max(["a", given()]))  # want command


async def echo(v):
    return v


@app.route("/gathered")
async def gathered():
    first, second = await asyncio.gather(echo("x"), echo(given()))
    os.system(first)
    os.system(second)  # want command


@app.route("/paths")
def paths():
    path = pathlib.Path("/srv") / given()
    open(path.name)
    open(path)  # want path
    inside = path.resolve()
    if not inside.is_relative_to("/srv"):
        raise ValueError
    open(inside)
