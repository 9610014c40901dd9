"""What faces may read: status, timeline, plans. Read-only."""
