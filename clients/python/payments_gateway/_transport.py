"""One call of the API: sends the request, and sends it again when that can help.

All attempts of a call have the same idempotency key, so a payout is created once however often it is
sent.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import time
import uuid
import zlib
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    parse_headers,
)
from typing import Any, Callable, Generic, Iterator, Mapping, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from .errors import ApiError, ConnectionError, GatewayError, UnexpectedResponseError, error_of

Item = TypeVar("Item")
Send = Callable[..., Any]

FIRST_DELAY = 1.0
LONGEST_DELAY = 8.0
# The client does not wait for a gateway that asks for a longer pause.
LONGEST_RETRY_AFTER = 60


class Page(NamedTuple, Generic[Item]):
    """One page of a list."""

    data: list[Item]
    #: The ``cursor`` of the next page, with the same query; None on the last page.
    next_cursor: str | None


class ListOf(Generic[Item]):
    """A list as an iterator: the next page is requested when it is needed."""

    def __init__(self, read: Callable[[str | None], Page[Item]], cursor: str | None) -> None:
        self._read = read
        self._cursor = cursor

    def page(self) -> Page[Item]:
        """The page of the query's ``cursor``, or the first."""
        return self._read(self._cursor)

    def pages(self) -> Iterator[Page[Item]]:
        """The pages from that page on."""
        cursor = self._cursor
        while True:
            page = self._read(cursor)
            yield page
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.data


class Resource:
    """The operations on one kind of object."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def _list(self, path: str, query: Mapping[str, Any]) -> ListOf[Any]:
        def read(cursor: str | None) -> Page[Any]:
            answer = self._send("GET", path, query={**query, "cursor": cursor}, is_list=True)
            return Page(answer["data"], answer["meta"]["next_cursor"])

        return ListOf(read, query.get("cursor"))

    @staticmethod
    def _at(path: str, id: str) -> str:
        # An empty id would be the list.
        if not isinstance(id, str) or id == "":
            raise TypeError("id must be the ID of an object.")
        return path.replace("{id}", quote(id, safe=""))

    @staticmethod
    def _key(key: str | None) -> str:
        return str(uuid.uuid4()) if key is None else key


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would send the API key to another address."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any
    ) -> None:
        return None


class _Response(HTTPResponse):
    """Passes over interim answers: the library does so for 100 alone, and takes 103 for the answer."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 102 <= status < 200:
                return version, status, reason
            parse_headers(self.fp)


class _Connection(HTTPConnection):
    response_class = _Response


class _SecureConnection(HTTPSConnection):
    response_class = _Response


class _Http(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_Connection, req)  # type: ignore[arg-type]


class _Https(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_SecureConnection, req)  # type: ignore[arg-type]


class Transport:
    """Sends calls to one gateway with one API key. Threads can share it."""

    def __init__(self, base_url: str, key: str, timeout: float, max_retries: int) -> None:
        self._base_url = _check_url(base_url)
        self._key = _check_key(key)
        self._timeout = timeout
        self._max_retries = max_retries
        self._opener: OpenerDirector = build_opener(_NoRedirects(), _Http(), _Https())

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        key: str | None = None,
        timeout: float | None = None,
        is_list: bool = False,
        on_retry: Callable[[GatewayError], None] | None = None,
    ) -> Any:
        request = self._request(method, path, query, body, key)
        for retries in range(self._max_retries + 1):
            try:
                limit = self._timeout if timeout is None else timeout
                return self._attempt(request, limit, is_list)
            except GatewayError as error:
                error.idempotency_key = key
                wait = _wait_for(error, retries)
                if wait is None or retries == self._max_retries:
                    raise
                if on_retry is not None:
                    on_retry(error)
                time.sleep(wait)
        raise AssertionError("a call has at least one attempt")

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        key: str | None,
    ) -> Request:
        given = {
            name: value if isinstance(value, (str, int)) else ",".join(value)
            for name, value in (query or {}).items()
            if value is not None
        }
        url = self._base_url + path + ("?" + urlencode(given) if given else "")
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body, allow_nan=False).encode()
        if key is not None:
            headers["Idempotency-Key"] = key
        return Request(url, data=data, headers=headers, method=method)

    def _attempt(self, request: Request, timeout: float, is_list: bool) -> Any:
        try:
            with self._opener.open(request, timeout=timeout) as response:
                text = _decoded(response)
                status, headers = response.status, response.headers
        except HTTPError as error:
            with error:
                raise _refusal(error) from None
        except _BROKEN as cause:
            raise ConnectionError(f"The gateway at {self._base_url} did not answer: {cause}") from cause
        return _read_answer(status, text, headers, is_list)


