"""Messages: what people, bots and webhooks write into channels.

A message is stored as it is answered: its row holds the encoded object without what others can
change, and pages are put together from bytes. `operations` is how other nouns send and delete
messages, `pages` how they show them. Reactions and pins are nouns of their own.
"""
