import sys
from http.server import BaseHTTPRequestHandler

import flask


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        # ruleid: header-injection
        self.send_header("X-Name", flask.request.args.get("v"))
