"""A page served to this machine alone: for traces that are too large for a file."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from whorl.api.exploring.page import Page
from whorl.errors import RunError

ADDRESS = "127.0.0.1"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Type": "text/html; charset=utf-8",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class PageServer(ThreadingHTTPServer):
    """Serves one page at one address, which has a token that nobody guesses, and nothing else.

    Port 0 is any that is free. Errors: RunError for a port that cannot be had.
    """

    daemon_threads = True

    def __init__(self, page: Page, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self.body = page.html.encode()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise RunError(f"cannot listen on port {port}: {error}", fix="choose another port, or none") from None

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, PageServer)
        known = secrets.compare_digest(self.path.encode(), f"/{server.token}/".encode())
        # A name that another site lets point here is not this address.
        hosts = {f"{name}:{server.server_port}" for name in (ADDRESS, "localhost")}
        if not known or self.headers.get("Host") not in hosts:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(server.body)))
        self.end_headers()
        self.wfile.write(server.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""
