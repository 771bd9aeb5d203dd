"""Modals and their submissions."""

from typing import Any

import pytest

from moothall.objects.component import Modal, walk
from moothall.objects.errors import FormErrors
from moothall.objects.wire import to_plain
from moothall.resources.component.modals import read_modal, referenced_ids_of_modal
from moothall.resources.component.submissions import read_modal_submission, read_values, submission_payload
from moothall.resources.component.validator import ResolvedIds
from tests.resources.component.trees import (
    button,
    codes,
    container,
    label,
    modal,
    options,
    read,
    row,
    select,
    string_select,
    text,
    text_input,
)

ZERO = "SELECT_COMPONENT_REQUIRED_ZERO_MIN_VALUES"
LENGTH, REQUIRED, TYPE, CHOICES = (
    "BASE_TYPE_BAD_LENGTH",
    "BASE_TYPE_REQUIRED",
    "UNION_TYPE_CHOICES",
    "BASE_TYPE_CHOICES",
)


def upload(custom_id: str = "f", **values: Any) -> dict[str, Any]:
    return {"type": 19, "custom_id": custom_id, **values}


def radio(custom_id: str = "r", **values: Any) -> dict[str, Any]:
    return {"type": 21, "custom_id": custom_id, "options": options(3), **values}


def checks(custom_id: str = "c", **values: Any) -> dict[str, Any]:
    return {"type": 22, "custom_id": custom_id, "options": options(3), **values}


def check(custom_id: str = "y", **values: Any) -> dict[str, Any]:
    return {"type": 23, "custom_id": custom_id, **values}


def made(*components: dict[str, Any], **values: Any) -> Modal:
    form_errors = FormErrors()
    read_one = read_modal(modal(*components, **values), form_errors, resolved=None)
    assert not form_errors, form_errors.nested()
    assert read_one is not None
    return read_one


def refused(body: Any, resolved: ResolvedIds | None = None) -> dict[str, list[str]]:
    form_errors = FormErrors()
    read_modal(body, form_errors, resolved=resolved)
    return codes(form_errors)


def test_a_modal_of_every_field_is_read() -> None:
    fields = [text_input("0"), string_select("1"), *(select(kind, str(kind)) for kind in (5, 6, 7, 8))]
    for some in (fields[:5], [*fields[5:], upload(), radio(), checks(), check()]):
        form = made(*map(label, some))
        assert [component.id for component in walk(form.components)] == list(range(1, 11))
        assert [component["component"]["type"] for component in to_plain(form)["components"]] == [
            f["type"] for f in some
        ]


def test_defaults_of_fields_are_filled_in() -> None:
    form = to_plain(made(label(text_input()), label(string_select()), label(upload()), label(checks()), label(check())))
    inner = [component["component"] for component in form["components"]]
    assert (inner[0]["required"], inner[0]["label"], inner[0]["min_length"], inner[0]["max_length"]) == (
        True,
        None,
        None,
        None,
    )
    assert (inner[1]["min_values"], inner[1]["max_values"], inner[1]["required"]) == (1, 1, True)
    assert (inner[2]["min_values"], inner[2]["max_values"], inner[2]["required"]) == (1, 1, True)
    assert (inner[3]["min_values"], inner[3]["max_values"], inner[3]["required"]) == (1, 3, True)
    assert inner[4]["default"] is False


