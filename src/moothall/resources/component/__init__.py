"""Components: what messages and modals consist of, read from requests and checked (api.md, Components).

`kinds` is the one table of types; `reading` walks a request's tree by it.
"""
