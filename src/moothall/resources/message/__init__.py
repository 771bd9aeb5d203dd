"""Messages: create, edit, delete, list and announce them (resources: message).

Creating and editing go through the same stages, each in its own file:

1. `requests`: the bodies; `uploads`: who may send files with them
2. `reading`: from a body to a `Draft` or `EditDraft` (pure but for the lookup of what it is read with)
3. `references`: users, roles, stickers, the message replied to or forwarded, as one `MessageReferences`
4. `building` and `edits`: from draft and references to a `NewMessage` or `EditedMessage` (pure)
5. `operations`: checks who may, stores, and emits
6. `stored_message`: the `StoredMessage` as JSON for the response and the events

`drafts` has the structs that pass between them. A message is stored as it is returned: its row has the encoded object
without what others can change (`body`), and `rendering` joins pages from bytes.
"""
