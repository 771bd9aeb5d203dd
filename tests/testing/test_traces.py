"""Pages of tests: what people saw, drawn by the client, beside the wire."""

import asyncio
import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.async_api import expect

from tests.clients.client_pages import chromium, require_client
from tests.testing.bot_projects import project, run

__all__ = ["project"]

pytest_plugins = ["pytester"]


def _picture() -> bytes:
    data = BytesIO()
    Image.new("RGB", (64, 48), "teal").save(data, "PNG")
    return data.getvalue()


def test_each_test_has_a_page_that_shows_what_people_saw_step_by_step(project: pytest.Pytester) -> None:
    require_client()
    (project.path / "a.png").write_bytes(_picture())
    run(
        project,
        """
        from pathlib import Path

        async def test_a_form(moothall, alice, bob):
            await moothall.start_bot("mybot:client")
            await bob.uploads("a b.png", Path("a.png").read_bytes(), text="</script> **look**").awaits_reply()
            message = await alice.says("choices").awaits_reply()
            await alice.clicks(message, "Press").awaits_edit(message)
            modal = await alice.clicks(message, "Form").awaits_modal()
            answer = await alice.submits(modal, answer="Ada").awaits_reply()
            assert answer.ephemeral
            # Who is watched is not noticed.
            carol = await moothall.create_person("carol")
            changes = [each["data"] for each in moothall.entries() if each["kind"] == "event"]
            assert carol.id in {each["user"]["id"] for each in changes if "joined_at" in each}
            assert carol.id not in {each["user"]["id"] for each in changes if "client_status" in each}

        def test_that_fails(moothall, alice):
            alice.says("only this").wait()
            assert False
        """,
        "--moothall-trace",
        "traces",
        passed=1,
        failed=1,
    )
    folder = project.path / "traces"
    assert sorted(path.name for path in folder.iterdir()) == [
        "files",
        "test_bot.py-test_a_form.html",
        "test_bot.py-test_that_fails.html",
        "trace.css",
        "trace.js",
    ]
    assert [path.name for path in folder.rglob("*.png")] == ["a_b.png"]
    asyncio.run(_look(folder))


async def _look(folder: Path) -> None:
    async with chromium() as browser:
        page = await browser.new_page(viewport={"width": 1280, "height": 800}, locale="de-DE")
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        await page.goto((folder / "test_bot.py-test_a_form.html").as_uri())
        channel, wire = page.get_by_role("log"), page.get_by_role("list", name="Wire")

        # The end: what bob sent with its picture, the edited message, and what alice alone sees.
        await expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"passed.*test_a_form"))
        await expect(channel).to_contain_text("</script> look")
        picture = channel.locator(".attachment-image img")
        await expect(picture).to_have_js_property("naturalWidth", 64)
        await expect(channel.get_by_role("button", name="Press", exact=True)).to_be_visible()
        await expect(channel).to_contain_text("Hello Ada")

        # Others do not see it.
        await page.get_by_role("button", name=re.compile("As seen by")).click()
        await page.get_by_role("option", name="bob").click()
        await expect(channel).to_contain_text("pressed")
        await expect(channel).not_to_contain_text("Hello Ada")
        await page.get_by_role("button", name=re.compile("As seen by")).click()
        await page.get_by_role("option", name="alice").click()

        # The moment at which the modal is shown, drawn as the client draws it.
        await wire.get_by_role("button", name=re.compile("INTERACTION_MODAL_CREATE")).click()
        await expect(channel).not_to_contain_text("Hello Ada")
        await page.get_by_role("button", name="Show the modal: Form").click()
        await expect(page.get_by_role("dialog")).to_contain_text("Name")
        await page.keyboard.press("Escape")

        # A step with its wire: the request as it was sent.
        request = wire.get_by_role("button").filter(has_text=re.compile(r"alice POST .* 200 'choices'"))
        await request.click()
        await expect(request).to_have_attribute("aria-current", "step")
        sent = json.loads(await wire.locator("figure").filter(has_text="sent").locator("pre").inner_text())
        assert sent["content"] == "choices"
        await expect(channel).not_to_contain_text("pressed")
        before = await page.get_by_role("status").first.inner_text()
        await page.keyboard.press("ArrowUp")
        await expect(page.get_by_role("status").first).not_to_have_text(before)

        await page.goto((folder / "test_bot.py-test_that_fails.html").as_uri())
        await expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"failed.*test_that_fails"))
        await expect(channel).to_contain_text("only this")
        await expect(channel).not_to_contain_text("choices")
        assert errors == []
