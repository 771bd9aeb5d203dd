"""The error codes, and the nested errors of a form."""

import pytest

from moothall.objects import errors
from moothall.objects.errors import CATALOGUE, ErrorKind, FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError


def test_codes_and_names_of_errors_are_unique() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, ErrorKind)]
    coded = [kind for kind in kinds if kind.code]
    assert len(coded) == len(CATALOGUE)
    assert all(CATALOGUE[kind.code] is kind for kind in coded)


def test_unknown_resources_are_404_and_every_status_is_valid() -> None:
    for kind in CATALOGUE.values():
        assert (kind.status == 404) == (10_000 < kind.code < 20_000)
        assert kind.status in {202, 400, 401, 403, 404, 413, 429, 503}


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        (errors.UNKNOWN_GUILD, 404, 10004),
        (errors.UNKNOWN_INVITE, 404, 10006),
        (errors.UNKNOWN_USER, 404, 10013),
        (errors.UNKNOWN_BAN, 404, 10026),
        (errors.UNKNOWN_WELCOME_SCREEN, 404, 10069),
        (errors.BOTS_CANNOT_USE, 403, 20001),
        (errors.SLOWMODE, 429, 20016),
        (errors.REQUEST_TOO_LARGE, 413, 40005),
        (errors.USER_BANNED, 403, 40007),
        (errors.ONE_PARENT_AT_A_TIME, 400, 40009),
        (errors.NOT_IN_VOICE, 400, 40032),
        (errors.MISSING_ACCESS, 403, 50001),
        (errors.WIDGET_DISABLED, 403, 50004),
        (errors.MISSING_PERMISSIONS, 403, 50013),
        (errors.INVALID_ACCESS_TOKEN, 400, 50025),
        (errors.INVALID_WEBHOOK_TOKEN, 401, 50027),
        (errors.INVALID_FORM_BODY, 400, 50035),
        (errors.MORE_BOOSTS_REQUIRED, 400, 50101),
        (errors.INVALID_JSON, 400, 50109),
        (errors.ONBOARDING_REQUIREMENTS, 400, 350000),
        (errors.ONBOARDING_BELOW_REQUIREMENTS, 400, 350001),
        (errors.FAILED_TO_BAN, 400, 500000),
    ],
)
def test_errors_have_the_published_numbers(kind: ErrorKind, status: int, code: int) -> None:
    assert (kind.status, kind.code) == (status, code)


def test_the_body_of_a_refusal_is_code_and_message() -> None:
    assert Refusal(errors.UNKNOWN_GUILD).body() == {"code": 10004, "message": "Unknown Guild"}


def test_a_refusal_may_have_extra_keys_and_headers() -> None:
    refusal = Refusal(
        errors.RATE_LIMITED, message="Slow down", headers={"Via": "1.1 moothall"}, extra={"retry_after": 0.5}
    )
    assert refusal.status == 429
    assert refusal.headers == {"Via": "1.1 moothall"}
    assert refusal.body() == {"code": 0, "message": "Slow down", "retry_after": 0.5}


def test_errors_nest_by_field_and_index() -> None:
    form = FormErrors()
    form.add("embeds.0.fields.1.name", *FieldError.required())
    form.add(["embeds", 0, "fields", 1, "name"], *FieldError.length(1, 256))
    form.add("", "TOO_MUCH", "All of it.")
    name = {
        "_errors": [
            {"code": "BASE_TYPE_REQUIRED", "message": "This field is required"},
            {"code": "BASE_TYPE_BAD_LENGTH", "message": "Must be between 1 and 256 in length."},
        ]
    }
    assert form.nested() == {
        "embeds": {"0": {"fields": {"1": {"name": name}}}},
        "_errors": [{"code": "TOO_MUCH", "message": "All of it."}],
    }


def test_a_view_reports_below_its_path() -> None:
    form = FormErrors()
    form.at("embeds.2").at(["author"]).add("name", *FieldError.too_large(3))
    assert list(form.nested()["embeds"]["2"]["author"]) == ["name"]


def test_a_form_without_errors_refuses_nothing() -> None:
    form = FormErrors()
    form.at("embeds.0")
    assert not form
    form.raise_if_any()


def test_a_refusal_of_a_form_has_all_its_errors() -> None:
    form = FormErrors()
    form.add("name", *FieldError.required())
    form.add("type", *FieldError.choices((0, 2)))
    with pytest.raises(Refusal) as refused:
        form.raise_if_any()
    body = refused.value.body()
    assert (refused.value.status, body["code"]) == (400, 50035)
    assert body["errors"] == form.nested()
    assert body["errors"]["type"]["_errors"][0]["message"] == "Value must be one of (0, 2)."


def test_refuse_field_raises_with_one_error() -> None:
    with pytest.raises(Refusal) as refused:
        refuse_field("name", *FieldError.length(None, 100))
    assert refused.value.body()["errors"] == {
        "name": {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 100 or fewer in length."}]}
    }
