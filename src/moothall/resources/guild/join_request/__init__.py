"""Join requests: what pending members answered to a form with more than rules, for moderators to approve or reject.

`screening` has the form and submits; approving admits the member, rejecting removes them. A member who leaves
withdraws.
"""
