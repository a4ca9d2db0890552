"""Who may use the API: users, passwords, and the gate that every request passes."""
