"""The page of operators at /ui/."""
