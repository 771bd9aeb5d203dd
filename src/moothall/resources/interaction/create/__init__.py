"""Reading a new interaction: the stages before `operations/create.py` stores and sends it.

`command`, `component` and `modal` read one type of interaction each into an `InteractionDraft` (`draft`), resolve the
ids that it refers to (`resolved_data`) and collect the files that came with it (`submitted_files`).
`interaction_object` builds the row and the object that the application receives. Nothing here changes state.
"""
