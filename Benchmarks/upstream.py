"""A local nginx for the benchmarks: on loopback, with its files in a folder of its own, started and ended here.

Standard library only; Debian: nginx-light.
"""

import contextlib
import shutil
import socket
import subprocess
import time
import urllib.request

CONFIG = """
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    log_format brief "$msec $connection $status";
    access_log {log};
    keepalive_requests 1000000000;
    types {{ application/json json; }}
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def etag_of(url):
    for _ in range(100):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.headers["ETag"]
        except OSError:
            time.sleep(0.05)
    raise SystemExit("nginx did not come up")


@contextlib.contextmanager
def nginx(folder, files, log=False, prefix=()):
    """Serves files (name: text) while the context lasts; gives the address, without a slash at its end.

    Where a log is wanted, `access.log` in the folder gets a line an answer: seconds, number of the connection, status.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if not program:
        raise SystemExit("nginx is missing; on Debian: apt install nginx-light")
    folder.chmod(0o755)  # its worker may be another user
    (folder / "www").mkdir()
    for name, text in files.items():
        (folder / "www" / name).write_text(text)
    port = free_port()
    where = f"{folder}/access.log brief buffer=64k flush=1s" if log else "off"
    (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, port=port, log=where))
    server = subprocess.Popen([*prefix, program, "-c", folder / "nginx.conf", "-e", folder / "error.log"])
    try:
        url = f"http://127.0.0.1:{port}"
        etag_of(f"{url}/{next(iter(files))}")
        yield url
    finally:
        server.terminate()
        server.wait(20)
