"""Each component type's rules: what is missing, too much or misplaced is an error at its path, with its code."""

from typing import Any

import pytest
from msgspec import UNSET

from moothall.objects.component_types import ComponentType
from moothall.resources.component.kinds import KINDS
from moothall.resources.component.validator import ResolvedIds
from tests.resources.component.trees import (
    button,
    codes,
    container,
    file,
    gallery,
    label,
    link,
    options,
    read,
    row,
    section,
    select,
    separator,
    string_select,
    text,
    text_input,
    thumbnail,
)

REQUIRED, TYPE, WIDTH = "BASE_TYPE_REQUIRED", "UNION_TYPE_CHOICES", "COMPONENT_LAYOUT_WIDTH_EXCEEDED"
LENGTH, LONG, CHOICES = "BASE_TYPE_BAD_LENGTH", "BASE_TYPE_MAX_LENGTH", "BASE_TYPE_CHOICES"
TWICE = "SET_TYPE_ALREADY_CONTAINS_VALUE"
EXCLUSIVE = "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE"

WRONG: list[tuple[dict[str, Any], dict[str, str]]] = [
    # Buttons
    ({"type": 2, "style": 1}, {"custom_id": "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED"}),
    ({"type": 2, "custom_id": "a"}, {"style": REQUIRED}),
    (button(style=0), {"style": CHOICES}),
    (button(style=7), {"style": CHOICES}),
    (button(custom_id="x" * 101), {"custom_id": LENGTH}),
    (button(label="x" * 81), {"label": LONG}),
    (button(url="https://example.org"), {"url": EXCLUSIVE}),
    (button(sku_id="5"), {"sku_id": "BASE_TYPE_BAD_TYPE"}),
    ({"type": 2, "style": 5}, {"url": REQUIRED}),
    (link(custom_id="a"), {"custom_id": EXCLUSIVE}),
    (link(url="https://example.org/" + "x" * 500), {"url": LONG}),
    (link(url="gopher://example.org"), {"url": "URL_TYPE_INVALID_SCHEME"}),
    (link(url="no url"), {"url": "URL_TYPE_INVALID_URL"}),
    ({"type": 2, "style": 6}, {"sku_id": REQUIRED}),
    (
        {"type": 2, "style": 6, "sku_id": "5", "label": "x", "custom_id": "a", "emoji": {"name": "⚓"}},
        {"label": "BASE_TYPE_BAD_TYPE", "custom_id": "BASE_TYPE_BAD_TYPE", "emoji": "BASE_TYPE_BAD_TYPE"},
    ),
    ({"type": 2, "style": 6, "sku_id": "5", "url": "https://example.org"}, {"url": "BASE_TYPE_BAD_TYPE"}),
    (button(disabled="no"), {"disabled": "BOOLEAN_TYPE_CONVERT"}),
    (button(emoji={"name": "smile"}), {"emoji.name": "BUTTON_COMPONENT_INVALID_EMOJI"}),
    (button(emoji={}), {"emoji.name": REQUIRED}),
    (button(emoji={"id": "5", "name": "gone"}), {"emoji.id": "BUTTON_COMPONENT_INVALID_EMOJI"}),
    (button(emoji="⚓"), {"emoji": "MODEL_TYPE_CONVERT"}),
    # Selects
    (string_select(custom_id=""), {"custom_id": LENGTH}),
    ({"type": 3, "options": options()}, {"custom_id": REQUIRED}),
    ({"type": 3, "custom_id": "s"}, {"options": REQUIRED}),
    (string_select(options=[]), {"options": LENGTH}),
    (string_select(options=options(26)), {"options": LENGTH}),
    (
        string_select(options=[*options(1), *options(1)]),
        {"options.1.value": "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"},
    ),
    (
        string_select(options=[{"label": "x" * 101, "value": ""}]),
        {"options.0.label": LENGTH, "options.0.value": LENGTH},
    ),
    (string_select(options=options(1, description="x" * 101)), {"options.0.description": LONG}),
    (
        string_select(options=options(2, emoji={"name": "x"})),
        {f"options.{n}.emoji.name": "BUTTON_COMPONENT_INVALID_EMOJI" for n in (0, 1)},
    ),
    (string_select(options=options(2, default=True)), {"options": "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES"}),
    (
        string_select(options=[*options(1, default=True), {"label": "b", "value": "b"}], min_values=2, max_values=2),
        {"options": LENGTH},
    ),
    (string_select(placeholder="x" * 151), {"placeholder": LONG}),
    (string_select(min_values=-1), {"min_values": "NUMBER_TYPE_MIN"}),
    (string_select(min_values=26), {"min_values": "NUMBER_TYPE_MAX"}),
    (string_select(max_values=0), {"max_values": "NUMBER_TYPE_MIN"}),
    (string_select(max_values=26), {"max_values": "NUMBER_TYPE_MAX"}),
    (string_select(min_values=2), {"min_values": "NUMBER_TYPE_MAX"}),
    (string_select(min_values=3, max_values=3), {"min_values": "NUMBER_TYPE_MAX"}),
    (select(5, default_values=[{"id": "2", "type": "role"}]), {"default_values.0.type": CHOICES}),
    (select(6, default_values=[{"id": "1", "type": "user"}]), {"default_values.0.type": CHOICES}),
    (select(7, default_values=[{"id": "3", "type": "channel"}]), {"default_values.0.type": CHOICES}),
    (select(8, default_values=[{"id": "3"}]), {"default_values.0.type": REQUIRED}),
    (select(5, default_values=[{"id": "x", "type": "user"}]), {"default_values.0.id": "NUMBER_TYPE_COERCE"}),
    (select(5, default_values=[{"id": "9", "type": "user"}]), {"default_values.0.id": "BASE_TYPE_BAD_TYPE"}),
    (select(6, default_values=[{"id": "9", "type": "role"}]), {"default_values.0.id": "BASE_TYPE_BAD_TYPE"}),
    (select(8, default_values=[{"id": "9", "type": "channel"}]), {"default_values.0.id": "BASE_TYPE_BAD_TYPE"}),
    (select(5, default_values=[{"id": "1", "type": "user"}] * 2, max_values=2), {"default_values.1.id": TWICE}),
    (
        select(7, default_values=[{"id": "1", "type": "user"}, {"id": "2", "type": "role"}]),
        {"default_values": "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES"},
    ),
    (select(5, default_values=[{"id": "1", "type": "user"}], min_values=2, max_values=2), {"default_values": LENGTH}),
    (select(8, channel_types=[99]), {"channel_types.0": CHOICES}),
    (select(8, channel_types=[0, 0]), {"channel_types.1": TWICE}),
    (select(8, channel_types=5), {"channel_types": "LIST_TYPE_CONVERT"}),
]
KNOWN = ResolvedIds(users=frozenset({1}), roles=frozenset({2}), channels=frozenset({3}))


