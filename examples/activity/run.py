"""Create the whiteboard's app on a running server, once, build its front, and serve it.

The account that owns the app is yours if you set `MOOTHALL_TOKEN`, else a new one. Anybody can launch the Activity
where the app is installed; its owner can launch it everywhere.
"""

import json
import os
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
STORED = FOLDER / "app.json"
URL = os.environ.get("MOOTHALL_URL", "http://localhost:3333")
PORT = os.environ.get("PORT", "5173")


def call(method: str, path: str, body: Any, token: str = "") -> Any:
    """One request to the API; the response."""
    headers = {"content-type": "application/json"} | ({"authorization": token} if token else {})
    data = json.dumps(body).encode()
    address = f"{URL}/api/v10{path}"
    request = urllib.request.Request(address, data=data, method=method, headers=headers)  # noqa: S310 the operator's
    try:
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 the server of the operator
            text = response.read()
    except urllib.error.HTTPError as problem:
        sys.exit(f"{method} {path}: {problem.code} {problem.read().decode()}")
    except OSError as problem:
        sys.exit(f"No server answers at {URL}: {problem}. Start one with: make run ARGS=--allow-private-addresses")
    return json.loads(text) if text else None


def create_app() -> dict[str, str]:
    """Create the app, with its Activity, for the account of `MOOTHALL_TOKEN` or a new one; its id and secrets."""
    token = os.environ.get("MOOTHALL_TOKEN", "")
    account: dict[str, str] = {}
    if not token:
        account = {"username": f"whiteboard{secrets.randbelow(10**6)}", "password": secrets.token_urlsafe(16)}
        token = call("POST", "/auth/register", account)["token"]
    app = call("POST", "/applications", {"name": "Whiteboard"}, token)
    path = f"/applications/{app['id']}"
    install = {"0": {"oauth2_install_params": {"scopes": ["applications.commands"], "permissions": "0"}}, "1": {}}
    changes = {"redirect_uris": ["https://127.0.0.1"], "integration_types_config": install}
    call("PATCH", path, changes, token)
    call("POST", f"{path}/set-embedded", {"embedded": True}, token)
    released = {"client_platform_config": {"web": {"release_phase": "global_launch"}}}
    call("PATCH", f"{path}/embedded-activity-config", released, token)
    call("POST", f"{path}/proxy-config", {"url_map": [{"prefix": "/", "target": f"localhost:{PORT}"}]}, token)
    return {"id": app["id"], "secret": app["secret"], "bot_token": app["bot"]["token"]} | account


def main() -> None:
    """Run the example until it is interrupted."""
    if not STORED.exists():
        created = json.dumps(create_app(), indent=2)  # first: without a server there is nothing to store
        STORED.touch(mode=0o600)
        STORED.write_text(created, encoding="utf-8")
    app = json.loads(STORED.read_text(encoding="utf-8"))
    if not (FOLDER / "node_modules").exists():
        subprocess.run(["npm", "ci", "--silent"], cwd=FOLDER, check=True)
    subprocess.run(["npm", "run", "build", "--silent"], cwd=FOLDER, check=True)
    print(f"Install it to a server of yours: {URL}/oauth2/authorize?client_id={app['id']}&scope=applications.commands")
    print("Then choose the rocket in one of its channels.")
    environ = os.environ | {
        "CLIENT_ID": app["id"],
        "CLIENT_SECRET": app["secret"],
        "BOT_TOKEN": app["bot_token"],
        "MOOTHALL_URL": URL,
        "PORT": PORT,
    }
    subprocess.run([sys.executable, str(FOLDER / "server.py")], env=environ, check=False)


if __name__ == "__main__":
    main()
