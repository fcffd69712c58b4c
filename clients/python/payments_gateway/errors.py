"""The errors that the client raises: one class for each error code of the API, and two for requests
without an answer of the gateway."""

from __future__ import annotations

import json
from typing import Any, Mapping


class GatewayError(Exception):
    """Every error of the client, except a TypeError for invalid arguments."""

    #: The pause that the gateway asked for, in seconds.
    retry_after: int | None = None
    #: The key of the call that failed, for calls that have one: repeat the call with it.
    idempotency_key: str | None = None


class ConnectionError(GatewayError):
    """The gateway could not be reached, or did not answer in time.

    The request may have been processed: repeat it with the same idempotency key.
    """


class UnexpectedResponseError(GatewayError):
    """An answer that is not the gateway's, such as the error page of a proxy."""

    def __init__(
        self, status: int, body: str, headers: Mapping[str, str] | None = None
    ) -> None:
        #: The media type of the answer; None: it named none.
        self.content_type = None if headers is None else headers.get("Content-Type")
        #: The request ID of the gateway; None: the answer is probably a proxy's.
        self.request_id = None if headers is None else headers.get("X-Request-Id")
        super().__init__(
            f"The answer with status {status} and {self.content_type or 'no content type'}"
            f" is not the gateway's: {body[:200] or 'it is empty.'}"
        )
        self.status = status
        self.body = body


class ApiError(GatewayError):
    """The gateway refused the request. ``code`` is for programs, the message says what to do."""

    code: str
    details: Any

    def __init__(
        self, status: int, code: str, message: str, details: Any, request_id: str
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        #: ``req_…``: give it to the operator when you report a problem.
        self.request_id = request_id


def error_of(status: int, text: str, headers: Mapping[str, str] | None = None) -> GatewayError:
    """The error of an answer that was not 2xx. A code of a newer gateway becomes a plain ApiError."""
    try:
        error = json.loads(text)["error"]
        code, message, request_id = error["code"], error["message"], error["request_id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return UnexpectedResponseError(status, text, headers)
    if not isinstance(code, str) or not isinstance(message, str):
        return UnexpectedResponseError(status, text, headers)
    from ._generated import ERRORS

    known = ERRORS.get(code, ApiError)
    return known(status, code, message, error.get("details"), request_id)
