"""Components: the parts of messages and modals, read from requests and validated (api.md, Components).

`kinds` is the table of component types, by which `reading` walks the tree of a request.
"""
