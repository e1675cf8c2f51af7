import os
import urllib.request

import requests

MIRROR = "http://mirror.tools.org/releases/"


def driver(version):
    # ruleid: clear-text-request
    urllib.request.urlretrieve(MIRROR + version + "/driver.zip", "driver.zip")


def tool():
    # ruleid: clear-text-request
    answer = requests.get("http://cdn.tools.org/tool.tgz")
    with open("tool.tgz", "wb") as f:
        f.write(answer.content)


def script():
    # ruleid: clear-text-request-command
    os.system("wget -q http://cdn.tools.org/install.sh && sh install.sh")
