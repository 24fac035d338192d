#!/usr/bin/env python3
"""A small HTTP/1.1 service on the loopback for the tests of FeedbusHTTP. Standard library only.

Prints its port, serves until its stdin ends, and answers by path:

    /echo                  method, path, headers and body of the request, as JSON; and the port of the client
    /status/N              that status
    /size/N                N bytes
    /gzip/N                N bytes, packed with gzip; /deflate/N with zlib
    /chunked/N             N bytes in chunks, with a trailer
    /bad-gzip              something that says it is gzip and is not
    /truncated             promises 1000 bytes, sends 10, closes
    /reset                 a TCP reset in place of an answer
    /reset-late            a TCP reset in the middle of the body
    /empty                 closes without a word
    /garbage               something that is not HTTP
    /interim               100 and 103 before the answer
    /hang                  no answer until the client goes away
    /drip                  a byte every 50 ms, for ever
    /gone                  how many clients of /hang and /drip have gone away
    /hung                  how many clients of /hang have come so far (it never falls: tests run side by side)
    /pause                 an answer after 20 ms
    /accepted              how many connections were accepted so far
    /redirect/N?to=URL     that redirect
    /close                 an answer, and then the connection is closed without telling
    /once/N                an answer, when N such requests have come; then each connection lives until its next request
                           has come, and is closed in place of an answer; /once-reset/N with a TCP reset
"""

import gzip
import json
import os
import socket
import struct
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

lock = threading.Lock()
counts = {"gone": 0, "hung": 0, "accepted": 0}
barriers = {}


def count(name, step):
    with lock:
        counts[name] += step


def together(number):
    """Waits until so many requests wait here."""
    with lock:
        barrier = barriers.setdefault(number, threading.Barrier(number))
    barrier.wait(60)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    last_words = None

    def log_message(self, *_):
        pass

    def answer(self, status=200, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reset(self):
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def until_gone(self):
        try:
            while self.connection.recv(1):
                pass
        except OSError:
            pass
        count("gone", 1)
        self.close_connection = True

    def handle_any(self):
        parts = urlsplit(self.path)
        words = parts.path.strip("/").split("/")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.last_words == "once-reset":
            return self.reset()
        if self.last_words == "once":
            self.close_connection = True
            return
        what = words[0]
        number = int(words[1]) if len(words) > 1 else 0
        if what == "echo":
            self.answer(200, json.dumps({
                "method": self.command, "path": self.path, "body": body.decode("latin-1"),
                "headers": [list(pair) for pair in self.headers.items()], "port": self.client_address[1]}).encode(),
                [("Content-Type", "application/json"), ("X-Two", "a"), ("x-two", "b"), ("X-Empty", "")])
        elif what == "status":
            self.answer(number, b"" if number in (204, 304) else b"x", [("ETag", '"e"')])
        elif what == "size":
            self.answer(200, b"x" * number)
        elif what == "gzip":
            self.answer(200, gzip.compress(b"x" * number, 1), [("Content-Encoding", "gzip")])
        elif what == "deflate":
            self.answer(200, zlib.compress(b"x" * number, 1), [("Content-Encoding", "deflate")])
        elif what == "chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            left = number
            while left > 0:
                piece = min(left, 1000)
                self.wfile.write(b"%x\r\n%s\r\n" % (piece, b"x" * piece))
                left -= piece
            self.wfile.write(b"0\r\nX-Trailer: t\r\n\r\n")
        elif what == "bad-gzip":
            self.answer(200, b"not gzip at all", [("Content-Encoding", "gzip")])
        elif what == "truncated":
            self.answer(200, b"x" * 10, length=1000)
            self.close_connection = True
        elif what == "reset":
            self.reset()
        elif what == "reset-late":
            self.answer(200, b"x" * 10, length=1000)
            self.reset()
        elif what == "empty":
            self.close_connection = True
        elif what == "garbage":
            self.wfile.write(b"\x00\x01 this is no HTTP\r\n\r\n")
            self.close_connection = True
        elif what == "interim":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            self.answer(200, b"done")
        elif what == "hang":
            count("hung", 1)
            self.until_gone()
        elif what == "drip":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                count("gone", 1)
                self.close_connection = True
        elif what in counts:
            self.answer(200, str(counts[what]).encode())
        elif what == "pause":
            time.sleep(0.02)
            self.answer(200, b"done")
        elif what == "redirect":
            self.answer(number, b"moved", [("Location", parse_qs(parts.query)["to"][0])])
        elif what in ("once", "once-reset"):
            together(number)
            self.last_words = what
            self.answer(200, str(self.client_address[1]).encode())
        elif what == "close":
            self.answer(200, str(self.client_address[1]).encode())
            self.close_connection = True
        else:
            self.answer(404, b'{"message":"Not Found"}')

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def process_request(self, *arguments):
        count("accepted", 1)
        super().process_request(*arguments)

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.buffer.read()
os._exit(0)
