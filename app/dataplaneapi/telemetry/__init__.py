"""Write logs and the audit log, count events, and export traces."""
