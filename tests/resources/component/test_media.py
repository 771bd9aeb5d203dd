"""Files of a message in its components."""

from typing import Any

from moothall.objects.component import MessageComponent, walk
from moothall.objects.errors import FormErrors
from moothall.objects.ids import AttachmentId, Snowflake
from moothall.objects.message import Attachment
from moothall.objects.wire import to_plain
from moothall.resources.component.media import ResolvedMedia, require_all_shown, resolve_media
from tests.resources.component.trees import codes, container, file, gallery, read, section, text, thumbnail

MISSING = "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"
HIDDEN = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"


def attachment(number: int, name: str, kind: str = "image/png", **values: Any) -> Attachment:
    url = f"http://localhost/attachments/1/{number}/{name}"
    return Attachment(
        id=AttachmentId(Snowflake(number)),
        filename=name,
        content_type=kind,
        size=100 + number,
        url=f"{url}?ex=1",
        proxy_url=url,
        **values,
    )


PICTURE = attachment(1, "a.png", width=30, height=20, flags=1 << 5)
TEXT_FILE = attachment(2, "notes.txt", "text/plain")


def resolve(
    tree: list[dict[str, Any]], *files: Attachment, file_urls: frozenset[str] = frozenset()
) -> tuple[ResolvedMedia, FormErrors]:
    components, form_errors = read(tree, file_urls=file_urls)
    assert not form_errors
    return resolve_media(components, {one.filename: one for one in files}, form_errors), form_errors


def test_files_replace_their_names() -> None:
    tree = [
        section(accessory=thumbnail("attachment://a.png", spoiler=True)),
        container(gallery("attachment://a.png", "https://example.org/b.png"), file("notes.txt", spoiler=True)),
        text(),
    ]
    resolved, form_errors = resolve(tree, PICTURE, TEXT_FILE)
    assert not form_errors
    assert resolved.shown == {1, 2}
    shown = to_plain(resolved.components)
    media = shown[0]["accessory"]["media"]
    assert media == {
        "id": "1",
        "url": PICTURE.url,
        "proxy_url": PICTURE.proxy_url,
        "height": 20,
        "width": 30,
        "content_type": "image/png",
        "loading_state": 2,
        "flags": 1,
        "attachment_id": "1",
    }
    assert shown[0]["accessory"]["spoiler"] is True
    pictures, document = shown[1]["components"]
    assert pictures["items"][0]["media"] == media
    assert pictures["items"][1]["media"]["url"] == "https://example.org/b.png"
    assert "attachment_id" not in pictures["items"][1]["media"]
    assert (document["name"], document["size"], document["spoiler"]) == ("notes.txt", 102, True)
    assert (document["file"]["width"], document["file"]["content_type"]) == (None, "text/plain")


def test_a_missing_file_is_named() -> None:
    tree = [section(accessory=thumbnail("attachment://x.png")), container(gallery("attachment://y.png"), file("z"))]
    _, form_errors = resolve(tree, PICTURE)
    assert codes(form_errors) == {
        "components.0.accessory.media.url": [MISSING],
        "components.1.components.0.items.0.media.url": [MISSING],
        "components.1.components.1.file.url": [MISSING],
    }


def test_a_thumbnail_is_an_image() -> None:
    _, form_errors = resolve([section(accessory=thumbnail("attachment://notes.txt"))], TEXT_FILE)
    assert codes(form_errors) == {"components.0.accessory.media.url": ["CONTENT_TYPE_INVALID"]}


def test_a_file_may_be_named_by_its_url_whatever_its_signature() -> None:
    own = frozenset({PICTURE.proxy_url, TEXT_FILE.proxy_url})
    tree = [gallery(f"{PICTURE.proxy_url}?ex=2&hm=3"), {"type": 13, "file": {"url": TEXT_FILE.url}}]
    resolved, form_errors = resolve(tree, PICTURE, TEXT_FILE, file_urls=own)
    assert not form_errors
    assert resolved.shown == {1, 2}


def test_resolved_media_resolve_again_and_are_errors_once_removed() -> None:
    tree = [gallery("attachment://a.png"), file("notes.txt")]
    resolved, _ = resolve(tree, PICTURE, TEXT_FILE)
    form_errors = FormErrors()
    again = resolve_media(resolved.components, {"a.png": PICTURE, "notes.txt": TEXT_FILE}, form_errors)
    assert again == resolved
    assert not form_errors
    resolve_media(resolved.components, {"a.png": PICTURE}, form_errors)
    assert codes(form_errors) == {"components.1.file.url": [MISSING]}


def test_in_a_layout_every_file_is_shown() -> None:
    resolved, form_errors = resolve([gallery("attachment://a.png")], PICTURE, TEXT_FILE)
    require_all_shown(resolved, [PICTURE, TEXT_FILE], form_errors)
    assert codes(form_errors) == {"attachments.1": [HIDDEN]}


def test_equal_foreign_urls_are_the_same_item_and_others_are_not() -> None:
    (one, other), _ = read([gallery("https://a.example", "https://b.example"), gallery("https://a.example")])
    assert one.items[0].media.id == other.items[0].media.id != one.items[1].media.id
    components: list[MessageComponent] = [one, other]
    assert len(list(walk(components))) == 2
