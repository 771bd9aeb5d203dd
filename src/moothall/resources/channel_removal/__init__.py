"""What goes when a channel goes: its invites, webhooks, voice connections and threads, and what the guild says of it.

It stands above all those nouns, none of which knows it, so that channels themselves need know none of them.
"""
