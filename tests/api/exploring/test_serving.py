"""A page served to this machine."""

import http.client
import threading
from collections.abc import Iterator

import pytest

import whorl
from whorl.api.exploring.page import Page
from whorl.api.exploring.serving import PageServer


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer(Page("a", "")) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def answer(server: PageServer, path: str, method: str = "GET", host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request(method, path, headers={"Host": host} if host else {})
    return connection.getresponse()


def test_page_is_served_at_its_address(server) -> None:
    got = answer(server, f"/{server.token}/")
    assert (got.status, got.read().decode()) == (200, Page("a", "").html)
    assert got.headers["Cache-Control"] == "no-store"
    assert server.url == f"http://127.0.0.1:{server.server_port}/{server.token}/"


@pytest.mark.parametrize("path", ["/", "/x/", "/{token}", "/{token}/../", "/{token}/x", "/etc/passwd"])
def test_nothing_else_is_served(path, server) -> None:
    assert answer(server, path.format(token=server.token)).status == 404


def test_other_methods_and_names_of_this_machine_are_refused(server) -> None:
    assert answer(server, f"/{server.token}/", "POST").status == 501
    assert answer(server, f"/{server.token}/", host="evil.example").status == 404


def test_server_listens_on_this_machine_alone_and_each_has_its_token(server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    with PageServer(Page("a", "")) as other:
        assert len({server.token, other.token}) == 2
        assert len(other.token) >= 32


def test_port_that_is_taken_is_an_error(server) -> None:
    with pytest.raises(whorl.RunError) as caught:
        PageServer(Page("a", ""), server.server_port)
    assert str(caught.value).startswith(f"cannot listen on port {server.server_port}: ")
