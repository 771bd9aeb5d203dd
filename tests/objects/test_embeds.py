"""Conversion of embeds from requests to responses, with every error at its exact path."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.objects.embed import EmbedInput, EmbedInputs, embed_length, read_embeds, url_error
from moothall.objects.errors import FormErrors
from moothall.objects.wire import convert, to_plain


class Body(msgspec.Struct):
    """A request body with embeds."""

    embeds: EmbedInputs


def read(*embeds: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    errors = FormErrors()
    shown = read_embeds(convert({"embeds": list(embeds)}, Body).embeds, errors)
    return to_plain(shown), errors.nested()


def codes(nested: dict[str, Any], at: str = "") -> dict[str, str]:
    result = {}
    for key, value in nested.items():
        if key == "_errors":
            result[at.strip(".")] = value[0]["code"]
        else:
            result |= codes(value, f"{at}.{key}")
    return result


def test_an_embed_is_returned_as_it_was_sent_with_type_rich() -> None:
    sent: dict[str, Any] = {
        "type": "video",
        "title": " T ",
        "description": "D",
        "url": "https://example.com/a?b=c",
        "timestamp": "2026-01-31T12:00:00+00:00",
        "color": 0xFF00FF,
        "footer": {"text": "F", "icon_url": "https://example.com/i.png", "proxy_icon_url": "x"},
        "image": {"url": "attachment://a.png", "width": 5, "proxy_url": "x"},
        "thumbnail": {"url": "https://example.com/t.png"},
        "author": {"name": "A", "url": "https://example.com"},
        "fields": [{"name": "N", "value": "V"}, {"name": "N", "value": "V", "inline": True}],
        "provider": {"name": "P"},
        "video": {"url": "https://example.com/v"},
    }
    shown, errors = read(sent)
    assert errors == {}
    expected = sent | {
        "type": "rich",
        "title": "T",
        "timestamp": "2026-01-31T12:00:00.000000+00:00",
        "footer": {"text": "F", "icon_url": "https://example.com/i.png"},
        "image": {"url": "attachment://a.png"},
        "fields": [{"name": "N", "value": "V", "inline": False}, {"name": "N", "value": "V", "inline": True}],
    }
    del expected["provider"], expected["video"]
    assert shown == [expected]


def test_null_equals_absent() -> None:
    keys = [field.name for field in msgspec.structs.fields(EmbedInput)]
    shown, errors = read(dict.fromkeys(keys) | {"title": "T"})
    assert (shown, errors) == ([{"type": "rich", "title": "T"}], {})


@pytest.mark.parametrize("value", [0, 0.0, False, "", None, "1970-01-01T00:00:00Z"])
def test_a_timestamp_of_nothing_is_none(value: Any) -> None:
    assert read({"title": "T", "timestamp": value}) == ([{"type": "rich", "title": "T"}], {})


def test_parts_without_a_key_equal_absent_ones() -> None:
    shown, errors = read({"title": "T", "footer": {}, "author": {}, "image": {}, "thumbnail": {"url": None}})
    assert (shown, errors) == ([{"type": "rich", "title": "T"}], {})


def test_every_error_is_reported_at_its_path() -> None:
    _, errors = read(
        {"description": "fine"},
        {
            "url": "ftp://example.com",
            "author": {"icon_url": "nonsense"},
            "footer": {"text": " "},
            "image": {"url": "javascript:alert(1)"},
            "fields": [{"name": "N", "value": "V"}, {"name": " ", "value": ""}],
        },
        {},
    )
    assert codes(errors) == {
        "embeds.1.url": "URL_TYPE_INVALID_SCHEME",
        "embeds.1.author.name": "BASE_TYPE_REQUIRED",
        "embeds.1.author.icon_url": "URL_TYPE_INVALID_URL",
        "embeds.1.footer.text": "BASE_TYPE_REQUIRED",
        "embeds.1.image.url": "URL_TYPE_INVALID_SCHEME",
        "embeds.1.fields.1.name": "BASE_TYPE_REQUIRED",
        "embeds.1.fields.1.value": "BASE_TYPE_REQUIRED",
        "embeds.2.description": "BASE_TYPE_REQUIRED",
    }


@pytest.mark.parametrize(
    "embed",
    [
        {"title": "x" * 257},
        {"description": "x" * 4097},
        {"color": 0x1000000},
        {"color": -1},
        {"url": "https://example.com/" + "x" * 2048},
        {"footer": {"text": "x" * 2049}},
        {"author": {"name": "x" * 257}},
        {"fields": [{"name": "x" * 257, "value": "v"}]},
        {"fields": [{"name": "n", "value": "x" * 1025}]},
        {"fields": [{"name": "n", "value": "v"}] * 26},
        {"fields": [{"name": "n"}]},
        {"timestamp": "yesterday"},
    ],
)
def test_each_text_has_a_maximum_length(embed: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        convert({"embeds": [embed]}, Body)


def test_a_message_has_at_most_ten_embeds() -> None:
    assert len(read(*[{"title": "T"}] * 10)[0]) == 10
    with pytest.raises(msgspec.ValidationError):
        read(*[{"title": "T"}] * 11)


lengths = st.lists(
    st.fixed_dictionaries(
        {
            "title": st.integers(1, 256),
            "description": st.integers(1, 4096),
            "footer": st.integers(1, 2048),
            "author": st.integers(1, 256),
            "fields": st.lists(st.tuples(st.integers(1, 256), st.integers(1, 1024)), max_size=3),
        }
    ),
    min_size=1,
    max_size=4,
)


@given(lengths_of_embeds=lengths)
def test_all_embeds_together_have_at_most_six_thousand_characters(lengths_of_embeds: list[dict[str, Any]]) -> None:
    embeds = [
        {
            "title": "x" * size["title"],
            "description": "é" * size["description"],
            "footer": {"text": "x" * size["footer"]},
            "author": {"name": "x" * size["author"]},
            "fields": [{"name": "x" * name, "value": "x" * value} for name, value in size["fields"]],
        }
        for size in lengths_of_embeds
    ]
    sums = [
        size["title"] + size["description"] + size["footer"] + size["author"] + sum(map(sum, size["fields"]))
        for size in lengths_of_embeds
    ]
    _, errors = read(*embeds)
    over = [index for index in range(len(sums)) if sum(sums[: index + 1]) > 6000]
    assert codes(errors) == ({f"embeds.{over[0]}": "MAX_EMBED_SIZE_EXCEEDED"} if over else {})


def test_six_thousand_is_allowed() -> None:
    embeds = [{"description": "x" * 4096}, {"description": "x" * 1904}]
    assert read(*embeds)[1] == {}
    assert codes(read(*embeds, {"title": "x"})[1]) == {"embeds.2": "MAX_EMBED_SIZE_EXCEEDED"}


def test_the_length_counts_displayed_texts() -> None:
    shown = read_embeds(
        convert([{"title": "ab", "url": "https://example.com", "fields": [{"name": "n", "value": "v"}]}], EmbedInputs),
        FormErrors(),
    )
    assert embed_length(shown[0]) == 4


@pytest.mark.parametrize("url", ["https://example.com", "http://a.b:80/c d".replace(" ", "%20"), "https://[::1]/x"])
def test_web_addresses_are_valid_urls(url: str) -> None:
    assert url_error(url) is None


@pytest.mark.parametrize(
    "url", ["example.com", "https://", "https:///x", "https://a b", "https://a:b", "http://[::1", "\x00", "//x"]
)
def test_invalid_urls_are_refused(url: str) -> None:
    error = url_error(url)
    assert error is not None
    assert error.code == "URL_TYPE_INVALID_URL"


@given(st.text("aZ0.-:/?#[]@\\ \u00e9\u3002", max_size=12))
def test_usual_urls_are_as_valid_as_those_that_are_parsed(rest: str) -> None:
    # A scheme in capital letters is never a usual one.
    usual, parsed = url_error(f"https://{rest}"), url_error(f"HTTPS://{rest}")
    assert usual == parsed
