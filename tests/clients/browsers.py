"""People who go through the pages of a live server: with plain forms over HTTP, and with Chromium."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import urljoin

import requests
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.web.browser import HtmlForm, read_page

PASSWORD = "correct horse battery"
_PATIENCE = 60.0
"""Seconds after which a page counts as one that never comes. A machine that is merely busy needs far less."""

_LOADED = """
const first = document.querySelector('[autofocus]');
const focused = first === null || document.activeElement !== document.body;
return document.readyState === 'complete' && focused ? performance.timeOrigin : null;
"""
"""The moment at which the page began, which no other page has; null until it is whole and its first field has focus."""

_FOCUSED = "return [document.activeElement.tagName, document.activeElement.textContent.trim()];"


def missing() -> str | None:
    """What of Chromium is not installed here."""
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(absent)} not installed" if absent else None


class Callback:
    """The address of an application that people come back to."""

    def __init__(self) -> None:
        self.login_paths: list[str] = []
        login_paths = self.login_paths

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/callback"):
                    login_paths.append(self.path)
                body = b"<!doctype html><title>Back</title><h1>Back at the app</h1>"
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base = f"http://localhost:{self._server.server_address[1]}"
        self.uri = f"{self.base}/callback"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The URL at which the last person logged in."""
        return f"{self.base}{self.login_paths[-1]}"


class Walker(Protocol):
    """A user who can consent."""

    def consent(self, url: str, name: str, **choices: str) -> None:
        """Open an application's link, log in, choose, allow, and come back to the application."""


class ByForms:
    """A browser of nothing but HTTP and forms."""

    def __init__(self) -> None:
        self.session = requests.Session()
        self.session.headers["accept"] = "text/html,*/*;q=0.8"

    def consent(self, url: str, name: str, **choices: str) -> None:
        """The same without any browser."""
        answer = self.session.get(url, timeout=_PATIENCE)
        if "/login" in answer.url:
            answer = self._press(answer, "Log in", login=name, password=PASSWORD)
        self._press(answer, "Allow", **choices)

    def _press(self, page: requests.Response, button: str, **filled: str) -> requests.Response:
        forms: list[HtmlForm] = [each for each in read_page(page.text).forms if button in each.buttons()]
        # In a thread, `next` of nothing would be waited for without end.
        assert forms, page.text
        form = forms[0]
        pressed = next(each for each in form.controls if each.label == button)
        values = [pair for pair in form.values() if pair[0] not in filled] + list(filled.items())
        if pressed.name:
            values.append((pressed.name, pressed.value))
        origin = "/".join(page.url.split("/", 3)[:3])
        answer = self.session.post(
            urljoin(page.url, form.action), values, headers={"origin": origin}, timeout=_PATIENCE
        )
        assert answer.status_code == 200, answer.text
        return answer


class ByChromium:
    """Chromium without scripts; only the keyboard is used where `keys` says so."""

    def __init__(self, driver: webdriver.Chrome, *, keys: bool = False) -> None:
        self.driver = driver
        self.keys = keys

    def consent(self, url: str, name: str, **choices: str) -> None:
        """The same by clicking, or by keys alone."""
        self.open(url)
        if "/login" in self.driver.current_url:
            self.log_in(name)
        for field, label in choices.items():
            Select(self.driver.find_element(By.NAME, field)).select_by_visible_text(label)
        self.press("Allow")
        self.wait("Back")

    def open(self, url: str) -> None:
        """Go to an address, and wait until the page is whole."""
        with self._leaving():
            self.driver.get(url)

    def log_in(self, name: str) -> None:
        """Fill the form of logging in."""
        if self.keys:
            # The first field has the focus already.
            with self._leaving():
                self._type(name, Keys.TAB, PASSWORD, Keys.ENTER)
        else:
            self.fill(login=name, password=PASSWORD)
            self.press("Log in")

    def fill(self, **fields: str) -> None:
        """Write into fields."""
        for field, text in fields.items():
            control = self.driver.find_element(By.ID, field)
            control.clear()
            control.send_keys(text)

    def press(self, button: str) -> None:
        """Press a button, by the keyboard after having gone to it with the tabulator; wait for the page it leads to."""
        if not self.keys:
            with self._leaving():
                self.driver.find_element(By.XPATH, f"//button[normalize-space()='{button}']").click()
            return
        for _ in range(60):
            self._type(Keys.TAB)
            if self.driver.execute_script(_FOCUSED) == ["BUTTON", button]:
                with self._leaving():
                    self._type(Keys.ENTER)
                return
        raise AssertionError(f"the keyboard does not reach {button}")

    def wait(self, title: str) -> None:
        """Wait for a page."""
        WebDriverWait(self.driver, _PATIENCE).until(lambda driver: driver.title.startswith(title))

    def text(self) -> str:
        """What the page says."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def _type(self, *keys: str) -> None:
        """Type into whatever has the focus. No element is named: one of a page that is left would be stale."""
        ActionChains(self.driver).send_keys(*keys).perform()

    @contextmanager
    def _leaving(self) -> Iterator[None]:
        """Wait until what is done inside has led to another page, and that one is whole.

        A click or a key returns before the form that it sends has left the page: an element looked up next would be
        one of the page that is left, and stale a moment later.
        """
        before = self._loaded()
        yield
        self._loaded(other_than=before)

    def _loaded(self, other_than: float | None = None) -> float:
        """Wait for a page that is whole; the moment at which it began."""

        def began(driver: webdriver.Chrome) -> float | None:
            try:
                moment: float | None = driver.execute_script(_LOADED)
            except WebDriverException:
                # The page went away under the question.
                return None
            return None if moment == other_than else moment

        moment = WebDriverWait(self.driver, _PATIENCE, poll_frequency=0.05).until(began)
        assert moment is not None
        return moment


@contextmanager
def chromium(profile: Path, *, scripts: bool = False) -> Iterator[webdriver.Chrome]:
    """A headless Chromium that runs no script of any page unless it may, and waits for no page: `ByChromium` does."""
    options = webdriver.ChromeOptions()
    # The driver's own waiting ends early if a navigation begins late, as on a busy machine.
    options.page_load_strategy = "none"
    for argument in (
        "--headless=new",
        "--no-sandbox",  # it runs as root in containers
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--no-first-run",
        f"--user-data-dir={profile}",
        "--window-size=1000,1200",
    ):
        options.add_argument(argument)
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.binary_location = str(shutil.which("chromium"))
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver"))))
    try:
        yield driver
    finally:
        driver.quit()
