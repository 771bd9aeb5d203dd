"""The test server: the whole platform in one process, with an API under `/_test` that controls it.

Bots under test are clients like any other. Through the control API a test creates people, moves the clock, lets
requests and gateway connections fail, restores a snapshot, and reads what happened. It is served only by
`moothall test-server`, which listens on the loopback interface.
"""
