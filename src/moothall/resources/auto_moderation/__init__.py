"""Auto moderation: rules, matching content against them, and the actions of triggered rules.

- `requests` and `validation`: from a body to a rule, whose regular expressions compile
- `keywords` and `patterns`: matching texts (pure); `matcher`: the compiled form of a rule; `spam`: what needs memory
- `checking`: which rules a content triggers; `operations`: what follows from that, and changing the rules
- `hooks`: the places in other rooms where content is checked
"""
