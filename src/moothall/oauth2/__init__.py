"""OAuth2: what people let applications do, by consent, code and token (api.md, Authentication; topics: oauth2)."""
