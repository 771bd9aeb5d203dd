"""Message requests: direct messages of strangers, which their recipients accept or reject.

The state is a recipient's `consent` in `channel_recipients`; `channel/operations/direct_message.py` sets it with the
first message.
"""
