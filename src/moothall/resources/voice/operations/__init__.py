"""Operations on voice states."""