def test_rows_of_one_text_input_each_are_accepted() -> None:
    form = made(row(text_input("a", label="Name")), row(text_input("b", label="Story", style=2)), text("Thank you"))
    assert [component["type"] for component in to_plain(form)["components"]] == [1, 1, 10]
    assert refused(modal(row(text_input("a", label="A"), text_input("b", label="B")))) == {
        "components.0.components.1": ["COMPONENT_LAYOUT_WIDTH_EXCEEDED"]
    }
    assert refused(modal(row(text_input()))) == {"components.0.components.0.label": [REQUIRED]}
    assert refused(modal(row(button()))) == {"components.0.components.0": [TYPE]}


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (modal(text(), title="x" * 46), {"title": LENGTH}),
        (modal(text(), title=""), {"title": LENGTH}),
        (modal(text(), custom_id="x" * 101), {"custom_id": LENGTH}),
        ({"components": [text()]}, {"title": REQUIRED, "custom_id": REQUIRED}),
        ({"title": "x", "custom_id": "y"}, {"components": REQUIRED}),
        (modal(), {"components": LENGTH}),
        (modal(*(text() for _ in range(6))), {"components": LENGTH}),
        (modal(text("")), {"components.0.content": LENGTH}),
        (modal(container(text())), {"components.0": TYPE}),
        (modal(text_input()), {"components.0": TYPE}),
        (modal(label(button())), {"components.0.component": TYPE}),
        (modal(label(text())), {"components.0.component": TYPE}),
        (modal({"type": 18, "label": "x"}), {"components.0.component": REQUIRED}),
        (modal({"type": 18, "label": "x", "component": None}), {"components.0.component": REQUIRED}),
        (modal(label(check(), label="x" * 46)), {"components.0.label": LENGTH}),
        (modal(label(check(), description="x" * 101)), {"components.0.description": "BASE_TYPE_MAX_LENGTH"}),
        (
            modal(label(check("a")), label(check("a"))),
            {"components.1.component.custom_id": "COMPONENT_CUSTOM_ID_DUPLICATED"},
        ),
        (modal(label(check(), id=3), text(id=3)), {"components.1.id": "COMPONENT_ID_DUPLICATED"}),
        (modal(label(string_select(disabled=True))), {"components.0.component.disabled": "BASE_TYPE_BAD_TYPE"}),
        (modal(label(select(5, disabled=True))), {"components.0.component.disabled": "BASE_TYPE_BAD_TYPE"}),
        (modal(label(string_select(min_values=0))), {"components.0.component.min_values": ZERO}),
        (modal(label(select(8, min_values=0, required=True))), {"components.0.component.min_values": ZERO}),
        (modal(label(upload(min_values=0))), {"components.0.component.min_values": ZERO}),
        (modal(label(checks(min_values=0))), {"components.0.component.min_values": ZERO}),
        (modal(label(upload(max_values=11))), {"components.0.component.max_values": "NUMBER_TYPE_MAX"}),
        (modal(label(upload(file_types=["pdf"]))), {"components.0.component.file_types.0": CHOICES}),
        (modal(label(upload(file_types=[".a"] * 11))), {"components.0.component.file_types": "BASE_TYPE_MAX_LENGTH"}),
        (modal(label(radio(options=options(1)))), {"components.0.component.options": LENGTH}),
        (modal(label(radio(options=options(11)))), {"components.0.component.options": LENGTH}),
        (
            modal(label(radio(options=options(2, default=True)))),
            {"components.0.component.options": "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES"},
        ),
        (modal(label(checks(options=[]))), {"components.0.component.options": LENGTH}),
        (modal(label(checks(min_values=4))), {"components.0.component.min_values": "NUMBER_TYPE_MAX"}),
        (modal(label(text_input(style=3))), {"components.0.component.style": CHOICES}),
        (modal(label(text_input(min_length=-1))), {"components.0.component.min_length": "NUMBER_TYPE_MIN"}),
        (modal(label(text_input(max_length=4001))), {"components.0.component.max_length": "NUMBER_TYPE_MAX"}),
        (modal(label(text_input(max_length=0))), {"components.0.component.max_length": "NUMBER_TYPE_MIN"}),
        (
            modal(label(text_input(min_length=5, max_length=4))),
            {"components.0.component.min_length": "NUMBER_TYPE_MAX"},
        ),
        (modal(label(text_input(value="x" * 4001))), {"components.0.component.value": "BASE_TYPE_MAX_LENGTH"}),
        (modal(label(text_input(value="xx", max_length=1))), {"components.0.component.value": "BASE_TYPE_MAX_LENGTH"}),
        (
            modal(label(text_input(placeholder="x" * 101))),
            {"components.0.component.placeholder": "BASE_TYPE_MAX_LENGTH"},
        ),
        ([], {"": "MODEL_TYPE_CONVERT"}),
        (modal(components={}), {"components": "LIST_TYPE_CONVERT"}),
    ],
)
def test_a_bad_field_of_a_modal_is_named(body: Any, wrong: dict[str, str]) -> None:
    assert {path.strip("."): codes for path, codes in refused(body).items()} == {p: [c] for p, c in wrong.items()}


