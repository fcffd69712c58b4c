"""A merchant's receiver of webhooks, written with Python's standard library alone.

Arguments: certificate and key files, or none for plain HTTP. Prints its port first. Reads the
endpoint's secret from standard input, then prints a line of JSON for each event: its id, its type,
and what is wrong with it, or null.
"""

import hashlib
import hmac
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = b""


def fault_of(headers, body):
    parts = dict(part.split("=", 1) for part in headers["X-Gateway-Signature"].split(","))
    signed = parts["t"].encode() + b"." + body
    expected = hmac.new(secret, signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, parts["v1"]):
        return "v1 is wrong"
    if abs(time.time() - int(parts["t"])) > 300:
        return "t is too far away"
    event = json.loads(body)
    if event["id"] != headers["X-Gateway-Event-Id"]:
        return "X-Gateway-Event-Id is not the id"
    if event["type"] != headers["X-Gateway-Event"]:
        return "X-Gateway-Event is not the type"
    return None


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        event = json.loads(body)
        line = {"id": event["id"], "type": event["type"], "fault": fault_of(self.headers, body)}
        self.send_response(204)
        self.end_headers()
        # In one piece: print() writes the end of the line separately, and threads answer.
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
if len(sys.argv) > 1:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
secret = sys.stdin.readline().strip().encode()
threading.Thread(target=server.serve_forever, daemon=True).start()
# Ends with whoever started it.
sys.stdin.read()
