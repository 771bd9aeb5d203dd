"""OAuth2 and OpenID Connect: consents, codes and tokens of applications (api.md, Authentication; topics: oauth2)."""
