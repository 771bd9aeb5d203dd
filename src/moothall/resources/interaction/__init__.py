"""Interactions: uses of commands, components and modals, sent to their application, which responds.

A user's client creates an interaction (`operations/create.py`, which reads it with the modules of `create/`). It is
sent to the application over the gateway or to its interactions endpoint (`operations/deliver.py`). The application
responds once within three seconds (`operations/respond.py`) and may use the interaction's token for followups for 15
minutes (`operations/followups.py`). `command/` keeps the commands themselves.
"""
