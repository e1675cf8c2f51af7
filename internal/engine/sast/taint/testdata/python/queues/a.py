import asyncio
import collections
import os
import queue

from flask import Flask, request

app = Flask(__name__)


@app.route("/")
async def queues():
    first = queue.LifoQueue()
    first.put_nowait(request.args["a"])
    os.system(first.get())  # want command
    second = asyncio.Queue()
    await second.put(request.args["a"])
    os.system(await second.get())  # want command
    third = collections.deque()
    third.appendleft(request.args["a"])
    os.system(third.pop())  # want command
    fourth = queue.Queue()
    fourth.put("x")
    os.system(fourth.get())
