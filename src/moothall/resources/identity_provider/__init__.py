"""Identity providers: which there are, what they say of themselves, and the tokens that they issue (OpenID Connect)."""
