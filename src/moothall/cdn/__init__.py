"""The CDN: images by hash, attachments, emojis, stickers and sounds."""
