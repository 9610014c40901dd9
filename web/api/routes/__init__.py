"""One router per noun. Each is named once more, in `web/api/app.py`."""