# What a connection that ends or sends nonsense raises, also in the middle of a compressed body.
_BROKEN = (URLError, OSError, HTTPException, EOFError, zlib.error)


def _decoded(response: Any) -> bytes:
    # Nobody asked for it; some proxies compress all the same.
    text = response.read()
    is_gzip = response.headers.get("Content-Encoding") == "gzip"
    return gzip.decompress(text) if is_gzip else text


def _read_answer(status: int, text: bytes, headers: Mapping[str, str], is_list: bool) -> Any:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        data, meta = answer.get("data"), answer.get("meta")
        if is_list and isinstance(data, list) and isinstance(meta, dict):
            return answer
        is_one = isinstance(data, (dict, list)) or isinstance(answer.get("object"), str)
        if not is_list and is_one:
            return answer
    raise UnexpectedResponseError(status, text.decode(errors="replace"), headers)


def _is_cut(error: UnexpectedResponseError) -> bool:
    """An answer of the gateway whose rest was lost on the way."""
    if error.status >= 300 or "json" not in (error.content_type or ""):
        return False
    try:
        json.loads(error.body)
    except (ValueError, RecursionError):
        return True
    return False


def _refusal(error: HTTPError) -> GatewayError:
    try:
        text = _decoded(error).decode(errors="replace")
    except _BROKEN:
        text = ""
    refusal = error_of(error.code, text, error.headers)
    after = error.headers.get("Retry-After", "")
    refusal.retry_after = int(after) if re.fullmatch(r"[0-9]{1,9}", after) else None
    return refusal


def is_retryable(error: GatewayError) -> bool:
    """Whether the same request can succeed later."""
    if isinstance(error, ConnectionError):
        return True
    if isinstance(error, ApiError) and error.code == "request_in_progress":
        return True
    if isinstance(error, UnexpectedResponseError) and _is_cut(error):
        return True
    status = error.status if isinstance(error, (ApiError, UnexpectedResponseError)) else 0
    return status in (408, 429) or status >= 500


def _wait_for(error: GatewayError, retries: int) -> float | None:
    """The pause before the next attempt in seconds; None when no attempt should follow."""
    if not is_retryable(error):
        return None
    after = error.retry_after
    if after is not None:
        # Jitter spreads the clients that failed at the same time; Retry-After is a minimum.
        return None if after > LONGEST_RETRY_AFTER else after + random.random() * FIRST_DELAY
    return min(LONGEST_DELAY, FIRST_DELAY * 2**retries) * (0.5 + random.random() / 2)


def _check_url(base_url: str) -> str:
    parts = urlsplit(base_url) if isinstance(base_url, str) else None
    is_api = parts is not None and parts.path.rstrip("/").endswith("/api/v1")
    if parts is None or parts.scheme not in ("http", "https") or not parts.netloc or not is_api:
        raise TypeError(
            "base_url must be the URL of the API, such as https://pay.example.com/api/v1."
        )
    return base_url.rstrip("/")


def _check_key(key: str) -> str:
    if not isinstance(key, str) or not re.fullmatch(r"sk_(test|live)_[0-9A-Za-z_]+", key):
        raise TypeError("key must be an API key, which begins with sk_test_ or sk_live_.")
    return key
