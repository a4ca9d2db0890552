"""The web page for operators at /ui/."""
