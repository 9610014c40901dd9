"""What a cloud answers to a reader's question, in the words of the API: not there, not now, or asked wrongly."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from reconciler.live.errors import AlreadyExists, CallRefused, CallRejected, ReplyLost
from reconciler.live.errors import NotFound as NotThere
from schemas.errors import InvalidInput, LostReply, NotFound, Refused, Unavailable


@contextmanager
def asking() -> Generator[None]:
    """Raises NotFound, InvalidInput and Unavailable for the errors of `live`: a person reads, and nothing of that is
    the reader's fault but a question that makes no sense."""
    try:
        yield
    except NotThere as error:
        raise NotFound(error.message, reason=error.reason) from error
    except CallRejected as error:
        if error.status in (400, 422) and error.reason not in ("AccessDenied", "WrongAccount"):
            raise InvalidInput(error.message, reason=error.reason) from error
        raise Unavailable(error.message, reason=error.reason) from error
    except CallRefused as error:
        if error.reason == "Expired":
            raise InvalidInput("the cursor is too old: begin anew", reason="BadCursor") from error
        raise Unavailable(error.message, reason=error.reason, after=error.after) from error
    except (ReplyLost, AlreadyExists, Refused, LostReply) as error:
        raise Unavailable(error.message, reason=error.reason) from error
