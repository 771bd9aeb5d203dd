"""What happens to threads while people talk: they awake and fall asleep, people come into them, messages are counted.

It stands below messages, which cause most of it; the noun `thread`, above them, has the rows. A thread is a
channel whose parent's overwrites decide who may see it; a private one is seen besides only by its members and
by those who manage threads.
"""
