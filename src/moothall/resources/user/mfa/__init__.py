"""Two-factor authentication of an account: switching it on and off, backup codes, fresh proofs."""
