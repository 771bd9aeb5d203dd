"""Operations: delete a guild, restore it, and delete it for good."""
