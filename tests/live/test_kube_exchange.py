"""Every way a server may answer a change, over TLS: what is whole is read, what is not is a lost reply."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.live.errors import CallRefused, ReplyLost
from reconciler.live.kube.tokens import FixedToken
from reconciler.live.kube.transport import APPLY, Transport
from reconciler.sandbox.kubernetes.certificates import Certificates, make_certificates

OP = "01JA0000000000000000000000"
BODY = b'{"kind":"ConfigMap"}'
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + BODY


class Server:
    """Answers each request with the next of `answers`; None hangs up instead. Counts connections."""

    def __init__(self, certificates: Certificates) -> None:
        self.answers: list[bytes | None] = []
        self.requests: list[bytes] = []
        self.connections = 0
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates.certificate, certificates.key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            plain.settimeout(10)
            try:
                with self._context.wrap_socket(plain, server_side=True) as connection:
                    self.connections += 1
                    while self._answered(connection):
                        pass
            except OSError:
                continue

    def _answered(self, connection: ssl.SSLSocket) -> bool:
        data = b""
        while b"\r\n\r\n" not in data or not data.endswith(b"}"):
            more = connection.recv(65536)
            if not more:
                return False
            data += more
        self.requests.append(data)
        answer = self.answers.pop(0)
        if answer is None:
            return False
        for at in range(0, len(answer), 7):  # in many small pieces, as a network may
            connection.sendall(answer[at : at + 7])
        return b"connection: close" not in answer.lower() and not answer.startswith(b"HTTP/1.0")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder: Path = tmp_path_factory.mktemp("certificates")
    return make_certificates(folder)


@pytest.fixture
def server(certificates: Certificates) -> Iterator[Server]:
    found = Server(certificates)
    yield found
    found.close()


@pytest.fixture
def transport(server: Server, certificates: Certificates) -> Iterator[Transport]:
    found = Transport(server.url, certificates.ca_pem, FixedToken("t"))
    yield found
    found.close()


def change(transport: Transport) -> object:
    return transport.change("PATCH", "/api/v1/x", op=OP, body={"a": "ü"}, query={"force": "true"}, content_type=APPLY)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(WHOLE, id="with a length"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8;x=y\r\n"
            + BODY[:8]
            + b"\r\nc\r\n"
            + BODY[8:]
            + b"\r\n"
            b"0\r\nTrailer: x\r\n\r\n",
            id="in chunks, with a trailer",
        ),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n" + WHOLE, id="after interim ones"
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + BODY, id="up to the end of the connection"),
        pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 20\r\n\r\n" + BODY, id="of an old server that hangs up"),
        pytest.param(b"HTTP/1.1 200\r\ncontent-length:20\r\n\r\n" + BODY, id="without a phrase, in lower case"),
    ],
)
def test_an_answer_is_read_whole_and_the_next_one_is_its_own(
    answer: bytes, server: Server, transport: Transport
) -> None:
    server.answers = [answer, WHOLE.replace(b"ConfigMap", b"ConfigMop"), answer]
    kinds = [change(transport), change(transport), change(transport)]
    assert kinds == [{"kind": "ConfigMap"}, {"kind": "ConfigMop"}, {"kind": "ConfigMap"}]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(None, id="none at all"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\nConnection: close\r\n\r\n" + BODY, id="too short"),
        pytest.param(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-", id="ends in its head"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" + BODY,
            id="no last chunk",
        ),
        pytest.param(b"SSH-2.0-OpenSSH\r\nConnection: close\r\n\r\n", id="no HTTP"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: -1\r\n\r\n", id="a length below nothing"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + b"A: b\r\n" * 300 + b"\r\n" + BODY, id="a head without end"
        ),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", id="no content where an object is due"),
    ],
)
def test_an_answer_that_is_not_whole_is_a_lost_reply(
    answer: bytes | None, server: Server, transport: Transport
) -> None:
    """The change may have happened: never "refused", never sent again by itself."""
    server.answers = [answer, WHOLE]
    with pytest.raises(ReplyLost):
        change(transport)
    assert len(server.requests) == 1
    assert change(transport) == {"kind": "ConfigMap"}  # the broken connection is not used again


def test_a_request_leaves_as_http_asks(server: Server, transport: Transport) -> None:
    """B04: head and body in one piece; the length counts bytes; credentials and the op id are there."""
    server.answers = [WHOLE, WHOLE]
    change(transport)
    change(transport)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert first == "PATCH /api/v1/x?force=true HTTP/1.1"
    assert headers["host"] == server.url.removeprefix("https://")
    assert headers["content-length"] == str(len(body)) and body == '{"a":"ü"}'.encode()
    assert headers["authorization"] == "Bearer t" and f"instantstart-op/{OP}" in headers["user-agent"]
    assert server.connections == 1, "the second request goes over the same connection"


def test_an_error_keeps_its_headers(server: Server, transport: Transport) -> None:
    said = b'{"message":"slow down, please"}'
    server.answers = [b"HTTP/1.1 429 Too Many\r\nretry-after: 7\r\nContent-Length: 31\r\n\r\n" + said]
    with pytest.raises(CallRefused) as caught:
        change(transport)
    assert (caught.value.reason, caught.value.after) == ("Throttled", 7.0)


def test_a_line_break_in_a_header_is_not_sent(server: Server, certificates: Certificates) -> None:
    """A token from outside cannot write a request of its own."""
    transport = Transport(server.url, certificates.ca_pem, FixedToken("t\r\nX-Remote-User: root"))
    with pytest.raises(ValueError, match="line break"):
        change(transport)
    transport.close()
    assert server.requests == []


def test_a_certificate_of_somebody_else_is_refused(server: Server, tmp_path: Path) -> None:
    other = make_certificates(tmp_path)
    transport = Transport(server.url, other.ca_pem, FixedToken("t"))
    with pytest.raises(CallRefused) as caught:
        change(transport)
    transport.close()
    assert caught.value.reason == "TlsError" and server.requests == []


def test_a_path_cannot_break_out(server: Server, transport: Transport) -> None:
    server.answers = [WHOLE]
    transport.change("PATCH", "/api/v1/x HTTP/1.1\r\nX: y", op=OP, body={"a": 1})
    assert server.requests[0].startswith(b"PATCH /api/v1/x%20HTTP/1.1%0D%0AX:%20y HTTP/1.1\r\n")
