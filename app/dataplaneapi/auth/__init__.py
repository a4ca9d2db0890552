"""Authentication: users, passwords, tokens, JWTs, and the gate that every request passes."""
