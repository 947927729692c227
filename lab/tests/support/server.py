"""A server for the lab's tests: server.py PORT [BODY [ANSWERS [SECONDS]]]. It answers every path alike, each after SECONDS,
and dies after ANSWERS."""
import itertools
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = (sys.argv[2] if len(sys.argv) > 2 else "hello").encode()
ANSWERS = int(sys.argv[3]) if len(sys.argv) > 3 else None
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 0
count = itertools.count(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if next(count) == ANSWERS:
            os._exit(3)
        time.sleep(SECONDS)
        self.send_response(200)
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
