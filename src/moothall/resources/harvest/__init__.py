"""Archives of users' own data.

A user requests an archive, a job collects it in small steps, and the user downloads it at a signed URL. The archive is
a zip file of JSON documents, stored as one blob for each file in it, so that neither collecting it nor serving it has
more than one file in memory.
"""