def test_the_ids_of_modals_are_collected_too() -> None:
    body = modal(label(select(5, default_values=[{"id": "7", "type": "user"}])))
    assert referenced_ids_of_modal(body).users == {7}
    assert refused(body, ResolvedIds()) == {"components.0.component.default_values.0.id": ["BASE_TYPE_BAD_TYPE"]}
    assert not refused(body, ResolvedIds(users=frozenset({7})))


FORM = modal(
    label(text_input("name", min_length=2, max_length=5)),
    label(string_select("pick", min_values=1, max_values=2, options=options(3))),
    label(select(5, "who", required=False)),
    text(),
    label(upload("files", max_values=2, file_types=["image", ".pdf"], required=False)),
)
CHOICE_FORM = modal(
    label(radio()), label(checks(max_values=2)), label(check()), row(text_input(label="x", required=False))
)


def entered(**values: Any) -> list[dict[str, Any]]:
    """What a client sends: labels around fields by custom id."""
    return [{"type": 18, "component": {"custom_id": key, **value}} for key, value in values.items()]


def made_of(form: dict[str, Any]) -> Modal:
    return made(*form["components"])


def test_a_submission_answers_every_field_in_order() -> None:
    form = made_of(FORM)
    form_errors = FormErrors()
    body = entered(pick={"values": ["0", "2"]}, name={"value": "Ann"}, files={"values": ["9"]})
    done = read_modal_submission(form, body, form_errors, files={9: "a.PDF"})
    assert not form_errors, form_errors.nested()
    assert [(answer.field.custom_id, answer.value) for answer in done] == [
        ("name", "Ann"),
        ("pick", ["0", "2"]),
        ("who", []),
        ("files", ["9"]),
    ]
    assert [answer.ids for answer in done] == [[], [], [], [9]]
    assert submission_payload(form, done) == [
        {"type": 18, "id": 1, "component": {"type": 4, "id": 2, "custom_id": "name", "value": "Ann"}},
        {"type": 18, "id": 3, "component": {"type": 3, "id": 4, "custom_id": "pick", "values": ["0", "2"]}},
        {"type": 18, "id": 5, "component": {"type": 5, "id": 6, "custom_id": "who", "values": []}},
        {"type": 10, "id": 7},
        {"type": 18, "id": 8, "component": {"type": 19, "id": 9, "custom_id": "files", "values": ["9"]}},
    ]


@pytest.mark.parametrize(("bounds", "longest"), [({}, 4000), ({"max_length": 5}, 5), ({"min_length": 1}, 4000)])
def test_a_text_has_up_to_4000_characters_unless_its_input_has_a_maximum(bounds: dict[str, int], longest: int) -> None:
    form = made(label(text_input("name", **bounds)))
    for length, expected in ((longest, []), (longest + 1, ["BASE_TYPE_"])):
        form_errors = FormErrors()
        read_modal_submission(form, entered(name={"value": "x" * length}), form_errors)
        errors = form_errors.nested().get("components", {}).get("0", {}).get("component", {}).get("value", {})
        assert [each["code"][:10] for each in errors.get("_errors", [])] == expected, length


