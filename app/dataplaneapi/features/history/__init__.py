"""Operations on the history: entries, differences, blame, revert and restore.

The history itself is written and stored without this feature.
"""
