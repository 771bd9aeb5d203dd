"""Stickers of guilds, and the standard sticker pack. `lookup` finds the stickers that a message may contain."""
