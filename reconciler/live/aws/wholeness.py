"""An answer is whole or it is an error.

botocore parses whatever has come: of a JSON answer that was cut off it makes an empty one, which would read as "there
is nothing". So the body is held against its announced length, and against the form of what it should be.
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import IncompleteReadError

BEFORE_PARSING = "before-parse"
_JSON = ("json", "rest-json")
_TELLING = ("Describe", "List", "Get")


def check(operation_model: Any, response_dict: dict[str, Any], **_: Any) -> None:
    """A handler of botocore's event `before-parse`. Raises IncompleteReadError. Not for streams and HEAD."""
    status = int(response_dict["status_code"])
    body: Any = response_dict["body"]
    if operation_model.http.get("method") == "HEAD" or not isinstance(body, bytes) or status in (204, 304):
        return
    announced = str(response_dict["headers"].get("content-length", ""))
    if announced.isdigit() and len(body) < int(announced):
        raise IncompleteReadError(actual_bytes=len(body), expected_bytes=int(announced))
    wanted = operation_model.output_shape is not None and bool(operation_model.output_shape.members)
    protocol = operation_model.service_model.resolved_protocol
    # A proxy's page, or a connection that ended without having said how much there is to come.
    if status < 300 and wanted and not _has_form(body, protocol, operation_model.name):
        raise IncompleteReadError(actual_bytes=len(body), expected_bytes=announced or "more")


def _has_form(body: bytes, protocol: str, operation: str) -> bool:
    text = body.strip()
    if protocol in _JSON:
        return text.startswith(b"{") and text.endswith(b"}")
    return bool(text) or not operation.startswith(_TELLING)  # XML that was cut off does not parse
