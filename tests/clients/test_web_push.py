"""Web Push in the client: a switch subscribes the browser, and its worker shows what the server pushes."""

import json
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from moothall.resources.push.encryption import new_private_key
from tests.clients.client_pages import ClientPage, becomes
from tests.clients.live import Server

# The machine reaches no push service, so the browser's own subscription is stood in for; all else is real.
SUBSCRIBE = """
const subscription = {
  toJSON: () => ({
    endpoint: "https://push.example/1",
    keys: {
      p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      auth: "BTBZMqHH6r4Tts7J_aSIgg",
    },
  }),
  unsubscribe: async () => { subscribed = false; return true; },
};
let subscribed = false;
PushManager.prototype.subscribe = async function (options) {
  window.subscribedWith = options.applicationServerKey;
  subscribed = true;
  return subscription;
};
PushManager.prototype.getSubscription = async () => (subscribed ? subscription : null);
"""
NOTE_NOTIFICATIONS = """() => {
  self.shown = [];
  const show = ServiceWorkerRegistration.prototype.showNotification;
  ServiceWorkerRegistration.prototype.showNotification = function (title, options) {
    self.shown.push([title, options.body, options.data.url]);
    return show.call(this, title, options);
  };
}"""
"""Without a desktop, Chromium takes notifications away again at some time, so the worker notes what it shows."""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "push_private_key": new_private_key()}


async def subscriptions(client: ClientPage) -> Any:
    """The user's subscriptions, as the server lists them."""
    return await client.page.evaluate(
        """async () => {
          const {token} = JSON.parse(localStorage.getItem("moothall.accounts"))[0];
          const response = await fetch("/api/v10/users/@me/push-subscriptions", {headers: {authorization: token}});
          return await response.json();
        }"""
    )


async def test_a_switch_subscribes_the_browser_and_its_worker_shows_notifications(
    browser: Browser, server: Server
) -> None:
    client = await ClientPage.open(browser, server.url, permissions=["notifications"], service_workers="allow")
    page = client.page
    await page.add_init_script(SUBSCRIBE)
    await client.register("pushed")
    await page.goto(f"{server.url}/app/settings/notifications")
    switch = page.get_by_role("switch", name="Notify me while no page is open")
    await expect(switch).not_to_be_checked()
    await page.locator("label", has=switch).click()
    await expect(switch).to_be_checked()
    state = await subscriptions(client)
    assert [(each["host"], each["current"]) for each in state["subscriptions"]] == [("push.example", True)]
    assert await page.evaluate("window.subscribedWith") == state["public_key"]

    session = await page.context.new_cdp_session(page)
    registrations: list[dict[str, Any]] = []

    def note(event: dict[str, Any]) -> None:
        registrations.extend(event["registrations"])

    session.on("ServiceWorker.workerRegistrationUpdated", note)
    await session.send("ServiceWorker.enable")
    await page.wait_for_function(
        "() => navigator.serviceWorker.getRegistration('/app/push/').then((each) => each.active)"
    )
    (registration,) = [each for each in registrations if each["scopeURL"].endswith("/app/push/")]
    worker = next(each for each in page.context.service_workers if each.url.endswith("/push-worker.js"))
    await worker.evaluate(NOTE_NOTIFICATIONS)
    payload = {"title": "ben (#general, The Moot)", "body": "hello", "url": "/channels/@me/1/2", "tag": "1"}
    await session.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": server.url, "registrationId": registration["registrationId"], "data": json.dumps(payload)},
    )
    await becomes(lambda: worker.evaluate("self.shown"), [["ben (#general, The Moot)", "hello", "/channels/@me/1/2"]])

    await page.locator("label", has=switch).click()
    await expect(switch).not_to_be_checked()
    assert (await subscriptions(client))["subscriptions"] == []
    assert client.errors == []
