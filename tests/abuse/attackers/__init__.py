"""One module for each attacker: a docstring that says what it does, and `async def attack(target: Target, seconds: float)`.

An attacker ends by itself after `seconds`, bounds what it holds, sends to `target` alone, and goes on when it is
refused or disconnected. What it raises is its own failure and fails the run.
"""