@pytest.mark.parametrize(("child", "wrong"), WRONG)
def test_a_bad_field_of_a_component_in_a_row_is_named(child: dict[str, Any], wrong: dict[str, str]) -> None:
    for layout in (True, False):
        _, form_errors = read([row(child)], layout=layout, resolved=KNOWN)
        assert codes(form_errors) == {f"components.0.components.0.{path}": [code] for path, code in wrong.items()}


LAYOUT_WRONG: list[tuple[dict[str, Any], dict[str, str]]] = [
    (row(), {"components": LENGTH}),
    ({"type": 1}, {"components": REQUIRED}),
    (row(*(button(str(n)) for n in range(6))), {"components": LENGTH}),
    (row(string_select("a"), string_select("b")), {"components.1": WIDTH}),
    (row(button(), string_select()), {"components.1": WIDTH}),
    (row(text()), {"components.0": TYPE}),
    (row(text_input()), {"components.0": TYPE}),
    (row(row(button())), {"components.0": TYPE}),
    ({"type": 9, "components": [text()]}, {"accessory": REQUIRED}),
    ({"type": 9, "accessory": button()}, {"components": REQUIRED}),
    (section(*(text() for _ in range(4))), {"components": LENGTH}),
    ({**section(), "components": []}, {"components": LENGTH}),
    (section(button("b")), {"components.0": TYPE}),
    (section(accessory=text()), {"accessory": TYPE}),
    (section(accessory=string_select()), {"accessory": TYPE}),
    (section(accessory={"type": 2, "style": 1}), {"accessory.custom_id": "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED"}),
    (section(accessory=thumbnail(description="x" * 1025)), {"accessory.description": LONG}),
    (section(accessory={"type": 11}), {"accessory.media": REQUIRED}),
    (section(accessory=thumbnail("ftp://example.org")), {"accessory.media.url": "URL_TYPE_INVALID_SCHEME"}),
    (thumbnail(), {"": TYPE}),
    (text(""), {"content": LENGTH}),
    (text("  \n"), {"content": REQUIRED}),
    (text("x" * 4001), {"content": LENGTH}),
    ({"type": 10}, {"content": REQUIRED}),
    (gallery(*["https://example.org/a"] * 11), {"items": LENGTH}),
    ({"type": 12, "items": []}, {"items": LENGTH}),
    ({"type": 12, "items": [{}]}, {"items.0.media": REQUIRED}),
    (gallery("https://example.org/" + "x" * 2048), {"items.0.media.url": LONG}),
    ({"type": 12, "items": [{"media": {"url": "attachment://"}}]}, {"items.0.media.url": "URL_TYPE_INVALID_URL"}),
    ({"type": 13}, {"file": REQUIRED}),
    ({"type": 13, "file": {"url": "https://example.org/a.txt"}}, {"file.url": "URL_TYPE_INVALID_SCHEME"}),
    (separator(spacing=3), {"spacing": CHOICES}),
    (separator(divider=1), {"divider": "BOOLEAN_TYPE_CONVERT"}),
    (container(), {"components": LENGTH}),
    (container(container(text())), {"components.0": TYPE}),
    (container(thumbnail()), {"components.0": TYPE}),
    (container(button()), {"components.0": TYPE}),
    (container(text(), accent_color=1 << 24), {"accent_color": "NUMBER_TYPE_MAX"}),
    (container(text(), accent_color=-1), {"accent_color": "NUMBER_TYPE_MIN"}),
    (container(text(), spoiler=5), {"spoiler": "BOOLEAN_TYPE_CONVERT"}),
    (button(), {"": TYPE}),
    (label(text_input()), {"": TYPE}),
    ({"type": 19, "custom_id": "f"}, {"": TYPE}),
    ({"type": 15}, {"": TYPE}),
    ({"type": 1.0, "components": []}, {"components": LENGTH}),
    ({"type": "1", "components": []}, {"components": LENGTH}),
    ({"type": 1.5, "components": []}, {"": TYPE}),
    ({"type": True, "components": []}, {"": TYPE}),
    ({"type": [1]}, {"": TYPE}),
    (row({"type": {}}), {"components.0": TYPE}),
    ({}, {"type": REQUIRED}),
]


