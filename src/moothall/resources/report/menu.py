"""The menus by which clients let people report something: nodes that lead to one another, in English and German."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from moothall.objects.json_object import JsonObject

VERSION: Final = "1.0"
VARIANT: Final = "1"
DESCRIPTION: Final = "description"
"""The name of the element that has the reporter's words."""
DESCRIPTION_MAX: Final = 1000
_ROOT: Final = 1
_SUCCESS: Final = 2
_FAIL: Final = 3
_FIRST_REASON: Final = 11

ENGLISH: Final = "en"
LANGUAGES: Final = frozenset({ENGLISH, "de"})

REASONS: Final = ("spam", "harassment", "hate", "violence", "sexual", "minors", "self_harm", "illegal", "other")
"""Why something is reported, in the order of the menu. The values are stored; new ones come last."""
_REASONS_OF: Final = {
    "message": REASONS,
    "user": ("spam", "harassment", "hate", "sexual", "minors", "impersonation", "other"),
    "guild": ("spam", "harassment", "hate", "violence", "sexual", "minors", "illegal", "other"),
}
_NUMBERS: Final = {reason: _FIRST_REASON + index for index, reason in enumerate((*REASONS, "impersonation"))}
_ACTIONS: Final = {"message": ("block_users",), "user": ("block_users",), "guild": ("leave_guild",)}
"""What clients offer once a report is made."""

TEXTS: Final[dict[str, dict[str, str]]] = {
    ENGLISH: {
        "message": "What is wrong with this message?",
        "user": "What is wrong with this person?",
        "guild": "What is wrong with this server?",
        "reason_subheader": "The operators of this server read your report. Whom it is about is not told who made it.",
        "description": "What else should they know?",
        "success": "Your report was made",
        "success_subheader": "You get a mail when it is closed, if your address is confirmed and mail is set up here.",
        "fail": "Your report could not be made",
        "fail_subheader": "Try it again later.",
        "spam": "Spam or fraud",
        "harassment": "Harassment or bullying",
        "hate": "Hate",
        "violence": "Violence, or threats of it",
        "sexual": "Sexual content",
        "minors": "Danger to children or young people",
        "self_harm": "Suicide or self-harm",
        "illegal": "Something else that is illegal",
        "impersonation": "Pretends to be another person",
        "other": "Something else",
    },
    "de": {
        "message": "Was stimmt mit dieser Nachricht nicht?",
        "user": "Was stimmt mit dieser Person nicht?",
        "guild": "Was stimmt mit diesem Server nicht?",
        "reason_subheader": (
            "Die Betreiber dieses Servers lesen deine Meldung. Wen sie betrifft, erfährt nicht, von wem sie kommt."
        ),
        "description": "Was sollten sie noch wissen?",
        "success": "Deine Meldung ist eingegangen",
        "success_subheader": (
            "Du bekommst eine Mail, wenn sie abgeschlossen ist, sofern deine Adresse bestätigt ist"
            " und hier Mails eingerichtet sind."
        ),
        "fail": "Deine Meldung konnte nicht angenommen werden",
        "fail_subheader": "Versuche es später noch einmal.",
        "spam": "Spam oder Betrug",
        "harassment": "Belästigung oder Mobbing",
        "hate": "Hass",
        "violence": "Gewalt oder Drohung mit Gewalt",
        "sexual": "Sexuelle Inhalte",
        "minors": "Gefahr für Kinder oder Jugendliche",
        "self_harm": "Suizid oder Selbstverletzung",
        "illegal": "Etwas anderes, das verboten ist",
        "impersonation": "Gibt sich für jemand anderen aus",
        "other": "Etwas anderes",
    },
}


class Button(Struct, frozen=True):
    """The button of a node: `submit` or `done`."""

    type: str
    target: int | None = None


class Element(Struct, frozen=True, kw_only=True):
    """What a client shows in a node."""

    name: str
    type: str
    data: JsonObject | None = None
    should_submit_data: bool = False
    skip_if_unlocalized: bool = False
    is_localized: bool = True


class Node(Struct, frozen=True, kw_only=True):
    """A step of a menu. One with a `report_type` submits the report."""

    id: int
    key: str
    header: str
    subheader: str | None = None
    info: str | None = None
    button: Button | None = None
    elements: list[Element] = []
    report_type: str | None = None
    children: list[list[str | int]] = []
    """Labels, each with the id of the node that it leads to."""
    is_multi_select_required: bool = False
    is_auto_submit: bool = False


class Menu(Struct, frozen=True, kw_only=True):
    """The menu of a kind of thing that can be reported. The keys of `nodes` are ids of nodes."""

    name: str
    version: str
    variant: str
    postback_url: str
    language: str
    root_node_id: int
    success_node_id: int
    fail_node_id: int
    nodes: dict[str, Node]


def menu_of(name: str, language: str) -> Menu | None:
    """The menu for reports of a message, a user or a guild; None for any other thing."""
    reasons = _REASONS_OF.get(name)
    if reasons is None:
        return None
    text = TEXTS[language]
    children: list[list[str | int]] = [[text[reason], _NUMBERS[reason]] for reason in reasons]
    breadcrumbs = Element(name="breadcrumbs", type="breadcrumbs")
    words = Element(
        name=DESCRIPTION,
        type="free_text",
        data={"title": text["description"], "rows": 4, "character_limit": DESCRIPTION_MAX},
        should_submit_data=True,
    )
    nodes = [
        Node(id=_ROOT, key="ROOT", header=text[name], subheader=text["reason_subheader"], children=children),
        Node(
            id=_SUCCESS,
            key="SUCCESS",
            header=text["success"],
            subheader=text["success_subheader"],
            button=Button("done"),
            elements=[Element(name=kind, type=kind) for kind in ("success", *_ACTIONS[name])],
        ),
        Node(
            id=_FAIL,
            key="FAIL",
            header=text["fail"],
            subheader=text["fail_subheader"],
            button=Button("done"),
            elements=[Element(name="fail", type="fail")],
        ),
        *(
            Node(
                id=_NUMBERS[reason],
                key=reason.upper(),
                header=text[reason],
                button=Button("submit"),
                elements=[breadcrumbs, words],
                report_type=reason,
            )
            for reason in reasons
        ),
    ]
    return Menu(
        name=name,
        version=VERSION,
        variant=VARIANT,
        postback_url=f"/api/reporting/{name}",
        language=language,
        root_node_id=_ROOT,
        success_node_id=_SUCCESS,
        fail_node_id=_FAIL,
        nodes={str(node.id): node for node in nodes},
    )


def reason_of(name: str, breadcrumbs: Sequence[int]) -> str | None:
    """The reason that a way through a menu leads to; None for a way that there is not."""
    reasons = {_NUMBERS[reason]: reason for reason in _REASONS_OF[name]}
    way = [number for number in breadcrumbs if number != _ROOT]
    return reasons.get(way[0]) if len(way) == 1 else None
