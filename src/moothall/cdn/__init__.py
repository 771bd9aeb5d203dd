"""Files at the public CDN paths: icons, avatars and banners under their hashes, in the size and format asked for."""
