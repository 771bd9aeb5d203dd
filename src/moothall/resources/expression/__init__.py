"""What emojis, stickers and sounds of a guild have in common: who may make them, and who may change whose."""
