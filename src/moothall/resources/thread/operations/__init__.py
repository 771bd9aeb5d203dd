"""Operations on threads: start, modify, delete, join, leave."""
