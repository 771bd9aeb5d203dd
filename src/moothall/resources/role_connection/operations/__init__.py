"""Role connection operations: metadata records, values of users, linked roles and their claims."""
