"""What everybody may know: documents, resources, plans, journal lines and errors.

Pydantic models and frozen records only. Nothing here opens a connection or asks what time it is.
"""
