"""How the built pages are served: addresses of pages, caching, compression, and that nothing else gets out."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import re
from pathlib import Path

import httpx
import pytest

from schemas.documents.dependencies import DEFAULT_ADDONS
from tests.api.apibox import ApiBox
from tests.ui.first_page import first_page
from web.api.problems import MEDIA
from web.ui_files import BUILT, UiFiles

PAGE = {"Accept": "text/html"}
WORDS = BUILT.parent / "src" / "texts" / "en"
MOST = 400_000  # bytes of JavaScript for the first page, as gzip


@pytest.fixture
def built() -> Path:
    if not (BUILT / "index.html").is_file():
        pytest.skip("the pages are not built: make setup")
    return BUILT


@pytest.mark.parametrize(
    ("path", "headers", "status", "media", "why"),
    [
        ("/", PAGE, 200, "text/html", "the first page"),
        ("/clusters/prod/nodes", PAGE, 200, "text/html", "a page is found by its address, also when it is opened anew"),
        ("/clusters/a.b", PAGE, 200, "text/html", "a dot makes no file"),
        ("/icon.svg", {}, 200, "image/svg+xml", "a file"),
        ("/assets/gone-12345678.js", PAGE, 404, MEDIA, "an asset of another build is no page"),
        ("/clusters/prod", {"Accept": "application/json"}, 404, MEDIA, "a program gets no page"),
        ("/api/v1/nope", PAGE, 404, MEDIA, "below /api there are no pages"),
        ("/index.html.gz", {}, 404, MEDIA, "compressed files have no address of their own"),
        ("/%2e%2e/package.json", {}, 404, MEDIA, "nothing outside of the folder"),
        ("/assets/..%2f..%2fpackage.json", {}, 404, MEDIA, "nor by a slash that is hidden"),
        ("/a%00b", {}, 404, MEDIA, "no file has such a name"),
    ],
)
def test_addresses(
    api: ApiBox, built: Path, path: str, headers: dict[str, str], status: int, media: str, why: str
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=120)  # httpx would tidy the paths
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    assert (answer.status, (answer.getheader("content-type") or "").split(";")[0]) == (status, media), why
    assert "script-src 'self'" in (answer.getheader("content-security-policy") or "")
    connection.close()


def test_pages_are_only_read(api: ApiBox, built: Path) -> None:
    answer = httpx.post(f"{api.url}/clusters", json={}, trust_env=False, timeout=120)
    assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD"


def test_assets_are_kept_for_ever_and_pages_asked_for_each_time(api: ApiBox, built: Path) -> None:
    page = httpx.get(api.url, headers=PAGE, trust_env=False, timeout=120)
    assert page.headers["cache-control"] == "no-cache"
    again = httpx.get(api.url, headers={**PAGE, "If-None-Match": page.headers["etag"]}, trust_env=False, timeout=120)
    assert again.status_code == 304 and again.content == b""
    script = re.search(r'src="(/assets/[^"]+\.js)"', page.text)
    assert script is not None
    asset = httpx.get(api.url + script[1], trust_env=False, timeout=120)
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("coding", ["br", "gzip", "identity", ""])
def test_what_goes_over_the_wire_is_small_where_the_browser_takes_it(api: ApiBox, built: Path, coding: str) -> None:
    whole = (built / "index.html").read_bytes()
    readable = "" if coding == "br" else coding  # httpx reads no br
    page = httpx.get(api.url, headers={**PAGE, "Accept-Encoding": readable}, trust_env=False, timeout=120)
    script = next(built.glob("assets/index-*.js"))
    with httpx.stream(
        "GET", f"{api.url}/assets/{script.name}", headers={"Accept-Encoding": coding}, trust_env=False, timeout=120
    ) as answer:
        raw = b"".join(answer.iter_raw())
    assert page.content == whole
    assert answer.headers.get("content-encoding") == (coding if coding in ("br", "gzip") else None)
    assert answer.headers["vary"] == "Accept-Encoding"
    content = script.read_bytes()
    if coding != "br":
        assert (gzip.decompress(raw) if coding == "gzip" else raw) == content
    assert (len(raw) < len(content) / 2) == (coding in ("br", "gzip"))


def test_the_first_page_is_small(built: Path) -> None:
    files = first_page(built)
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in files}
    assert len(files) > 2 and sum(sizes.values()) < MOST, sizes


def test_words_of_other_pages_are_not_in_the_first_one(built: Path) -> None:
    shown = "".join(path.read_text() for path in first_page(built))
    found: dict[str, list[str]] = {}
    for path in WORDS.glob("*.ts"):
        said = re.findall(r'"([^"\\]{30,})"', path.read_text())
        found[path.stem] = [text for text in said if text in shown]
    assert {name for name, texts in found.items() if texts} <= {"common", "engine", "fleet", "frame", "plan"}, found
    assert found["fleet"], "the words are looked for as they are built"


def test_the_form_knows_the_add_ons_that_are_installed_anyway() -> None:
    text = (BUILT.parent / "src" / "pages" / "cluster" / "settings" / "wish.ts").read_text()
    listed = text[text.index("USUAL_ADDONS = [") :].partition("];")[0]
    assert tuple(re.findall(r'"([^"]+)"', listed)) == DEFAULT_ADDONS


def test_pages_that_were_not_built_are_told(tmp_path: Path) -> None:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(UiFiles(tmp_path / "absent"))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/", headers=PAGE)

    answer = asyncio.run(ask())
    assert answer.status_code == 503 and "make setup" in answer.text
