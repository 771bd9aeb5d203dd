"""Second factors of accounts: what there is, checking codes, and the requests that wait for one."""
