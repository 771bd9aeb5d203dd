"""Operations on scheduled events.

`scheduled_events` creates, modifies and deletes them; `exceptions` changes single occurrences; `subscribers` stores who
is interested; `lifecycle` stores and announces every change and makes the automatic status transitions; `stages` starts
and ends events together with stages.
"""
