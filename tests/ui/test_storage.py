"""Storages and what lies in them, over a scripted S3: folders, pages, what goes wrong, and changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.api.livebox import LiveBox
from tests.live.aws_server import Answer
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen

LIST = """<?xml version="1.0"?><ListBucketResult><Name>b</Name><IsTruncated>{more}</IsTruncated>{token}{inside}
</ListBucketResult>"""
FILE = """<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>2026-02-28T10:00:00.000Z</LastModified>
<StorageClass>STANDARD</StorageClass></Contents>"""
TOP = "data/shared/"


@pytest.fixture
def house(live: LiveBox) -> Iterator[UiHouse]:
    made = UiHouse(live.api)
    yield made
    made.close()


def bucket(seen: dict[str, Any]) -> Answer:
    """Two folders and a file on top; models holds 150 files, in pages; logs holds nothing; broken cannot be read."""
    query = parse_qs(urlsplit(str(seen["path"])).query)
    prefix = query["prefix"][0]
    if prefix == TOP:
        folders = ("checkpoints", "empty", "models", "secret")
        inside = "".join(f"<CommonPrefixes><Prefix>{TOP}{name}/</Prefix></CommonPrefixes>" for name in folders)
        return listed(inside + FILE.format(key=f"{TOP}README.md", size=812))
    if prefix == f"{TOP}models/":
        start = int(query.get("continuation-token", ["0"])[0])
        names = range(start, min(150, start + 100))
        inside = "".join(FILE.format(key=f"{prefix}shard-{n:03}.safetensors", size=n * 104_857_600) for n in names)
        return listed(inside, more=start == 0)
    if prefix == f"{TOP}secret/":
        return Answer(status=403, raw=b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
    return listed("")


def listed(inside: str, *, more: bool = False) -> Answer:
    token = "<NextContinuationToken>100</NextContinuationToken>" if more else ""
    return Answer(raw=LIST.format(more=str(more).lower(), token=token, inside=inside).encode())


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_a_bucket_is_looked_through(browser: Browser, live: LiveBox, house: UiHouse, screen: Screen) -> None:
    live.says["s3"] = live.says["ListObjectsV2"] = live.says[""] = bucket
    live.ready()
    person = Person.come(browser, house, screen)
    page = person.page
    person.go("/clusters/prod?tab=storage", "prod")
    expect(page.get_by_text("shared in default")).to_be_visible()
    expect(page.get_by_text("Mounted")).to_be_visible()
    page.get_by_role("link", name="shared", exact=True).click()
    expect(page.get_by_role("heading", name="In shared (5)")).to_be_visible()
    expect(page.get_by_text("812 B")).to_be_visible()
    page.get_by_role("button", name="How a pod mounts it").click()
    expect(page.get_by_text("claimName: shared", exact=False)).to_be_visible()
    person.check("cluster-storage-browse")
    page.get_by_role("link", name="Open models").click()
    expect(page.get_by_role("heading", name="In shared (100+)")).to_be_visible()
    assert "path=models%2F" in page.url
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("heading", name="In shared (150)")).to_be_visible()
    expect(page.get_by_text("shard-149.safetensors")).to_be_visible()
    expect(page.get_by_text("14.6 GiB", exact=True)).to_be_visible()
    page.get_by_role("navigation", name="Folder").get_by_role("link", name="shared").click()
    page.get_by_role("link", name="Open empty").click()
    expect(page.get_by_text("Nothing lies here")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Open secret").click()
    expect(page.get_by_text("This folder cannot be read")).to_be_visible()
    expect(page.get_by_text("s3:ListObjectsV2", exact=False)).to_be_visible()
    person.check("cluster-storage-denied")
    for status in ("403", "422", "503"):
        person.forgive(status)
    person.leave()


def test_storage_is_added_and_deleted_by_changes(browser: Browser, live: LiveBox, house: UiHouse) -> None:
    """What is written is only what was chosen; the change shows the plan before anything happens."""
    live.ready()
    person = Person.come(browser, house, Screen.DESK)
    page = person.page
    person.go("/clusters/prod?tab=storage", "prod")
    page.get_by_role("button", name="Add storage").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("shared")
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("A Storage of this name is there already.")).to_be_visible()
    dialog.get_by_label("Name", exact=True).fill("sets")
    dialog.get_by_label("An existing one").check()
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("3 to 63 small letters", exact=False)).to_be_visible()
    dialog.get_by_label("Name", exact=True).scroll_into_view_if_needed()
    person.check("cluster-storage-add")
    dialog.get_by_label("Name of the bucket").fill("example-data-sets")
    dialog.get_by_label("Only below").fill("imagenet/")
    dialog.get_by_label("Only read").check()
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Add storage sets")).to_be_visible()
    page.get_by_role("tab", name="Differences (1)").click()
    for text in ("bucket: example-data-sets", "prefix: imagenet/", "readOnly: true"):
        expect(page.get_by_role("cell", name=text, exact=False)).to_be_visible()

    person.go("/clusters/prod?tab=storage", "prod")
    page.get_by_role("button", name="Change shared").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(dialog.get_by_text("and everything in it stay.", exact=False)).to_be_visible()
    person.check("cluster-storage-delete")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Delete storage shared")).to_be_visible()
    person.leave()


def test_who_only_reads_is_told_what_they_lack(browser: Browser, live: LiveBox, house: UiHouse) -> None:
    live.ready()
    person = Person.come(browser, house, Screen.DESK, login=False)
    person.page.goto(house.link(scopes=frozenset({"read"})))
    expect(person.heading("Clusters")).to_be_visible()
    person.go("/clusters/prod?tab=storage", "prod")
    button = person.page.get_by_role("button", name="Add storage")
    expect(button).to_be_visible()
    expect(button).to_have_attribute("aria-disabled", "true")
    person.leave()
