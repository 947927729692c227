"""Records the golden files beside it with the k6 of this machine: python3 record.py /path/to/k6

Each kind of run is recorded as k6 reports it in its two formats, `--summary-export` and `handleSummary`, with its
log and its exit code.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = pathlib.Path(__file__).parent
SCRIPT = (HERE / "../../../src/generators/k6.js").read_text()
BODY = '{"message":"Hello world!"}'


class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path == "/slow":
            time.sleep(0.3)
        self.send_response(200)
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY.encode())

    def log_message(self, *_):
        pass


def record(k6, kind, url, script=SCRIPT, **settings):
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        (directory / "script.js").write_text(script)
        (directory / "body").write_text(BODY)
        environment = {
            "PATH": os.environ["PATH"],
            "K6_NO_USAGE_REPORT": "true",
            "URL": url,
            "STATUS": "200",
            "BODY_FILE": str(directory / "body"),
            "RATE": "20",
            "DURATION": "2s",
            "VUS": "4",
            "TREND_STATS": "min,avg,med,max,p(50),p(95),p(99),count",
            "SUMMARY": str(HERE / f"{kind}.handle-summary.json"),
            **settings,
        }
        finished = subprocess.run(
            [k6, "run", "-q", "--no-color", "--address", "", "--log-format", "json",
             "--log-output", f"file={directory}/log",
             "--summary-export", HERE / f"{kind}.summary-export.json", "script.js"],
            cwd=directory, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        log = (directory / "log").read_text() if (directory / "log").exists() else ""
        log = log.replace(str(directory), "DIRECTORY")
        lines = log.splitlines(keepends=True)
        (HERE / f"{kind}.log").write_text("".join(lines[:5]))
        return {kind: finished.returncode}


def main():
    k6 = sys.argv[1]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    codes = {}
    codes |= record(k6, "fine", f"{base}/")
    codes |= record(k6, "drops", f"{base}/slow")
    codes |= record(k6, "dead", "http://127.0.0.1:9/")
    codes |= record(k6, "throwing", f"{base}/",
                    SCRIPT.replace("check(answer", "throw new Error('thrown on purpose');\n  check(answer"))
    codes |= record(k6, "crossed", f"{base}/",
                    SCRIPT.replace("'count>=0'] }", "'count>=0'], http_req_duration: ['p(99)<0.001'] }"))
    version = subprocess.run([k6, "version"], capture_output=True, text=True).stdout.split()[1]
    (HERE / "recorded.json").write_text(json.dumps({"k6": version, "exit_codes": codes}, indent=2) + "\n")


main()