@pytest.mark.parametrize(("component", "wrong"), LAYOUT_WRONG)
def test_a_bad_field_of_a_layout_is_named(component: dict[str, Any], wrong: dict[str, str]) -> None:
    _, form_errors = read([text(), component], resolved=KNOWN)
    assert codes(form_errors) == {f"components.1.{path}".strip("."): [code] for path, code in wrong.items()}
    if "" not in wrong and component.get("type") != 17:
        _, form_errors = read([container(text(), component)], resolved=KNOWN)
        assert codes(form_errors) == {f"components.0.components.1.{path}": [code] for path, code in wrong.items()}


def test_an_error_lists_the_types_that_are_allowed_at_a_position() -> None:
    _, form_errors = read([{"type": 99}], layout=False)
    (error,) = form_errors.nested()["components"]["0"]["_errors"]
    assert error == {"code": TYPE, "message": 'Value of field "type" must be one of (1,).'}
    _, form_errors = read([{"type": 99}])
    (error,) = form_errors.nested()["components"]["0"]["_errors"]
    assert error["message"] == 'Value of field "type" must be one of (1, 9, 10, 12, 13, 14, 17).'
    _, form_errors = read([row({"type": 99})])
    (error,) = form_errors.nested()["components"]["0"]["components"]["0"]["_errors"]
    assert error["message"] == 'Value of field "type" must be one of (2, 3, 5, 6, 7, 8).'


def test_legacy_messages_have_up_to_five_rows_and_nothing_else() -> None:
    assert not read([row(button(str(n))) for n in range(5)], layout=False)[1]
    _, form_errors = read([row(button(str(n))) for n in range(6)], layout=False)
    assert codes(form_errors) == {"components": [LONG]}
    for component in (text(), section(), gallery(), separator(), container(text()), file()):
        assert codes(read([component], layout=False)[1]) == {"components.0": [TYPE]}


