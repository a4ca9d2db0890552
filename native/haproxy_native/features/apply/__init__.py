"""Apply: what an owner declares is made so in one commit, what it no longer declares goes, and what others own stays."""
