"""Email addresses: what is one, and when two texts are the same."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moothall.objects.email_address import EmailAddress

SAME = {
    "alice@example.org": [
        "Alice@Example.ORG",
        "alice\uff20example.org",  # a full-width "@"
        "\uff41lice@example.org",  # a full-width "a"
        "al\u0130ce@example.org",  # a capital i with a dot
        "alI\u0307ce@example.org",  # the same in two characters
        "al\u0131ce@example.org",  # an i without a dot
        "alice@example\u3002org",  # an ideographic full stop
        "alice@\uff45xample.org",
    ],
    "alice@xn--bcher-kva.example": [
        "alice@b\u00fccher.example",
        "alice@bu\u0308cher.example",  # in two characters
        "ALICE@B\u00dcCHER.Example",
        "alice@XN--BCHER-KVA.example",
    ],
    "mike@example.org": ["mi\u212ae@example.org"],  # the sign of kelvin
    "jos\u00e9@example.org": ["jose\u0301@example.org", "JOS\u00c9@example.org"],
    "strasse@example.org": ["stra\u00dfe@example.org", "STRA\u1e9eE@example.org"],
}


@pytest.mark.parametrize(("plain", "other"), [(plain, other) for plain, others in SAME.items() for other in others])
def test_spellings_that_can_be_taken_for_one_another_are_one_address(plain: str, other: str) -> None:
    assert EmailAddress.from_wire(other).key == EmailAddress.from_wire(plain).key


def test_addresses_of_different_people_stay_different() -> None:
    texts = ["jose@example.org", "jos\u00e9@example.org", "jose@example.com", "jo.se@example.org", "jose+a@example.org"]
    assert len({EmailAddress.from_wire(text).key for text in texts}) == len(texts)


def test_the_written_form_keeps_the_case_of_the_local_part_and_shows_the_domain_in_ascii() -> None:
    assert EmailAddress.from_wire("Al.Ice+tag@B\u00fccher.Example") == "Al.Ice+tag@xn--bcher-kva.example"
    assert EmailAddress.from_wire("alice@r3---sn.example.org") == "alice@r3---sn.example.org"
    assert EmailAddress.from_wire("\u7528\u6237@\u4f8b\u5b50.example") == "\u7528\u6237@xn--fsqu00a.example"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alice",
        "@example.org",
        "alice@",
        "alice@localhost",
        "alice@bob@example.org",
        "alice@bob\uff20example.org",
        "alice@example..org",
        "alice@.example.org",
        "alice@example.org.",
        "alice@-example.org",
        "alice@exa_mple.org",
        "alice@[127.0.0.1]",
        "alice@127.0.0.1",
        "alice@127.0.0.\uff11",
        "alice@xn--a.example",
        "alice@xn--abc-.example",
        "alice@\u2100example.org",  # NFKC makes a slash of it
        ".alice@example.org",
        "alice.@example.org",
        "al..ice@example.org",
        '"al ice"@example.org',
        "al(ice)@example.org",
        "<alice@example.org>",
        "alice@example.org,bob@example.org",
        "al\u00adice@example.org",  # a soft hyphen
        "al\u200bice@example.org",  # a space of no width
        "al\u202eice@example.org",  # a directional override
        "al\u3164ice@example.org",  # a blank letter
        "al\ufe0fice@example.org",  # a variation selector
        "al\u00a8ice@example.org",  # NFKC makes a space of it
        "\u0301alice@example.org",  # a mark on nothing
        "al\ud800ice@example.org",
        "al\u0378ice@example.org",  # not assigned
        f"{'a' * 65}@example.org",
        "\u00e9" * 33 + "@example.org",
        f"alice@{'a' * 64}.org",
        f"alice@{'a.' * 125}org",
        "alice@" + "\u00fc." * 20 + "org",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Not a well formed email address"):
        EmailAddress.from_wire(text)


@pytest.mark.parametrize("value", [None, 5, True, ["alice@example.org"], b"alice@example.org"])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="Not a well formed email address"):
        EmailAddress.from_wire(value)


@pytest.mark.parametrize(
    "char", [*map(chr, range(0x21)), "\x7f", "\x85", "\xa0", "\u1680", "\u2028", "\u2029", "\u3000"]
)
def test_no_address_has_whitespace_or_a_control_character_anywhere(char: str) -> None:
    whole = "alice@example.org"
    for position in range(len(whole) + 1):
        with pytest.raises(ValueError, match="Not a well formed email address"):
            EmailAddress.from_wire(f"{whole[:position]}{char}{whole[position:]}")


def test_the_longest_address_is_taken_and_one_longer_refused() -> None:
    domain = ".".join(["d" * 61, "d" * 61, "d" * 61, "org"])
    longest = f"{'a' * (254 - 1 - len(domain))}@{domain}"
    assert len(longest) == 254
    assert EmailAddress.from_wire(longest) == longest
    with pytest.raises(ValueError, match="Not a well formed email address"):
        EmailAddress.from_wire(f"a{longest}")


@given(st.text(min_size=1, max_size=12), st.sampled_from(["example.org", "b\u00fccher.example", "\u4f8b.example"]))
@example("i\u0307\u0307\u0301", "example.org")
@example("\u0345\u03b1", "example.org")
def test_normalising_twice_changes_nothing_and_keys_hold_no_confusable_space(local_part: str, domain: str) -> None:
    try:
        address = EmailAddress.from_wire(f"{local_part}@{domain}")
    except ValueError:
        return
    assert EmailAddress.from_wire(str(address)) == address
    assert EmailAddress.from_wire(address.key).key == address.key
    assert address.key == EmailAddress.from_wire(unicodedata.normalize("NFKC", address)).key
    assert not any(char.isspace() or unicodedata.category(char)[0] in "CZ" for char in address)
