"""Group direct messages: channels of type 3 with an owner and up to ten recipients, who are added or invited.

A group direct message is deleted when its last recipient leaves. Direct messages between two users are in
`channel/operations/direct_message.py`.
"""
