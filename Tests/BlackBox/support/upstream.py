"""A service on 127.0.0.1 that answers as it is told, and remembers what it was asked."""

import gzip
import socket
import struct
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


class Answer:
    """One answer.

    body     bytes or text, or a function that yields pieces for ever (sent chunked until the client has enough)
    coding   "gzip": compressed, where the client says that it can read that
    framing  "length" (Content-Length), "chunked", or "close" (the end of the connection is the end of the body)
    promise  a Content-Length that may be a lie
    cut      so many bytes of the body are sent, then the connection ends
    after    seconds before the first byte
    raw      these bytes in place of everything: status line, headers, body
    """

    def __init__(
        self,
        body=b"",
        status=200,
        headers=(),
        *,
        coding=None,
        framing="length",
        promise=None,
        cut=None,
        after=0,
        raw=None,
        media="application/json; charset=utf-8",
    ):
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = list(headers.items()) if isinstance(headers, dict) else [tuple(one) for one in headers]
        self.coding = coding
        self.framing = framing
        self.promise = promise
        self.cut = cut
        self.after = after
        self.raw = raw
        self.media = media

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Asked:
    """A request as it came."""

    def __init__(self, handler, body):
        self.at = time.monotonic()
        self.method = handler.command
        self.target = handler.path
        parts = urlsplit(handler.path)
        self.path = parts.path
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.headers = handler.headers
        self.body = body
        self.status = None
        self.sent = 0

    def __repr__(self):
        return f"{self.method} {self.target} -> {self.status}"


class Upstream:
    """`on` says what to answer; `asked` holds every request in its order of arrival."""

    def __init__(self):
        self.lock = threading.Lock()
        self.asked = []
        self.routes = []
        self.under_way = 0
        self.most_under_way = 0
        self.stopping = threading.Event()
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.upstream = self
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def on(self, target, *answers, method="GET"):
        """Answer a path with these in turn, the last one for ever. A query in `target` is a subset that must be there.

        An answer is an Answer, a body, or a function of the request that gives one. Of the routes that fit, the one
        with the largest query wins, then the newest.
        """
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        with self.lock:
            self.routes.append([method, parts.path, query, list(answers)])
        return self

    def forget(self):
        """No routes and no memory of requests: as after a change of the service."""
        with self.lock:
            self.routes = []
            self.asked = []
            self.most_under_way = 0
        return self

    def targets(self):
        with self.lock:
            return [one.target for one in self.asked]

    def requests(self, path=None):
        with self.lock:
            return [one for one in self.asked if path is None or one.path == path]

    def answer(self, asked):
        with self.lock:
            self.asked.append(asked)
            best = None
            for route in self.routes:
                method, path, query, _ = route
                fits = method == asked.method and path == asked.path and query.items() <= asked.query.items()
                if fits and (best is None or len(query) >= len(best[2])):
                    best = route
            if best is None:
                return Answer('{"message":"Not Found","documentation_url":"https://docs.github.com/rest"}', 404)
            answers = best[3]
            chosen = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(chosen):
            chosen = chosen(asked)
        return chosen if isinstance(chosen, Answer) else Answer(chosen)

    def close(self):
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    block_on_close = False

    def handle_error(self, request, client_address):
        """A client that goes away is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536

    def log_message(self, *_):
        pass

    def do_GET(self):
        upstream = self.server.upstream
        with upstream.lock:
            upstream.under_way += 1
            upstream.most_under_way = max(upstream.most_under_way, upstream.under_way)
        try:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = Asked(self, body)
            self.give(asked, upstream.answer(asked))
        except OSError:
            self.close_connection = True
        finally:
            with upstream.lock:
                upstream.under_way -= 1

    do_POST = do_PUT = do_HEAD = do_DELETE = do_GET

    def give(self, asked, answer):
        if answer.after and self.server.upstream.stopping.wait(answer.after):
            self.close_connection = True
            return
        asked.status = answer.status
        if answer.raw is not None:
            self.wfile.write(answer.raw)
            self.wfile.flush()
            self.close_connection = True
            return
        bare = answer.status in (204, 304) or self.command == "HEAD"
        endless = callable(answer.body)
        body = b"" if endless else answer.body
        coded = answer.coding == "gzip" and "gzip" in (self.headers.get("Accept-Encoding") or "").lower()
        if coded and not endless:
            body = gzip.compress(body, 1)
        self.send_response_only(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if answer.header("Date") is None:
            self.send_header("Date", formatdate(time.time(), usegmt=True))
        if not bare and answer.header("Content-Type") is None and answer.media:
            self.send_header("Content-Type", answer.media)
        if coded and not bare:
            self.send_header("Content-Encoding", "gzip")
        chunked = endless or answer.framing == "chunked"
        if not bare:
            if chunked:
                self.send_header("Transfer-Encoding", "chunked")
            elif answer.framing == "length":
                self.send_header("Content-Length", str(len(body) if answer.promise is None else answer.promise))
        ends = answer.cut is not None or answer.framing == "close" or answer.promise is not None
        if ends:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if bare:
            self.wfile.flush()
            return
        pieces = answer.body() if endless else self.pieces(body if answer.cut is None else body[: answer.cut], chunked)
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            asked.sent += len(piece)
            if self.server.upstream.stopping.is_set():
                return
        if chunked and answer.cut is None:
            self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    @staticmethod
    def pieces(body, chunked):
        if not chunked:
            return [body] if body else []
        # Uneven, so that a chunk never ends where something in the text does.
        return [body[at : at + 4099] for at in range(0, len(body), 4099)]


class Mute:
    """A port that takes connections and says nothing, or resets them."""

    def __init__(self, reset=False):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.kept = []
        self.reset = reset
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            if self.reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            else:
                self.kept.append(connection)

    def close(self):
        self.socket.close()
        for one in self.kept:
            one.close()
