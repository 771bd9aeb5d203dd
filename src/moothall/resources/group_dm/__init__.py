"""Group direct messages: up to ten people, one of whom owns the group, and those who are added or invited.

A group is a channel of type 3 and nobody's but its recipients'. Leaving it takes one's row away; the last one
to leave takes the group along. Direct messages of two are `channel.direct`.
"""
