"""Storage: the tables, and two engines behind one protocol (design.md, section 4).

`database` is what the rest of Moothall imports: the protocol, `Query` and the statements that
both dialects share. `sqlite` and `postgres` are the engines, `schema` has every table.
"""