def test_a_custom_id_is_unique_at_any_depth() -> None:
    tree = [
        container(row(button("a"), button("b")), section(accessory=button("a"))),
        row(string_select("b")),
        section(accessory=button("c")),
    ]
    _, form_errors = read(tree)
    assert codes(form_errors) == {
        "components.0.components.1.accessory.custom_id": ["COMPONENT_CUSTOM_ID_DUPLICATED"],
        "components.1.components.0.custom_id": ["COMPONENT_CUSTOM_ID_DUPLICATED"],
    }


def test_an_id_is_unique_at_any_depth_and_zero_is_none() -> None:
    tree = [container(text(id=7), row(button("a", id=7))), text(id=0), text(id=0)]
    _, form_errors = read(tree)
    assert codes(form_errors) == {"components.0.components.1.components.0.id": ["COMPONENT_ID_DUPLICATED"]}
    made, form_errors = read([container(text(id=2), row(button("a", id=1))), text(id=0), text(id=4)])
    assert not form_errors
    assert [made[0].id, *(child.id for child in made[0].components), made[1].id, made[2].id] == [3, 2, 5, 6, 4]
    assert codes(read([text(id=2**31)])[1]) == {"components.0.id": ["NUMBER_TYPE_MAX"]}
    assert not read([text(id=2**31 - 1)])[1]


def test_all_texts_together_have_four_thousand_characters() -> None:
    assert not read([text("x" * 2000), section(text("x" * 1000), text("x" * 1000))])[1]
    _, form_errors = read([text("x" * 2000), section(text("x" * 1000), text("x" * 1001))])
    assert codes(form_errors) == {"components": ["COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"]}


def test_required_is_ignored_in_messages() -> None:
    (made,), form_errors = read([row(string_select(required=True, min_values=0))], layout=False)
    assert not form_errors
    assert made.components[0].required is UNSET


def test_without_an_application_only_link_buttons_are_allowed() -> None:
    tree = [row(link(), button("a")), row(string_select("b")), section(accessory=button("c")), container(row(link()))]
    _, form_errors = read(tree, interactive=False)
    assert codes(form_errors) == {
        "components.0.components.1": ["COMPONENT_TYPE_INVALID"],
        "components.1.components.0": ["COMPONENT_TYPE_INVALID"],
        "components.2.accessory": ["COMPONENT_TYPE_INVALID"],
    }
    premium = {"type": 2, "style": 6, "sku_id": "5"}
    assert codes(read([row(premium)], interactive=False)[1]) == {
        "components.0.components.0": ["COMPONENT_TYPE_INVALID"]
    }
    assert not read([row(link()), section(accessory=thumbnail()), text(), gallery()], interactive=False)[1]


def test_fields_that_the_api_sets_are_ignored_in_requests() -> None:
    media = {
        "url": "https://example.org/a",
        "proxy_url": "forged",
        "width": 5,
        "attachment_id": "1",
        "content_type": "x",
    }
    (made,), form_errors = read([{"type": 12, "items": [{"media": media, "unknown": 1}]}])
    assert not form_errors
    assert made.items[0].media.proxy_url == "https://example.org/a"
    assert (made.items[0].media.width, made.items[0].media.content_type) == (None, None)
    (made,), _ = read([file(name="forged", size=5)])
    assert (made.name, made.size) == (None, None)


def test_absent_fields_get_their_defaults() -> None:
    (made, rule, frame), _ = read([section(accessory=thumbnail()), separator(), container(text())])
    assert (made.accessory.description, made.accessory.spoiler) == (None, False)
    assert (rule.divider, rule.spacing) == (True, 1)
    assert (frame.accent_color, frame.spoiler) == (None, False)


def test_every_type_is_one_entry_of_the_table() -> None:
    assert set(KINDS) == set(ComponentType)
    assert [int(kind) for kind in KINDS] == [*range(1, 15), 17, 18, 19, 21, 22, 23]


def test_an_error_of_one_component_hides_none_of_the_others() -> None:
    bad = button("a", label="x" * 81, id=5)
    tree = [row(bad, string_select("a", id=5, options=[])), section(accessory=button("a"))]
    _, form_errors = read(tree)
    assert codes(form_errors) == {
        "components.0.components.0.label": [LONG],
        "components.0.components.1": [WIDTH],
        "components.0.components.1.options": [LENGTH],
        "components.0.components.1.id": ["COMPONENT_ID_DUPLICATED"],
        "components.0.components.1.custom_id": ["COMPONENT_CUSTOM_ID_DUPLICATED"],
        "components.1.accessory.custom_id": ["COMPONENT_CUSTOM_ID_DUPLICATED"],
    }
