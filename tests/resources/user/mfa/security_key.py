"""A security key in software, which answers as browsers do (WebAuthn, level 2)."""

import base64
import hashlib
import json
import secrets
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class SecurityKey:
    """One credential, made by `create`. It counts its uses."""

    def __init__(self, origin: str = "http://localhost:3333", rp_id: str = "localhost") -> None:
        self.origin, self.rp_id = origin, rp_id
        self.credential_id = secrets.token_bytes(32)
        self.count = 0
        self.handle = ""
        self._key = ec.generate_private_key(ec.SECP256R1())

    def create(self, challenge: str) -> str:
        """Answer creation options, which are JSON."""
        options = json.loads(challenge)["publicKey"]
        assert options["rp"]["id"] == self.rp_id
        self.handle = options["user"]["id"]
        numbers = self._key.public_key().public_numbers()
        public_key = cbor2.dumps(
            {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        )
        data = self._data(0x45) + bytes(16) + len(self.credential_id).to_bytes(2, "big")
        attestation = {"fmt": "none", "attStmt": {}, "authData": data + self.credential_id + public_key}
        client_data = self._client_data("webauthn.create", options["challenge"])
        return self._answer({"clientDataJSON": text(client_data), "attestationObject": text(cbor2.dumps(attestation))})

    def sign(self, challenge: str, *, verified: bool = True) -> str:
        """Answer request options, which are JSON."""
        options = json.loads(challenge)["publicKey"]
        self.count += 1
        data = self._data(0x05 if verified else 0x01)
        client_data = self._client_data("webauthn.get", options["challenge"])
        signature = self._key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(
            {
                "clientDataJSON": text(client_data),
                "authenticatorData": text(data),
                "signature": text(signature),
                "userHandle": self.handle,
            }
        )

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _answer(self, response: dict[str, Any]) -> str:
        own_id = text(self.credential_id)
        return json.dumps(
            {"id": own_id, "rawId": own_id, "type": "public-key", "response": response, "clientExtensionResults": {}}
        )
