"""Reading and building messages of interactions: responses and followups.

`operations/respond.py`, `operations/followups.py` and `operations/messages.py` use these modules to find the channel
and the message, to read the request and to build the fields of the message. Nothing here changes state.
"""
