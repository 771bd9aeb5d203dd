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
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.web.person import HtmlForm, read_page

PASSWORD = "correct horse battery"
_PATIENCE = 20.0


def missing() -> str | None:
    """What of Chromium is not installed here."""
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(absent)} not installed" if absent else None


class Callback:
    """The address of an application that people come back to."""

    def __init__(self) -> None:
        self.came: list[str] = []
        came = self.came

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/callback"):
                    came.append(self.path)
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
        """Where the last person came in."""
        return f"{self.base}{self.came[-1]}"


class Walker(Protocol):
    """Somebody who can consent."""

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
        self.driver.get(url)
        if "/login" in self.driver.current_url:
            self.log_in(name)
        for field, label in choices.items():
            Select(self.driver.find_element(By.NAME, field)).select_by_visible_text(label)
        self.press("Allow")
        self.wait("Back")

    def log_in(self, name: str) -> None:
        """Fill the form of logging in."""
        if self.keys:
            # The first field has the focus already.
            self.driver.switch_to.active_element.send_keys(name, Keys.TAB, PASSWORD, Keys.ENTER)
        else:
            self.fill(login=name, password=PASSWORD)
            self.press("Log in")

    def fill(self, **fields: str) -> None:
        """Write into fields."""
        for field, text in fields.items():
            found = self.driver.find_element(By.ID, field)
            found.clear()
            found.send_keys(text)

    def press(self, button: str) -> None:
        """Press a button, by the keyboard after having gone to it with the tabulator."""
        if not self.keys:
            self.driver.find_element(By.XPATH, f"//button[normalize-space()='{button}']").click()
            return
        for _ in range(60):
            self.driver.switch_to.active_element.send_keys(Keys.TAB)
            focused = self.driver.switch_to.active_element
            if focused.tag_name == "button" and focused.text == button:
                focused.send_keys(Keys.ENTER)
                return
        raise AssertionError(f"the keyboard does not reach {button}")

    def wait(self, title: str) -> None:
        """Wait for a page."""
        WebDriverWait(self.driver, _PATIENCE).until(lambda driver: driver.title.startswith(title))

    def text(self) -> str:
        """What the page says."""
        return self.driver.find_element(By.TAG_NAME, "body").text


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """A headless Chromium that runs no script of any page."""
    options = webdriver.ChromeOptions()
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
    options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.binary_location = str(shutil.which("chromium"))
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver"))))
    driver.set_page_load_timeout(_PATIENCE)
    try:
        yield driver
    finally:
        driver.quit()
