"""Templates are compiled by a thread, with those that they extend and import."""

import threading
from typing import Any

import pytest

from moothall.pages import rendering


async def test_no_template_is_compiled_on_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    made = rendering.environment("de")
    if made.cache is not None:
        made.cache.clear()
    monkeypatch.setattr(rendering, "_compiled", set())
    threads: dict[str, int] = {}
    compile_source = made.compile

    def compile_noted(source: Any, name: str, *more: Any) -> Any:
        threads[name] = threading.get_ident()
        return compile_source(source, name, *more)

    monkeypatch.setattr(made, "compile", compile_noted)
    for name in made.list_templates():
        template = await rendering._template("de", name)
        assert await rendering._template("de", name) is template
    assert {"base.html", "fields.html", "login.html"} <= threads.keys() == set(made.list_templates())
    assert threading.get_ident() not in threads.values()
