"""`moothall test-server` as a process, and clients that speak plain HTTP and WebSocket to it."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

PATIENCE = 30.0


class Answer:
    """The answer to a request."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ControlledServer:
    """A test server; ended with the block."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "moothall", "test-server", "--json", *self._arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        self.info: Any = json.loads(self.line)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process.terminate()
        self.process.wait(PATIENCE)

    def send(self, method: str, url: str, body: Any = None, *, token: str | None = None, headers: Any = None) -> Answer:
        """One request."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, method=method, headers=headers or {})  # noqa: S310 its own URL
        request.add_header("Content-Type", "application/json")
        if token is not None:
            request.add_header("Authorization", token)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return Answer(refused.code, refused.headers, refused.read())

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """A request of the control API that succeeds; the parsed answer."""
        answer = self.send(method, f"{self.info['control_url']}{path}", body)
        assert answer.status < 300, answer.body
        return answer.json if answer.body else None

    def api(self, method: str, path: str, body: Any = None, *, who: str = "alice") -> Answer:
        """A request of a person or a bot."""
        return self.send(method, f"{self.info['api_url']}{path}", body, token=self.authorization(who))

    def authorization(self, who: str) -> str:
        """The Authorization header of a person or a bot."""
        if who in self.info["people"]:
            return str(self.info["people"][who]["token"])
        return f"Bot {self.info['bots'][who]['token']}"

    @property
    def guild(self) -> Any:
        return self.info["guilds"][0]

    @property
    def general(self) -> str:
        """The id of the channel."""
        return str(self.guild["channels"]["general"])

    def say(self, content: str, *, who: str = "alice") -> Answer:
        """Send a message to #general."""
        return self.api("POST", f"/channels/{self.general}/messages", {"content": content}, who=who)

    def warnings(self) -> list[str]:
        """The categories of the warnings so far."""
        entries = self.control("GET", "/transcript")["entries"]
        return [entry["name"] for entry in entries if entry["kind"] == "warning"]


class Gateway:
    """A bot's gateway connection, which sends a heartbeat only when told."""

    def __init__(self, server: ControlledServer, *, intents: int = 53_608_447, who: str = "bot") -> None:
        self.socket: ClientConnection = connect(
            f"{server.info['gateway_url']}?v=10&encoding=json", max_size=None, legacy=True
        )
        self.token = server.authorization(who).removeprefix("Bot ")
        self.intents = intents
        self.seq: int | None = None
        self.session_id = ""
        self.until(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def identify(self) -> Self:
        """Start a session and wait until its guilds are there."""
        properties = {"os": "linux", "browser": "test", "device": "test"}
        self.send(2, {"token": self.token, "intents": self.intents, "properties": properties})
        self.session_id = self.event("READY")["session_id"]
        self.event("GUILD_CREATE")
        return self

    def resume(self, session_id: str, seq: int | None) -> Self:
        """Resume a session."""
        self.send(6, {"token": self.token, "session_id": session_id, "seq": seq})
        return self

    def send(self, op: int, data: Any) -> None:
        """Send a payload."""
        self.socket.send(json.dumps({"op": op, "d": data}))

    def receive(self, seconds: float = PATIENCE) -> Any:
        """The next payload."""
        payload = json.loads(self.socket.recv(timeout=seconds))
        self.seq = payload["s"] or self.seq
        return payload

    def until(self, op: int) -> Any:
        """The next payload with an opcode; others are passed over."""
        while True:
            payload = self.receive()
            if payload["op"] == op:
                return payload

    def event(self, name: str) -> Any:
        """The data of the next event of a name; other payloads are passed over."""
        while True:
            payload = self.receive()
            if payload["op"] == 0 and payload["t"] == name:
                return payload["d"]

    def close_code(self) -> int | None:
        """The code with which the server closes; None for a connection that is cut."""
        try:
            while True:
                self.receive()
        except ConnectionClosed as closed:
            return None if closed.rcvd is None else closed.rcvd.code
