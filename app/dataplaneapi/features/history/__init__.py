"""Operations on the history: entries, differences, blame, revert and restore. The core stores the history itself."""
