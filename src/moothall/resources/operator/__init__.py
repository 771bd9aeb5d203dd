"""Operators: who may run the server, their tokens, and the link that makes the first one."""