def test_choices_and_rows_are_answered_too() -> None:
    form = made_of(CHOICE_FORM)
    form_errors = FormErrors()
    body = [
        *entered(r={"value": "1"}, c={"values": ["2", "0"]}, y={"value": True}),
        {"type": 1, "components": [{"type": 4, "custom_id": "t", "value": ""}]},
    ]
    done = read_modal_submission(form, body, form_errors)
    assert not form_errors
    assert [answer.value for answer in done] == ["1", ["2", "0"], True, ""]
    assert submission_payload(form, done)[3] == {
        "type": 1,
        "id": 7,
        "components": [{"type": 4, "id": 8, "custom_id": "t", "value": ""}],
    }


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ([], {"components.name.value": REQUIRED, "components.pick.values": LENGTH}),
        (entered(name={"value": "A"}), {"components.0.component.value": LENGTH, "components.pick.values": LENGTH}),
        (entered(name={"value": 5}, pick={"values": ["0"]}), {"components.0.component.value": "STRING_TYPE_CONVERT"}),
        (entered(name={"value": "Ann"}, pick={"values": ["7"]}), {"components.1.component.values.0": CHOICES}),
        (entered(name={"value": "Ann"}, pick={"values": list("012")}), {"components.1.component.values": LENGTH}),
        (
            entered(name={"value": "Ann"}, pick={"values": ["0", "0"]}),
            {"components.1.component.values.1": "SET_TYPE_ALREADY_CONTAINS_VALUE"},
        ),
        (
            entered(name={"value": "Ann"}, pick={"values": [{}]}),
            {"components.1.component.values.0": "STRING_TYPE_CONVERT", "components.1.component.values": LENGTH},
        ),
        (
            entered(name={"value": "Ann"}, pick={"values": ["0"]}, who={"values": ["x"]}),
            {"components.2.component.values.0": "NUMBER_TYPE_COERCE"},
        ),
        (
            entered(name={"value": "Ann"}, pick={"values": ["0"]}, who={"values": ["1", "2"]}),
            {"components.2.component.values": LENGTH},
        ),
        (
            entered(name={"value": "Ann"}, pick={"values": ["0"]}, files={"values": ["5", "6"]}),
            {
                "components.2.component.values.0": CHOICES,
                "components.2.component.values.1": "CONTENT_TYPE_INVALID",
            },
        ),
        (
            entered(name={"value": "Ann"}, pick={"values": ["0"]}, other={"value": "x"}),
            {"components.2.component.custom_id": CHOICES},
        ),
        (
            entered(name={"value": "Ann", "type": 3}, pick={"values": ["0"]}),
            {"components.0.component.type": CHOICES, "components.name.value": REQUIRED},
        ),
        (
            [*entered(name={"value": "Ann"}, pick={"values": ["0"]}), *entered(name={"value": "Bob"})],
            {"components.2.component.custom_id": "SET_TYPE_ALREADY_CONTAINS_VALUE"},
        ),
        ("x", {"components": "LIST_TYPE_CONVERT", "components.name.value": REQUIRED, "components.pick.values": LENGTH}),
        (
            [5, *entered(name={"value": "Ann"}, pick={"values": ["0"]})],
            {"components.0": "MODEL_TYPE_CONVERT"},
        ),
    ],
)
def test_an_error_of_a_submission_is_named(body: Any, wrong: dict[str, str]) -> None:
    form_errors = FormErrors()
    read_modal_submission(made_of(FORM), body, form_errors, files={6: "a.txt"})
    assert codes(form_errors) == {path: [code] for path, code in wrong.items()}


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (entered(r={"value": "9"}, c={"values": ["0"]}), {"components.0.component.value": CHOICES}),
        (entered(c={"values": ["0"]}), {"components.r.value": REQUIRED}),
        (entered(r={"value": "0"}, c={"values": list("012")}), {"components.1.component.values": LENGTH}),
        (entered(r={"value": "0"}, c={"values": ["9"]}), {"components.1.component.values.0": CHOICES}),
        (
            entered(r={"value": "0"}, c={"values": ["0"]}, y={"value": "yes"}),
            {"components.2.component.value": "BOOLEAN_TYPE_CONVERT"},
        ),
    ],
)
def test_unknown_choices_are_named(body: Any, wrong: dict[str, str]) -> None:
    form_errors = FormErrors()
    read_modal_submission(made_of(CHOICE_FORM), body, form_errors)
    assert codes(form_errors) == {path: [code] for path, code in wrong.items()}


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        (["0", "1"], {}),
        ([], {"values": LENGTH}),
        (["9"], {"values.0": CHOICES}),
        (["1", "1"], {"values.1": "SET_TYPE_ALREADY_CONTAINS_VALUE"}),
        (["0", "1", "2"], {"values": LENGTH}),
        (None, {"values": LENGTH}),
        ("0", {"values": ["LIST_TYPE_CONVERT", LENGTH]}),
    ],
)
def test_what_is_chosen_in_a_message_is_checked_against_its_select(values: Any, wrong: dict[str, Any]) -> None:
    (menu,), form_errors = read([row(string_select(options=options(3), max_values=2))], layout=False)
    assert not form_errors
    read_values(menu.components[0], values, form_errors)
    assert codes(form_errors) == {path: code if isinstance(code, list) else [code] for path, code in wrong.items()}


def test_selected_ids_may_be_numbers_and_must_be_ids() -> None:
    (menu,), form_errors = read([row(select(6, max_values=3))], layout=False)
    assert read_values(menu.components[0], ["5", 6], form_errors) == ["5", "6"]
    assert not form_errors
    read_values(menu.components[0], ["x"], form_errors)
    assert codes(form_errors) == {"values.0": ["NUMBER_TYPE_COERCE"]}
