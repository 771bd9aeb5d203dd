"""An RSA key for all installations of a process: few tests are about the key that signs id tokens."""

from functools import cache

from moothall.oauth2 import openid


def generate_once() -> None:
    """Let this process generate one signing key instead of one for each installation, which takes 55 ms."""
    openid._generate = cache(openid._generate)
