"""Finding messages of a guild by what they say and have.

The database's own full-text index answers; it follows the messages a moment behind. Triggers write
down what has changed, `indexing` works that off in short steps, and a job does the same for what was
there before there was an index. What a message is found by is decided here alone (`documents`,
`terms`), the same for both engines. ClusterMembers: message (which shows what is found), thread.
"""
