"""A server for the lab's tests: server.py PORT [BODY]. It answers every path alike, and ends when it is told to."""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = (sys.argv[2] if len(sys.argv) > 2 else "hello").encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path == "/die":
            import os
            os._exit(3)
        self.send_response(200)
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
