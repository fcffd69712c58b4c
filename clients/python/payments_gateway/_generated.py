"""The API's types, errors and operations. Written by `npm run openapi`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Sequence, TypedDict

from ._transport import ListOf, Resource
from .errors import ApiError


class PaymentRequest(TypedDict):
    """A payment request."""

    amount: str
    """A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"."""
    currency: str
    """A currency code in capital letters, such as "USDT"."""
    reference: str
    """Your unique ID: 1 to 64 printable ASCII characters without spaces."""
    description: NotRequired[str]
    """Text of at most 255 characters without control characters."""
    customer_email: NotRequired[str]
    """An email address of at most 254 characters."""
    success_url: NotRequired[str]
    """An absolute URL of at most 2048 characters."""
    cancel_url: NotRequired[str]
    """An absolute URL of at most 2048 characters."""
    provider: NotRequired[Literal["onchain_provider", "exchange_pay"]]
    """One of onchain_provider, exchange_pay."""
    network: NotRequired[str]
    """The name of a network, such as "tron"."""
    metadata: NotRequired[dict[str, str]]
    """An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500."""
    expires_in: NotRequired[int]
    """A whole number of seconds from 300 (5 in test mode) to 86400."""


class Payment(TypedDict):
    """A payment."""

    id: str
    """ID with the prefix pay_."""
    object: Literal["payment"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    status: Literal["created", "pending", "processing", "on_hold", "completed", "underpaid", "failed", "expired", "cancelled", "refunded"]
    """The status: created, pending, processing, on_hold, completed, underpaid, failed, expired, cancelled, refunded, or a value that was added later."""
    provider: Literal["onchain_provider", "exchange_pay"]
    """Provider code: onchain_provider, exchange_pay, or a value that was added later."""
    network: str | None
    """Null for a transfer within the provider."""
    reference: str
    """Your unique ID."""
    amount: str
    """The requested amount."""
    currency: str
    """Currency code."""
    received_amount: str
    """The amount that is confirmed."""
    unconfirmed_amount: str
    """The amount that was seen and is not confirmed yet. It can still disappear: do not deliver for it."""
    amount_due: str
    """The amount that the customer still has to send: what is unconfirmed is already subtracted."""
    overpaid_amount: str
    """The confirmed amount beyond the requested amount."""
    refunded_amount: str
    """The amount refunded to the customer."""
    service_fee: str
    """Our fee on the amount received and not refunded."""
    net_amount: str | None
    """Null until the payment is credited."""
    exceptions: list[Literal["overpaid", "late", "manual"]]
    tx_hash: str | None
    """The hash of the last transfer, if the provider supplies one."""
    checkout_url: str
    """The checkout page. Send your customer to this URL."""
    success_url: str | None
    """Where the customer returns; the redirect is not proof of payment."""
    cancel_url: str | None
    """Where the customer returns after cancelling."""
    description: str | None
    """Your description."""
    customer_email: str | None
    """The email address of the customer."""
    failure_reason: str | None
    """Set when the status is failed, or when an operator rejected the payment."""
    metadata: dict[str, str]
    """The metadata of the request."""
    created_at: str
    """The time of creation."""
    expires_at: str
    """The time when the checkout expires."""
    completed_at: str | None
    """Null until completion."""


class RefundRequestDestination(TypedDict):
    """An object with type, value and optionally memo."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """One of crypto_address, exchange_id, email."""
    value: str
    """The address, account ID or email address of the recipient."""
    memo: NotRequired[str | None]
    """Text of at most 64 characters without NUL, or null if the destination has none."""


class RefundRequest(TypedDict):
    """A refund request."""

    amount: NotRequired[str]
    """A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"."""
    reference: str
    """Your unique ID: 1 to 64 letters, digits, "_" or "-"."""
    reason: NotRequired[str]
    """Text of at most 255 characters without control characters."""
    destination: NotRequired[RefundRequestDestination]
    """An object with type, value and optionally memo."""


class RefundDestination(TypedDict):
    """Null if the provider decides where the money goes."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """The type of destination: crypto_address, exchange_id, email, or a value that was added later."""
    value: str
    """The address."""
    memo: str | None
    """The memo or destination tag."""


class Refund(TypedDict):
    """A refund of a payment."""

    id: str
    """ID with the prefix rf_."""
    object: Literal["refund"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    status: Literal["pending", "completed", "failed"]
    """The status: pending, completed, failed, or a value that was added later."""
    payment_id: str
    """ID with the prefix pay_."""
    reference: str | None
    """Null if you did not ask for it."""
    requested_by: Literal["merchant", "operator", "provider"]
    """Who asked for it: you, the operator of the gateway, or the provider by itself: merchant, operator, provider, or a value that was added later."""
    amount: str
    """What the customer gets back."""
    currency: str
    """Currency code."""
    balance_debit: str
    """What your balance pays: the amount less fee_returned. Zero after a failure, because it was returned."""
    fee_returned: str
    """The part of our fee that we return."""
    awaits_second_person: bool
    """Whether it was made by a person on the dashboard, and waits for the approval of another one."""
    awaits_address: bool
    """The customer has not named an address yet. The money is taken from your balance, and you can cancel the refund."""
    address_until: str | None
    """Null if the provider sends the money to who paid."""
    payout_id: str | None
    """The payout that sends the money. Null before the customer has named an address, and if the provider sends it."""
    destination: RefundDestination | None
    """Null if the provider decides where the money goes."""
    reason: str | None
    """Your reason."""
    failure_reason: str | None
    """Set when the status is failed."""
    created_at: str
    """The time of creation."""
    completed_at: str | None
    """Null until completion."""


class PayoutRequestDestination(TypedDict):
    """An object with type, value and optionally memo."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """One of crypto_address, exchange_id, email."""
    value: str
    """The address, account ID or email address of the recipient."""
    memo: NotRequired[str | None]
    """Text of at most 64 characters without NUL, or null if the destination has none."""


class PayoutRequestBeneficiary(TypedDict):
    """An object with name, kind and optionally institution."""

    name: str
    """The full name of the person or business that receives the money, in one line of at most 100 characters."""
    kind: Literal["individual", "business"]
    """One of individual, business."""
    institution: NotRequired[str]
    """The exchange or other institution that holds the destination, in one line of at most 100 characters."""


class PayoutRequestRelease(TypedDict):
    """An object with at, after_payment, approval_by_key or recipient_ready, and optionally expires_at."""

    at: NotRequired[str]
    """A time within a year, in ISO 8601 with a zone."""
    after_payment: NotRequired[str]
    """The ID of your payment that has to be completed."""
    approval_by_key: NotRequired[str]
    """The ID of another API key of your account, which has to release the payout."""
    recipient_ready: NotRequired[Literal[True]]
    """true; the payout waits until its recipient may be paid."""
    expires_at: NotRequired[str]
    """A time within a year, after release.at, in ISO 8601 with a zone."""


class PayoutRequest(TypedDict):
    """A payout request."""

    amount: str
    """A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"."""
    currency: str
    """A currency code in capital letters, such as "USDT"."""
    reference: str
    """Your unique ID: 1 to 64 letters, digits, "_" or "-"."""
    destination: NotRequired[PayoutRequestDestination]
    """An object with type, value and optionally memo."""
    recipient: NotRequired[str]
    """The ID of a recipient, in place of destination."""
    network: NotRequired[str]
    """The name of a network, such as "tron"."""
    provider: NotRequired[Literal["onchain_provider", "exchange_pay"]]
    """One of onchain_provider, exchange_pay."""
    description: NotRequired[str]
    """Text of at most 255 characters without control characters."""
    metadata: NotRequired[dict[str, str]]
    """An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500."""
    beneficiary: NotRequired[PayoutRequestBeneficiary]
    """An object with name, kind and optionally institution."""
    release: NotRequired[PayoutRequestRelease]
    """An object with at, after_payment, approval_by_key or recipient_ready, and optionally expires_at."""


class PayoutDestination(TypedDict):
    """The recipient."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """The type of value: crypto_address, exchange_id, email, or a value that was added later."""
    value: str
    """The address, account ID or email address."""
    memo: str | None
    """The memo or destination tag."""


class PayoutReleaseCondition(TypedDict):
    """Waits for a time."""

    type: Literal["time"]
    at: str
    """The time."""
    met_at: str | None
    """Null: not yet."""


class PayoutReleaseCondition2(TypedDict):
    """Waits until a payment is completed."""

    type: Literal["payment"]
    payment: str
    """ID with the prefix pay_."""
    met_at: str | None
    """Null: not yet."""


class PayoutReleaseCondition3(TypedDict):
    """Waits until a key releases the payout."""

    type: Literal["approval"]
    api_key: str
    """ID with the prefix key_."""
    met_at: str | None
    """Null: not yet."""


class PayoutReleaseCondition4(TypedDict):
    """Waits until the recipient may be paid."""

    type: Literal["recipient"]
    recipient: str
    """ID with the prefix rcp_."""
    at: str
    """The recipient cannot be ready before."""
    met_at: str | None
    """Null: not yet."""


class PayoutReleaseCondition5(TypedDict):
    """Waits until another person of your account approves it on the dashboard."""

    type: Literal["second_person"]
    met_at: str | None
    """Null: not yet."""


class PayoutRelease(TypedDict):
    """What the payout waits for before it is sent; absent if it has no conditions."""

    conditions: list[PayoutReleaseCondition | PayoutReleaseCondition2 | PayoutReleaseCondition3 | PayoutReleaseCondition4 | PayoutReleaseCondition5]
    """All of them have to be met."""
    expires_at: str | None
    """The payout is cancelled if it was not released by then."""
    released_at: str | None
    """Set when it was released."""
    expired_at: str | None
    """Set when it was not in time."""


class PayoutBeneficiary(TypedDict):
    """Null after it was erased. Only where one payout is retrieved with a key that has payouts:write; absent if the payout has none, in lists and in events."""

    name: str
    """The name."""
    kind: Literal["individual", "business"]
    """A person or a business: individual, business, or a value that was added later."""
    institution: str | None
    """Null if the request named none."""


class Payout(TypedDict):
    """A payout."""

    id: str
    """ID with the prefix po_."""
    object: Literal["payout"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    status: Literal["requested", "under_review", "approved", "processing", "completed", "rejected", "failed", "cancelled"]
    """The status: requested, under_review, approved, processing, completed, rejected, failed, cancelled, or a value that was added later."""
    provider: Literal["onchain_provider", "exchange_pay"]
    """Provider code: onchain_provider, exchange_pay, or a value that was added later."""
    reference: str
    """Your unique ID."""
    amount: str
    """The amount that the recipient receives."""
    currency: str
    """Currency code."""
    network: str | None
    """Null for a transfer within the provider."""
    destination: PayoutDestination
    """The recipient."""
    recipient: NotRequired[str]
    """The recipient; absent if the request named none."""
    service_fee: str
    """Our fee, on top of the amount."""
    network_fee: str
    """The fee estimated by the provider; zero if it publishes none."""
    total_debit: str
    """amount + service_fee + network_fee."""
    tx_hash: str | None
    """Set on completion if the provider supplies one."""
    failure_reason: str | None
    """Set when the status is failed."""
    rejection_reason: str | None
    """Set when the status is rejected."""
    description: str | None
    """Your description."""
    metadata: dict[str, str]
    """The metadata of the request."""
    release: NotRequired[PayoutRelease]
    """What the payout waits for before it is sent; absent if it has no conditions."""
    beneficiary: NotRequired[PayoutBeneficiary | None]
    """Null after it was erased. Only where one payout is retrieved with a key that has payouts:write; absent if the payout has none, in lists and in events."""
    created_at: str
    """The time of creation."""
    updated_at: str
    """The time of the last status change."""


class PayoutDossierRequest(TypedDict):
    """The request."""

    sha256: str | None
    """The hash by which the request is known again; of the whole batch for a row of one. Null for payouts before version 1."""
    requested_by: str
    """The API key, or the person on the dashboard."""
    batch: str | None
    """The batch that the payout is a row of."""
    batch_manifest_sha256: str | None
    """The rows that were approved together."""


class PayoutDossierReviewOperator(TypedDict):
    """A decision of an operator."""

    operator: str
    """The same for the decisions of one operator, such as "operator 1". "operator, claimed via signal": the decision came as a signal to the workflow, whose sender may claim any name."""
    decision: str
    """approve or reject."""
    outcome: str | None
    """What became of the decision; null: it is not applied yet."""
    decided_at: str | None
    """When it was applied."""


class PayoutDossierReviewPeople(TypedDict):
    """A second person."""

    email: str
    """A person of your account."""
    approved_at: str
    """When."""


class PayoutDossierReviewApiKey(TypedDict):
    """A release by another API key."""

    api_key: str
    """The key."""
    approved_at: str
    """When."""


class PayoutDossierReview(TypedDict):
    """What was asked and decided before the payout was sent."""

    reasons: list[str]
    """The rules that asked for a review; empty if none did."""
    fee_terms: str
    """The fee rule that was applied, as JSON."""
    operators: list[PayoutDossierReviewOperator]
    people: list[PayoutDossierReviewPeople]
    api_keys: list[PayoutDossierReviewApiKey]


class PayoutDossierScreening(TypedDict):
    """An answer that cleared the destination."""

    source: str
    """service or list."""
    verdict: str
    """clear."""
    answered_at: str
    """When."""


class PayoutDossierSubmission(TypedDict):
    """What was sent to the provider."""

    started_at: str | None
    """Before the order left for the provider; null: it did not."""
    accepted_at: str | None
    """When the provider had accepted it."""
    provider: str
    """The provider."""
    provider_reference: str | None
    """The provider’s own ID."""
    tx_hash: str | None
    """The transaction."""


class PayoutDossierEventDeliveryAttempt(TypedDict):
    """An attempt; attempts are deleted after 30 days."""

    number: int
    """Counts from 1."""
    started_at: str
    """When."""
    outcome: str | None
    """succeeded or failed."""
    http_status: int | None
    """What your endpoint answered."""


class PayoutDossierEventDelivery(TypedDict):
    """A delivery of the event to one endpoint."""

    id: str
    """The delivery."""
    webhook_endpoint: str
    """The endpoint."""
    status: str
    """The status of the delivery."""
    finished_at: str | None
    """When it ended."""
    attempts: list[PayoutDossierEventDeliveryAttempt]


class PayoutDossierEvent(TypedDict):
    """An event of the payout."""

    id: str
    """ID with the prefix evt_."""
    type: str
    """The type of event."""
    sequence: int
    """Its number of the payout."""
    created_at: str
    """When."""
    body_sha256: str | None
    """Of the body that was sent; null once the body is deleted."""
    deliveries: list[PayoutDossierEventDelivery]


class PayoutDossierAudit(TypedDict):
    """An entry of the audit log."""

    id: str
    """The entry."""
    at: str
    """When."""
    action: str
    """Such as payout.approve."""
    sequence: int | None
    """Its place in the chain; null: it has none yet."""
    previous_hash: str | None
    """The hash before it in the chain."""
    hash: str | None
    """SHA-256 of the bytes of the previous hash and the text of sealed."""
    sealed: str | None
    """The text that the chain contains."""
    salt: str | None
    """Of your own entries."""
    personal: str | None
    """Of your own entries: SHA-256 of the bytes of the salt and this text is personal_sha256 in sealed."""


class PayoutDossierSignature(TypedDict):
    """Null: the gateway has no signing key."""

    algorithm: Literal["Ed25519"]
    key_id: str
    """The key, as GET /api/v1/signing_keys lists it."""
    digests: dict[str, str]
    """SHA-256 of each field."""
    value: str
    """The signature in base64."""


class PayoutDossier(TypedDict):
    """The signed record of a payout."""

    id: str
    """ID with the prefix po_."""
    object: Literal["payout_dossier"]
    created_at: str
    """When the dossier was made."""
    payout: Payout
    request: PayoutDossierRequest
    """The request."""
    review: PayoutDossierReview
    """What was asked and decided before the payout was sent."""
    screening: list[PayoutDossierScreening]
    submission: PayoutDossierSubmission
    """What was sent to the provider."""
    postings: list[Transaction]
    events: list[PayoutDossierEvent]
    audit: list[PayoutDossierAudit]
    signature: PayoutDossierSignature | None
    """Null: the gateway has no signing key."""


class RecipientRequestDestination(TypedDict):
    """An object with type, value and optionally memo."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """One of crypto_address, exchange_id, email."""
    value: str
    """The address, account ID or email address of the recipient."""
    memo: NotRequired[str | None]
    """Text of at most 64 characters without NUL, or null if the destination has none."""


class RecipientRequest(TypedDict):
    """A recipient."""

    name: str
    """One line of at most 100 characters."""
    currency: str
    """A currency code in capital letters, such as "USDT"."""
    network: NotRequired[str]
    """The name of a network, such as "tron"."""
    destination: RecipientRequestDestination
    """An object with type, value and optionally memo."""
    tags: NotRequired[list[str]]
    """At most 20 tags of 1 to 40 letters, digits, "_", "." or "-"."""


class RecipientChangeDestination(TypedDict):
    """An object with type, value and optionally memo."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """One of crypto_address, exchange_id, email."""
    value: str
    """The address, account ID or email address of the recipient."""
    memo: NotRequired[str | None]
    """Text of at most 64 characters without NUL, or null if the destination has none."""


class RecipientChange(TypedDict):
    """The fields of a recipient that change."""

    name: NotRequired[str]
    """One line of at most 100 characters."""
    currency: NotRequired[str]
    """A currency code in capital letters, such as "USDT"."""
    network: NotRequired[str]
    """The name of a network, such as "tron"."""
    destination: NotRequired[RecipientChangeDestination]
    """An object with type, value and optionally memo."""
    tags: NotRequired[list[str]]
    """At most 20 tags of 1 to 40 letters, digits, "_", "." or "-"."""


class RecipientDestination(TypedDict):
    """Where its payouts go."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """The type of value: crypto_address, exchange_id, email, or a value that was added later."""
    value: str
    """The address, account ID or email address."""
    memo: str | None
    """The memo or destination tag."""


class Recipient(TypedDict):
    """A recipient."""

    id: str
    """ID with the prefix rcp_."""
    object: Literal["recipient"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    name: str
    """The name."""
    currency: str
    """Currency code."""
    network: str | None
    """Null for a transfer within a provider."""
    destination: RecipientDestination
    """Where its payouts go."""
    tags: list[str]
    """Your tags."""
    usable_from: str
    """Payouts are possible from this time on."""
    awaits_second_person: bool
    """Whether it was made by a person on the dashboard, and waits for the approval of another one."""
    created_at: str
    """The time of creation."""
    updated_at: str
    """The time of the last change."""
    deleted_at: str | None
    """Null while it exists."""


class PayoutBatchRequestPayoutDestination(TypedDict):
    """An object with type, value and optionally memo."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """One of crypto_address, exchange_id, email."""
    value: str
    """The address, account ID or email address of the recipient."""
    memo: NotRequired[str | None]
    """Text of at most 64 characters without NUL, or null if the destination has none."""


class PayoutBatchRequestPayoutBeneficiary(TypedDict):
    """An object with name, kind and optionally institution."""

    name: str
    """The full name of the person or business that receives the money, in one line of at most 100 characters."""
    kind: Literal["individual", "business"]
    """One of individual, business."""
    institution: NotRequired[str]
    """The exchange or other institution that holds the destination, in one line of at most 100 characters."""


class PayoutBatchRequestPayout(TypedDict):
    """A payout request without release."""

    amount: str
    """A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"."""
    currency: str
    """A currency code in capital letters, such as "USDT"."""
    reference: str
    """Your unique ID: 1 to 64 letters, digits, "_" or "-"."""
    destination: NotRequired[PayoutBatchRequestPayoutDestination]
    """An object with type, value and optionally memo."""
    recipient: NotRequired[str]
    """The ID of a recipient, in place of destination."""
    network: NotRequired[str]
    """The name of a network, such as "tron"."""
    provider: NotRequired[Literal["onchain_provider", "exchange_pay"]]
    """One of onchain_provider, exchange_pay."""
    description: NotRequired[str]
    """Text of at most 255 characters without control characters."""
    metadata: NotRequired[dict[str, str]]
    """An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500."""
    beneficiary: NotRequired[PayoutBatchRequestPayoutBeneficiary]
    """An object with name, kind and optionally institution."""


class PayoutBatchRequest(TypedDict):
    """A batch of payouts."""

    reference: str
    """Your unique ID: 1 to 64 letters, digits, "_" or "-"."""
    description: NotRequired[str]
    """Text of at most 255 characters without control characters."""
    dry_run: NotRequired[bool]
    """true checks every row and answers with the faults, fees and totals."""
    payouts: list[PayoutBatchRequestPayout]
    """1 to 10,000 payout requests."""


class PayoutBatchRows(TypedDict):
    """The number of rows in each state."""

    total: int
    """All rows."""
    waiting: int
    """Reserved, and not released to the provider."""
    processing: int
    """Released, and not final."""
    sent: int
    """Completed."""
    failed: int
    """Failed: the funds were returned."""
    returned: int
    """Returned without having been submitted."""
    left_out: int
    """Left out before the approval, and returned."""


class PayoutBatchTotal(TypedDict):
    """The sums of one currency."""

    currency: str
    """Currency code."""
    rows: int
    """The number of rows in this currency."""
    amount: str
    """What the recipients receive."""
    service_fee: str
    """Our fees."""
    network_fee: str
    """The fees estimated by the providers."""
    total_debit: str
    """amount + service_fee + network_fee."""


class PayoutBatch(TypedDict):
    """A batch of payouts."""

    id: str
    """ID with the prefix pb_."""
    object: Literal["payout_batch"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    status: Literal["requested", "under_review", "processing", "completed", "partially_completed", "stopped", "rejected"]
    """The status: requested, under_review, processing, completed, partially_completed, stopped, rejected, or a value that was added later."""
    reference: str
    """Your unique ID."""
    description: str | None
    """Your description."""
    rows: PayoutBatchRows
    """The number of rows in each state."""
    totals: list[PayoutBatchTotal]
    """The sums of the rows that were not left out, by currency."""
    manifest_sha256: str
    """SHA-256 of the manifest: the rows in canonical form, without those that were left out."""
    awaits_second_person: bool
    """Whether it was made by a person on the dashboard, and waits for the approval of another one."""
    stop_requested_at: str | None
    """Null if it was not."""
    rejection_reason: str | None
    """Set when an operator rejected the batch."""
    created_at: str
    """The time of creation."""
    updated_at: str
    """The time of the last change."""
    closed_at: str | None
    """Null while rows are open."""


class PayoutBatchCheckRefusedRow(TypedDict):
    """A refused row."""

    row: int
    """The row, counted from 1."""
    reference: str | None
    """The reference of the row."""
    code: str
    """The error code."""
    message: str
    """What is wrong and what to do."""
    details: dict[str, Any] | None
    """The details of the error code."""


class PayoutBatchCheckTotal(TypedDict):
    """The sums of one currency."""

    currency: str
    """Currency code."""
    rows: int
    """The number of rows in this currency."""
    amount: str
    """What the recipients receive."""
    service_fee: str
    """Our fees."""
    network_fee: str
    """The fees estimated by the providers."""
    total_debit: str
    """amount + service_fee + network_fee."""


class PayoutBatchCheckMissing(TypedDict):
    """The first balance that does not cover its rows."""

    currency: str
    """Currency code."""
    available: str
    """The available balance."""
    required: str
    """The total_debit of the rows."""


class PayoutBatchCheck(TypedDict):
    """The result of a dry run."""

    object: Literal["payout_batch_check"]
    valid: bool
    """Whether the same request without dry_run is accepted now."""
    refused_rows: list[PayoutBatchCheckRefusedRow]
    """The refused rows. Reading ends after 1000 rows with invalid fields."""
    totals: list[PayoutBatchCheckTotal]
    """The sums of the other rows, by currency."""
    missing: PayoutBatchCheckMissing | None
    """The first balance that does not cover its rows."""
    review_reasons: list[Literal["rehearse_review", "review_all", "above_auto_approve_max", "above_auto_approve_daily_max", "first_use_of_destination", "email_destination", "new_api_key", "above_four_eyes_threshold"]]
    """Why an operator must approve the batch; empty if nobody has to."""


class PayoutBatchProofTotal(TypedDict):
    """The sums of one currency: sent + failed + returned + open = manifest, and manifest + left_out = ledger_reserved."""

    currency: str
    """Currency code."""
    manifest: str
    """The total_debit of all rows that were not left out."""
    sent: str
    """The total_debit of the completed rows."""
    failed: str
    """The total_debit of the failed rows."""
    returned: str
    """The total_debit of the returned rows."""
    open: str
    """The total_debit of the rows that are not final."""
    left_out: str
    """The total_debit of the rows that were left out, and returned."""
    ledger_reserved: str
    """What the ledger reserved for the rows."""
    ledger_settled: str
    """What the ledger settled."""
    ledger_released: str
    """What the ledger returned."""


class PayoutBatchProofRow(TypedDict):
    """A row."""

    row: int
    """The row, counted from 1."""
    id: str
    """ID with the prefix po_."""
    reference: str
    status: Literal["requested", "under_review", "approved", "processing", "completed", "rejected", "failed", "cancelled"]
    """The status of the payout: requested, under_review, approved, processing, completed, rejected, failed, cancelled, or a value that was added later."""
    currency: str
    """Currency code."""
    amount: str
    """What the recipient receives."""
    total_debit: str
    """The amount plus fees."""
    tx_hash: str | None
    """Set if the provider supplied one."""
    left_out: bool
    """Whether it was left out before the approval."""
    manifest: str
    """The row in canonical form."""


class PayoutBatchProof(TypedDict):
    """What became of the money of a batch."""

    object: Literal["payout_batch_proof"]
    batch_id: str
    """ID with the prefix pb_."""
    manifest_sha256: str
    """SHA-256 of the rows in canonical form, without those that were left out."""
    closed_at: str | None
    """Null while rows are open."""
    totals: list[PayoutBatchProofTotal]
    balanced: bool
    """Whether all of these sums agree."""
    rows: list[PayoutBatchProofRow]


class ReconciliationRequestRow(TypedDict):
    """A row of the list."""

    reference: str
    """Text of at most 64 characters without NUL."""
    amount: str
    """A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"."""
    currency: str
    """A currency code in capital letters, such as "USDT"."""


class ReconciliationRequest(TypedDict):
    """A list to compare."""

    object: Literal["payment", "payout", "refund"]
    """One of payment, payout, refund."""
    created_from: str
    """An ISO 8601 date, or a time with a zone, such as "2026-01-31"."""
    created_to: str
    """An ISO 8601 date, or a time with a zone, such as "2026-01-31"."""
    rows: list[ReconciliationRequestRow]
    """1 to 10,000 rows."""


class ReconciliationCounts(TypedDict):
    """The number of rows with each outcome."""

    matched: int
    """Rows whose amount has moved."""
    different: int
    """Rows with a difference."""
    unknown: int
    """Rows whose reference the gateway does not know."""
    missing: int
    """Objects that the list does not have."""


class ReconciliationTotal(TypedDict):
    """The sums of a currency."""

    currency: str
    """Currency code."""
    expected: str
    """The sum of the list."""
    recorded: str
    """The sum that has moved."""


class ReconciliationRow(TypedDict):
    """A row of the list, or an object that it does not have."""

    row: int | None
    """The number of the row, from 1; null for an object that the list does not have."""
    outcome: Literal["matched", "different", "unknown", "missing"]
    """The result of the comparison: matched, different, unknown, missing, or a value that was added later."""
    difference: Literal["amount", "currency", "status", "repeated"] | None
    """What is different; null for another outcome."""
    reference: str | None
    """Your reference; null for an object without one."""
    currency: str
    """Currency code."""
    expected_amount: str | None
    """The amount of the list."""
    recorded_amount: str | None
    """The amount that has moved for the reference, in recorded_currency."""
    recorded_currency: str | None
    """The currency of the objects."""
    objects: int
    """The number of objects with the reference and the currency."""
    object_id: str | None
    """The ID of the newest of them."""
    status: str | None
    """The status of the object with object_id."""


class Reconciliation(TypedDict):
    """A list that was compared."""

    object: Literal["reconciliation"]
    of: Literal["payment", "payout", "refund"]
    """The kind of the compared objects: payment, payout, refund, or a value that was added later."""
    counts: ReconciliationCounts
    """The number of rows with each outcome."""
    totals: list[ReconciliationTotal]
    """The sums of each currency."""
    rows: list[ReconciliationRow]
    """The rows in their order, and then the objects that the list does not have."""
    has_more_missing: bool
    """Whether more than 10,000 objects are missing. Shorten the period then."""


class PayoutScheduleRequestPayoutDestination(TypedDict):
    """An object with type, value and optionally memo."""

    type: Literal["crypto_address", "exchange_id", "email"]
    """One of crypto_address, exchange_id, email."""
    value: str
    """The address, account ID or email address of the recipient."""
    memo: NotRequired[str | None]
    """Text of at most 64 characters without NUL, or null if the destination has none."""


class PayoutScheduleRequestPayout(TypedDict):
    """A payout request without release and beneficiary."""

    amount: str
    """A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"."""
    currency: str
    """A currency code in capital letters, such as "USDT"."""
    reference: str
    """Your unique ID: 1 to 64 letters, digits, "_" or "-"."""
    destination: NotRequired[PayoutScheduleRequestPayoutDestination]
    """An object with type, value and optionally memo."""
    recipient: NotRequired[str]
    """The ID of a recipient, in place of destination."""
    network: NotRequired[str]
    """The name of a network, such as "tron"."""
    provider: NotRequired[Literal["onchain_provider", "exchange_pay"]]
    """One of onchain_provider, exchange_pay."""
    description: NotRequired[str]
    """Text of at most 255 characters without control characters."""
    metadata: NotRequired[dict[str, str]]
    """An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500."""


class PayoutScheduleRequest(TypedDict):
    """A schedule of payouts."""

    reference: str
    """Your unique ID: 1 to 47 letters, digits, "_" or "-"."""
    description: NotRequired[str]
    """Text of at most 255 characters without control characters."""
    cron: NotRequired[str]
    """A cron expression of five fields, such as "0 9 1 * *", that restricts the day of month or the day of week, not both. The day of month "L" is the last day of each month."""
    time_zone: NotRequired[str]
    """The name of the time zone of cron, such as "Europe/Berlin"; UTC by default."""
    interval_seconds: NotRequired[int]
    """A whole number of seconds, at least 60 in live mode and 5 in test mode."""
    start_at: NotRequired[str]
    """A time in ISO 8601 with a zone."""
    end_at: NotRequired[str]
    """A time in ISO 8601 with a zone."""
    dry_run: NotRequired[bool]
    """true checks every row and answers with the faults, fees, totals and next times; nothing is stored."""
    payouts: list[PayoutScheduleRequestPayout]
    """1 to 500 payout requests."""


class PayoutScheduleTotal(TypedDict):
    """The sum of one currency."""

    currency: str
    """Currency code."""
    rows: int
    """The number of rows in this currency."""
    amount: str
    """What the recipients of a run receive."""


class PayoutSchedule(TypedDict):
    """A schedule of payouts."""

    id: str
    """ID with the prefix ps_."""
    object: Literal["payout_schedule"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    status: Literal["active", "paused", "ended"]
    """The status: active, paused, ended, or a value that was added later."""
    reference: str
    """Your unique ID."""
    description: str | None
    """Your description."""
    cron: str | None
    """The cron expression, or null."""
    time_zone: str | None
    """The time zone of the cron expression."""
    interval_seconds: int | None
    """The seconds between two runs, or null."""
    start_at: str
    """No run is earlier; intervals are counted from here."""
    end_at: str | None
    """Null: no end."""
    rows: int
    """The number of payouts of each run."""
    totals: list[PayoutScheduleTotal]
    """The sums of each run, without fees, by currency."""
    awaits_second_person: bool
    """Whether it was made by a person on the dashboard, and waits for the approval of another one."""
    next_run_at: str | None
    """Null if none is known."""
    last_run: PayoutScheduleRun | None
    """The last run that ended."""
    created_at: str
    """The time of creation."""
    updated_at: str
    """The time of the last change or run."""
    ended_at: str | None
    """Null until it has ended."""


class PayoutScheduleCheckRefusedRow(TypedDict):
    """A refused row."""

    row: int
    """The row, counted from 1."""
    reference: str | None
    """The reference of the row."""
    code: str
    """The error code."""
    message: str
    """What is wrong and what to do."""
    details: dict[str, Any] | None
    """The details of the error code."""


class PayoutScheduleCheckTotal(TypedDict):
    """The sums of one currency."""

    currency: str
    """Currency code."""
    rows: int
    """The number of rows in this currency."""
    amount: str
    """What the recipients receive."""
    service_fee: str
    """Our fees."""
    network_fee: str
    """The fees estimated by the providers."""
    total_debit: str
    """amount + service_fee + network_fee."""


class PayoutScheduleCheckMissing(TypedDict):
    """The first balance that does not cover its rows."""

    currency: str
    """Currency code."""
    available: str
    """The available balance."""
    required: str
    """The total_debit of the rows."""


class PayoutScheduleCheck(TypedDict):
    """What a run of the schedule would cost now, and its next times."""

    object: Literal["payout_schedule_check"]
    valid: bool
    """Whether the same request without dry_run is accepted now."""
    refused_rows: list[PayoutScheduleCheckRefusedRow]
    """The refused rows. Reading ends after 1000 rows with invalid fields."""
    totals: list[PayoutScheduleCheckTotal]
    """The sums of the other rows, by currency."""
    missing: PayoutScheduleCheckMissing | None
    """The first balance that does not cover its rows."""
    review_reasons: list[Literal["rehearse_review", "review_all", "above_auto_approve_max", "above_auto_approve_daily_max", "first_use_of_destination", "email_destination", "new_api_key", "above_four_eyes_threshold"]]
    """Why an operator must approve the batch; empty if nobody has to."""
    needs_second_person: bool
    """Whether another person has to approve it before it pays."""
    next_run_times: list[str]
    """The first 5 times of the schedule."""


class PayoutScheduleRunFailure(TypedDict):
    """Null unless the run failed."""

    code: str
    """The error code."""
    message: str
    """What is wrong and what to do."""
    details: dict[str, Any] | None
    """The details of the error code."""


class PayoutScheduleRun(TypedDict):
    """A run of a schedule."""

    id: str
    """ID with the prefix psr_."""
    object: Literal["payout_schedule_run"]
    schedule_id: str
    """ID with the prefix ps_."""
    scheduled_for: str
    """The time of the schedule."""
    status: Literal["pending", "created", "failed"]
    """pending, created or failed: pending, created, failed, or a value that was added later."""
    batch_id: str | None
    """The batch of the run, once it is created."""
    failure: PayoutScheduleRunFailure | None
    """Null unless the run failed."""
    created_at: str
    """When the run started."""
    ended_at: str | None
    """Null while it is pending."""


class BalanceBalance(TypedDict):
    """The balance in one currency; currencies are never converted or added together."""

    currency: str
    """Currency code."""
    available: str
    """Available for payouts."""
    reserved: str
    """Reserved for payouts that are not final."""
    pending: str
    """Seen by a provider and not credited yet, late funds included."""


class Balance(TypedDict):
    """Balances per currency."""

    object: Literal["balance"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    balances: list[BalanceBalance]


class TransactionSource(TypedDict):
    """The object that caused the transaction."""

    object: Literal["payment", "payout", "adjustment"]
    """The type of object: payment, payout, adjustment, or a value that was added later."""
    id: str


class TransactionEntry(TypedDict):
    """A change of one balance."""

    balance: Literal["available", "reserved"]
    """The balance that changed: available, reserved, or a value that was added later."""
    direction: Literal["in", "out"]
    """Into or out of the balance: in, out, or a value that was added later."""
    amount: str
    """The amount."""
    balance_after: str
    """The balance after this entry."""


class Transaction(TypedDict):
    """A ledger transaction."""

    id: str
    """ID with the prefix txn_."""
    object: Literal["transaction"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    type: Literal["payin_settlement", "payin_refund", "payout_reserve", "payout_release", "payout_settlement", "adjustment"]
    """The type of transaction: payin_settlement, payin_refund, payout_reserve, payout_release, payout_settlement, adjustment, or a value that was added later."""
    currency: str
    """Currency code."""
    description: str
    source: TransactionSource
    """The object that caused the transaction."""
    entries: list[TransactionEntry]
    posted_at: str
    """The time of posting."""


class FeeRule(TypedDict):
    """A fee rule in force."""

    direction: Literal["payin", "payout"]
    """payin for payments, payout for payouts: payin, payout, or a value that was added later."""
    provider: Literal["onchain_provider", "exchange_pay"]
    """Provider code: onchain_provider, exchange_pay, or a value that was added later."""
    currency: str
    """Currency code."""
    percentage: str
    """In percent."""
    fixed_amount: str
    """Added to the percentage."""
    min_fee: str | None
    """Null if there is no minimum."""
    max_fee: str | None
    """Null if there is no maximum."""


class FeeQuote(TypedDict):
    """A fee quote."""

    object: Literal["fee_quote"]
    direction: Literal["payin", "payout"]
    """payin for payments, payout for payouts: payin, payout, or a value that was added later."""
    provider: Literal["onchain_provider", "exchange_pay"]
    """Provider code: onchain_provider, exchange_pay, or a value that was added later."""
    currency: str
    """Currency code."""
    amount: str
    """The amount of the quote."""
    service_fee: str
    """Our fee on the amount."""
    net_amount: str | None
    """Null for payouts."""
    note: str | None
    """For payouts: a network fee may be added."""


class CurrencyListProviderCapabilities(TypedDict):
    """The capabilities of the provider."""

    pay_in: bool
    pay_out: bool
    destination_types: list[str]
    network_required: bool
    memo_supported: bool
    network_fee_estimate: bool
    tx_hash: bool
    refunds: bool
    refund_destination_types: list[str]
    """The types of address that a refund needs, which the customer names. Empty: the provider refunds to who paid."""
    partial_payments: bool
    checkout_ttl_seconds: int | None
    """Null if the provider has no time limit."""


class CurrencyListProvider(TypedDict):
    """An enabled provider."""

    code: Literal["onchain_provider", "exchange_pay"]
    """Provider code: onchain_provider, exchange_pay, or a value that was added later."""
    name: str
    """Display name."""
    pay_in: bool
    pay_out: bool
    capabilities: CurrencyListProviderCapabilities
    """The capabilities of the provider."""


class CurrencyListData(TypedDict):
    """A currency that the provider supports on a network."""

    provider: Literal["onchain_provider", "exchange_pay"]
    """Provider code: onchain_provider, exchange_pay, or a value that was added later."""
    direction: Literal["payin", "payout"]
    """payin for payments, payout for payouts: payin, payout, or a value that was added later."""
    currency: str
    """Currency code."""
    network: str
    """internal for transfers within the provider."""
    min_amount: str
    """The minimum amount."""
    max_amount: str | None
    """Null if there is no maximum."""


class CurrencyList(TypedDict):
    """The supported providers, currencies and networks."""

    object: Literal["list"]
    providers: list[CurrencyListProvider]
    data: list[CurrencyListData]


class EventData(TypedDict):
    """A test event."""

    object: Literal["ping"]
    endpoint_id: str
    """ID with the prefix we_."""
    url: str
    events: list[str]


class Event(TypedDict):
    """A webhook event."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received", "payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled", "payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected", "payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended", "recipient.created", "recipient.updated", "recipient.deleted", "refund.created", "refund.completed", "refund.failed", "webhook.ping"]
    """The type of event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed, webhook.ping, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: Payment | Payout | PayoutBatch | PayoutSchedule | Recipient | Refund | EventData
    """The object as it was at the time of the event."""


class PaymentEvent(TypedDict):
    """An event of a payment."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received"]
    """The type of event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: Payment


class PayoutEvent(TypedDict):
    """An event of a payout."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled"]
    """The type of event: payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: Payout


class PayoutBatchEvent(TypedDict):
    """An event of a payout batch."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected"]
    """The type of event: payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: PayoutBatch


class PayoutScheduleEvent(TypedDict):
    """An event of a payout schedule."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended"]
    """The type of event: payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: PayoutSchedule


class RecipientEvent(TypedDict):
    """An event of a recipient."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["recipient.created", "recipient.updated", "recipient.deleted"]
    """The type of event: recipient.created, recipient.updated, recipient.deleted, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: Recipient


class RefundEvent(TypedDict):
    """An event of a refund."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["refund.created", "refund.completed", "refund.failed"]
    """The type of event: refund.created, refund.completed, refund.failed, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: Refund


class WebhookEventData(TypedDict):
    """A test event."""

    object: Literal["ping"]
    endpoint_id: str
    """ID with the prefix we_."""
    url: str
    events: list[str]


class WebhookEvent(TypedDict):
    """An event of a webhook."""

    id: str
    """ID with the prefix evt_."""
    type: Literal["webhook.ping"]
    """The type of event: webhook.ping, or a value that was added later."""
    mode: Literal["test", "live"]
    """The mode of the API key."""
    created_at: str
    """The time of the event."""
    sequence: int
    """The order of the events of one object."""
    data: WebhookEventData
    """A test event."""


class ApiKeyRequestPayoutLimits(TypedDict):
    """An object with per_payout or per_day."""

    per_payout: NotRequired[str]
    """A decimal string such as "500"."""
    per_day: NotRequired[str]
    """A decimal string such as "500"."""


class ApiKeyRequest(TypedDict):
    """An API key. What is left out is as the calling key has it."""

    name: str
    """One line of at most 100 characters, without control characters."""
    scopes: list[Literal["payments:write", "payments:read", "refunds:write", "payouts:write", "payouts:read", "recipients:write", "recipients:read", "balance:read", "events:read", "webhooks:write", "webhooks:read", "api_keys:write", "api_keys:read", "request_logs:read"]]
    """A list of scopes that the calling key has, without api_keys:write."""
    allowed_addresses: NotRequired[list[str]]
    """A list of IP addresses and networks."""
    requests_per_minute: NotRequired[int]
    """A whole number from 1 to 1200."""
    expires_at: NotRequired[str]
    """A time in ISO 8601 with a zone."""
    recipients_only: NotRequired[bool]
    """True or false."""
    currencies: NotRequired[list[str]]
    """A list of currency codes."""
    payout_limits: NotRequired[dict[str, ApiKeyRequestPayoutLimits]]
    """An object of maximum amounts by currency, such as {"USDT": {"per_payout": "500"}}."""


class ApiKeyPayoutLimits(TypedDict):
    """Maximum amounts."""

    per_payout: NotRequired[str]
    """The maximum of one payout."""
    per_day: NotRequired[str]
    """The maximum of 24 hours."""


class ApiKey(TypedDict):
    """An API key."""

    id: str
    """ID with the prefix key_."""
    object: Literal["api_key"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    name: str
    """The name."""
    display: str
    """The first and the last characters of the secret."""
    status: Literal["working", "revoked", "expired"]
    """Whether the key works: working, revoked, expired, or a value that was added later."""
    scopes: list[str]
    """What the key may do."""
    allowed_addresses: list[str]
    """Networks; empty for every address."""
    requests_per_minute: int
    """The rate limit."""
    recipients_only: bool
    """Whether it pays saved recipients only."""
    currencies: list[str]
    """Of its payouts; empty for every currency."""
    payout_limits: dict[str, ApiKeyPayoutLimits]
    """Maximum amounts by currency."""
    created_by_key: str | None
    """The key that made it; null: a person."""
    expires_at: str | None
    """Null: never."""
    revoked_at: str | None
    """Null if it was not."""
    created_at: str
    """The time of creation."""
    last_used_at: str | None
    """Null: never."""


class ApiKeyWithSecretPayoutLimits(TypedDict):
    """Maximum amounts."""

    per_payout: NotRequired[str]
    """The maximum of one payout."""
    per_day: NotRequired[str]
    """The maximum of 24 hours."""


class ApiKeyWithSecret(TypedDict):
    """An API key with its new secret."""

    id: str
    """ID with the prefix key_."""
    object: Literal["api_key"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    name: str
    """The name."""
    display: str
    """The first and the last characters of the secret."""
    status: Literal["working", "revoked", "expired"]
    """Whether the key works: working, revoked, expired, or a value that was added later."""
    scopes: list[str]
    """What the key may do."""
    allowed_addresses: list[str]
    """Networks; empty for every address."""
    requests_per_minute: int
    """The rate limit."""
    recipients_only: bool
    """Whether it pays saved recipients only."""
    currencies: list[str]
    """Of its payouts; empty for every currency."""
    payout_limits: dict[str, ApiKeyWithSecretPayoutLimits]
    """Maximum amounts by currency."""
    created_by_key: str | None
    """The key that made it; null: a person."""
    expires_at: str | None
    """Null: never."""
    revoked_at: str | None
    """Null if it was not."""
    created_at: str
    """The time of creation."""
    last_used_at: str | None
    """Null: never."""
    secret: str | None
    """In the first response only; null in a repeated response."""


class RequestLog(TypedDict):
    """A request to the API."""

    id: str
    """ID with the prefix req_."""
    object: Literal["request_log"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    api_key_id: str
    """The ID of the API key."""
    method: str
    """The HTTP method."""
    path: str
    """The path."""
    query: str
    """The query without its question mark; empty if there is none."""
    status: int
    """The HTTP status of the response."""
    replayed: bool
    """Whether the response was the stored one of an earlier request."""
    idempotency_key: str | None
    """The Idempotency-Key, if there was one."""
    ip_address: str
    """Where the request came from."""
    user_agent: str
    """The User-Agent header; empty if there is none."""
    duration_ms: int
    """How long the gateway took."""
    request_body: str | None
    """The first 4 KiB as text, without secrets; null if there is none."""
    response_body: str | None
    """The first 4 KiB of the response as text, without secrets and with the first rows of a list; null for a file."""
    created_at: str
    """The time of the request."""


class WebhookEndpointRequest(TypedDict):
    """A webhook endpoint."""

    url: str
    """A public URL of at most 2048 characters; HTTPS in live mode."""
    events: NotRequired[list[Literal["all", "payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received", "payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled", "payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected", "payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended", "recipient.created", "recipient.updated", "recipient.deleted", "refund.created", "refund.completed", "refund.failed"]]]
    """A list of types of events, or ["all"] for all types, including future ones. payment.received is sent only to an endpoint that lists it."""
    description: NotRequired[str]
    """One line of at most 100 characters."""
    signature: NotRequired[Literal["gateway", "standard_webhooks"]]
    """One of gateway, standard_webhooks."""


class WebhookEndpointChange(TypedDict):
    """The fields of a webhook endpoint that change; an empty description removes it."""

    url: NotRequired[str]
    """A public URL of at most 2048 characters; HTTPS in live mode."""
    events: NotRequired[list[Literal["all", "payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received", "payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled", "payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected", "payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended", "recipient.created", "recipient.updated", "recipient.deleted", "refund.created", "refund.completed", "refund.failed"]]]
    """A list of types of events, or ["all"] for all types, including future ones. payment.received is sent only to an endpoint that lists it."""
    description: NotRequired[str]
    """One line of at most 100 characters."""
    signature: NotRequired[Literal["gateway", "standard_webhooks"]]
    """One of gateway, standard_webhooks."""
    enabled: NotRequired[bool]
    """True or false."""


class WebhookEndpoint(TypedDict):
    """A webhook endpoint."""

    id: str
    """ID with the prefix we_."""
    object: Literal["webhook_endpoint"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    url: str
    """Where events are sent."""
    description: str | None
    """Your description."""
    events: list[str]
    """Types of events, or "all"."""
    signature: Literal["gateway", "standard_webhooks"]
    """The headers with signatures: those of the gateway, or also webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks: gateway, standard_webhooks, or a value that was added later."""
    enabled: bool
    """Whether events are sent."""
    created_at: str
    """The time of creation."""
    updated_at: str
    """The time of the last change."""
    deleted_at: str | None
    """Null while it exists."""


class WebhookEndpointWithSecret(TypedDict):
    """A webhook endpoint with its new secret."""

    id: str
    """ID with the prefix we_."""
    object: Literal["webhook_endpoint"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    url: str
    """Where events are sent."""
    description: str | None
    """Your description."""
    events: list[str]
    """Types of events, or "all"."""
    signature: Literal["gateway", "standard_webhooks"]
    """The headers with signatures: those of the gateway, or also webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks: gateway, standard_webhooks, or a value that was added later."""
    enabled: bool
    """Whether events are sent."""
    created_at: str
    """The time of creation."""
    updated_at: str
    """The time of the last change."""
    deleted_at: str | None
    """Null while it exists."""
    secret: str | None
    """The signing secret, in the first response only; null in a repeated response."""


class WebhookPing(TypedDict):
    """The result of a test event."""

    object: Literal["webhook_ping"]
    endpoint_id: str
    """ID with the prefix we_."""
    event_id: str
    """ID with the prefix evt_."""
    delivery_id: str
    """ID with the prefix whd_."""
    outcome: Literal["succeeded", "failed"]
    """Whether the receiver took the event: succeeded, failed, or a value that was added later."""
    response_status: int | None
    """The HTTP status of the receiver; null without one."""
    error_code: str | None
    """Why it failed."""
    error: str | None
    """The same as a sentence."""
    duration_ms: int
    """The duration of the attempt."""


class WebhookDelivery(TypedDict):
    """The delivery of an event to an endpoint."""

    id: str
    """ID with the prefix whd_."""
    object: Literal["webhook_delivery"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    endpoint_id: str
    """ID with the prefix we_."""
    event_id: str
    """ID with the prefix evt_."""
    event_type: Literal["payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received", "payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled", "payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected", "payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended", "recipient.created", "recipient.updated", "recipient.deleted", "refund.created", "refund.completed", "refund.failed", "webhook.ping"]
    """The type of the event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed, webhook.ping, or a value that was added later."""
    object_id: str
    """The ID of the object that the event is about."""
    status: Literal["pending", "succeeded", "failed", "skipped", "abandoned"]
    """The status of the delivery: pending, succeeded, failed, skipped, abandoned, or a value that was added later."""
    attempt_count: int
    """Attempts of the schedule; resending is not counted."""
    next_attempt_at: str | None
    """Null after the last one."""
    last_error: str | None
    """The error code of the last attempt."""
    created_at: str
    """The time of creation."""
    finished_at: str | None
    """Null while it is pending."""


class WebhookDeliveryWithAttemptsAttempt(TypedDict):
    """An attempt."""

    number: int
    """Counted from 1."""
    manual: bool
    """Whether somebody asked for it."""
    url: str
    """Where the event was sent."""
    outcome: Literal["succeeded", "failed"] | None
    """Null while it runs."""
    response_status: int | None
    """The HTTP status of the receiver; null without one."""
    error_code: str | None
    """Why it failed."""
    error: str | None
    """The same as a sentence."""
    started_at: str
    """The time of its start."""
    finished_at: str | None
    """Null while it runs."""
    duration_ms: int | None
    """The duration."""
    response_body: str | None
    """The first 16 KiB of the response, kept for 30 days."""


class WebhookDeliveryWithAttempts(TypedDict):
    """A delivery with its attempts."""

    id: str
    """ID with the prefix whd_."""
    object: Literal["webhook_delivery"]
    mode: Literal["test", "live"]
    """The mode of the API key."""
    endpoint_id: str
    """ID with the prefix we_."""
    event_id: str
    """ID with the prefix evt_."""
    event_type: Literal["payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received", "payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled", "payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected", "payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended", "recipient.created", "recipient.updated", "recipient.deleted", "refund.created", "refund.completed", "refund.failed", "webhook.ping"]
    """The type of the event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed, webhook.ping, or a value that was added later."""
    object_id: str
    """The ID of the object that the event is about."""
    status: Literal["pending", "succeeded", "failed", "skipped", "abandoned"]
    """The status of the delivery: pending, succeeded, failed, skipped, abandoned, or a value that was added later."""
    attempt_count: int
    """Attempts of the schedule; resending is not counted."""
    next_attempt_at: str | None
    """Null after the last one."""
    last_error: str | None
    """The error code of the last attempt."""
    created_at: str
    """The time of creation."""
    finished_at: str | None
    """Null while it is pending."""
    attempts: list[WebhookDeliveryWithAttemptsAttempt]
    """Oldest first."""


class AccountSuspendedError(ApiError):
    """The error `account_suspended`."""

    details: None


class AuthenticationRequiredError(ApiError):
    """The error `authentication_required`."""

    details: None


class CurrencyNotAllowedErrorDetails(TypedDict):
    """The currencies of the key."""

    allowed: list[str]


class CurrencyNotAllowedError(ApiError):
    """The error `currency_not_allowed`."""

    details: CurrencyNotAllowedErrorDetails


class CursorExpiredError(ApiError):
    """The error `cursor_expired`."""

    details: None


class DestinationNotSupportedErrorDetailsSupported(TypedDict):
    """The types of destinations that a provider pays to."""

    provider: str
    destination_types: list[str]


class DestinationNotSupportedErrorDetails(TypedDict):
    """The request and the supported combinations."""

    currency: str
    """Currency code."""
    provider: str | None
    destination_type: str
    supported: list[DestinationNotSupportedErrorDetailsSupported]


class DestinationNotSupportedError(ApiError):
    """The error `destination_not_supported`."""

    details: DestinationNotSupportedErrorDetails


class DuplicateReferenceErrorDetails(TypedDict):
    """The object that uses the reference."""

    existing_id: str
    existing_object: Literal["payout", "payment", "payout_batch", "payout_schedule", "refund"]
    """Type of the object."""


class DuplicateReferenceError(ApiError):
    """The error `duplicate_reference`."""

    details: DuplicateReferenceErrorDetails


class IdempotencyKeyRequiredError(ApiError):
    """The error `idempotency_key_required`."""

    details: None


class IdempotencyKeyReusedError(ApiError):
    """The error `idempotency_key_reused`."""

    details: None


class InsufficientBalanceErrorDetails(TypedDict):
    """The available and the required amount."""

    currency: str
    """Currency code."""
    available: str
    """The available balance."""
    required: str
    """What the request takes from the balance."""


class InsufficientBalanceError(ApiError):
    """The error `insufficient_balance`."""

    details: InsufficientBalanceErrorDetails


class InsufficientScopeErrorDetails(TypedDict):
    """The missing scope."""

    required_scope: str


class InsufficientScopeError(ApiError):
    """The error `insufficient_scope`."""

    details: InsufficientScopeErrorDetails


class InternalErrorError(ApiError):
    """The error `internal_error`."""

    details: None


class InvalidApiKeyError(ApiError):
    """The error `invalid_api_key`."""

    details: None


class InvalidJsonError(ApiError):
    """The error `invalid_json`."""

    details: None


class InvalidStateErrorDetails(TypedDict):
    """The current status."""

    status: str


class InvalidStateError(ApiError):
    """The error `invalid_state`."""

    details: InvalidStateErrorDetails


class IpNotAllowedError(ApiError):
    """The error `ip_not_allowed`."""

    details: None


class KeyChangeNotAllowedErrorDetails(TypedDict):
    """Why the key may not be changed."""

    reason: Literal["not_made_by_this_key", "live_keys_by_people"]
    """The reason."""


class KeyChangeNotAllowedError(ApiError):
    """The error `key_change_not_allowed`."""

    details: KeyChangeNotAllowedErrorDetails


class LimitExceededErrorDetails(TypedDict):
    """The limit and its use."""

    limit: Literal["per_transaction", "daily", "key_per_transaction", "key_daily"]
    """The limit, of the account or of the API key."""
    currency: str
    """Currency code."""
    maximum: str
    """The maximum."""
    used: str
    """The amount used in the last 24 hours."""
    requested: str
    """The requested amount."""
    resets_at: str | None
    """When the oldest payout no longer counts; null if no payout counts."""


class LimitExceededError(ApiError):
    """The error `limit_exceeded`."""

    details: LimitExceededErrorDetails


class NetworkRequiredErrorDetails(TypedDict):
    """The supported networks."""

    provider: str
    currency: str
    """Currency code."""
    networks: list[str]


class NetworkRequiredError(ApiError):
    """The error `network_required`."""

    details: NetworkRequiredErrorDetails


class NotFoundErrorDetails(TypedDict):
    """The resource that was not found."""

    resource: str


class NotFoundError(ApiError):
    """The error `not_found`."""

    details: NotFoundErrorDetails


class PayloadTooLargeError(ApiError):
    """The error `payload_too_large`."""

    details: None


class RateLimitedErrorDetails(TypedDict):
    """The rate limit."""

    limit_per_minute: int


class RateLimitedError(ApiError):
    """The error `rate_limited`."""

    details: RateLimitedErrorDetails


class RecipientNotReadyErrorDetails(TypedDict):
    """The recipient and the end of its wait."""

    recipient: str
    usable_from: str
    """When the wait ends."""


class RecipientNotReadyError(ApiError):
    """The error `recipient_not_ready`."""

    details: RecipientNotReadyErrorDetails


class RecipientRequiredErrorDetails(TypedDict):
    """Where the rule is set."""

    held: Literal["account", "api_key"]
    """What is held to recipients."""


class RecipientRequiredError(ApiError):
    """The error `recipient_required`."""

    details: RecipientRequiredErrorDetails


class RefundExceedsPaymentErrorDetails(TypedDict):
    """The requested amount and what is left."""

    currency: str
    """Currency code."""
    requested: str
    """The requested amount."""
    refundable: str
    """What was credited and is not refunded, or being refunded, yet."""


class RefundExceedsPaymentError(ApiError):
    """The error `refund_exceeds_payment`."""

    details: RefundExceedsPaymentErrorDetails


class ReleaseNotAllowedErrorDetails(TypedDict):
    """The key that may release the payout."""

    api_key: str


class ReleaseNotAllowedError(ApiError):
    """The error `release_not_allowed`."""

    details: ReleaseNotAllowedErrorDetails


class RequestInProgressError(ApiError):
    """The error `request_in_progress`."""

    details: None


class RowsRefusedErrorDetailsRow(TypedDict):
    """A refused row."""

    row: int
    """The row, counted from 1."""
    reference: str | None
    """The reference of the row."""
    code: str
    """The error code."""
    message: str
    """What is wrong and what to do."""
    details: dict[str, Any] | None
    """The details of the error code."""


class RowsRefusedErrorDetails(TypedDict):
    """The refused rows."""

    refused: int
    """The number of refused rows. Reading ends after 1000 rows with invalid fields."""
    rows: list[RowsRefusedErrorDetailsRow]
    """The first 1000 refused rows."""


class RowsRefusedError(ApiError):
    """The error `rows_refused`."""

    details: RowsRefusedErrorDetails


class ServiceUnavailableErrorDetails(TypedDict):
    """The reason."""

    reason: str


class ServiceUnavailableError(ApiError):
    """The error `service_unavailable`."""

    details: ServiceUnavailableErrorDetails


class TooManyObjectsErrorDetails(TypedDict):
    """The type of object and its maximum."""

    resource: str
    maximum: int
    """The maximum."""


class TooManyObjectsError(ApiError):
    """The error `too_many_objects`."""

    details: TooManyObjectsErrorDetails


class UnsupportedMediaTypeError(ApiError):
    """The error `unsupported_media_type`."""

    details: None


class ValidationFailedErrorDetailsField(TypedDict):
    """An invalid field."""

    field: str
    """Path of the field, such as destination.value."""
    rule: Literal["required", "type", "format", "too_short", "too_long", "min_amount", "max_amount", "unsupported", "memo_required", "memo_not_supported", "unknown_provider", "out_of_range", "not_found"]
    """The rule that the field breaks."""
    message: str
    """How to correct the field."""


class ValidationFailedErrorDetails(TypedDict):
    """All invalid fields."""

    fields: list[ValidationFailedErrorDetailsField]


class ValidationFailedError(ApiError):
    """The error `validation_failed`."""

    details: ValidationFailedErrorDetails


class LeaveOutPayoutBatchRowsRequest(TypedDict):
    """The rows to leave out."""

    rows: list[int]
    """1 to 100 row numbers, counted from 1."""


ERRORS: dict[str, type[ApiError]] = {
    "account_suspended": AccountSuspendedError,
    "authentication_required": AuthenticationRequiredError,
    "currency_not_allowed": CurrencyNotAllowedError,
    "cursor_expired": CursorExpiredError,
    "destination_not_supported": DestinationNotSupportedError,
    "duplicate_reference": DuplicateReferenceError,
    "idempotency_key_required": IdempotencyKeyRequiredError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "insufficient_balance": InsufficientBalanceError,
    "insufficient_scope": InsufficientScopeError,
    "internal_error": InternalErrorError,
    "invalid_api_key": InvalidApiKeyError,
    "invalid_json": InvalidJsonError,
    "invalid_state": InvalidStateError,
    "ip_not_allowed": IpNotAllowedError,
    "key_change_not_allowed": KeyChangeNotAllowedError,
    "limit_exceeded": LimitExceededError,
    "network_required": NetworkRequiredError,
    "not_found": NotFoundError,
    "payload_too_large": PayloadTooLargeError,
    "rate_limited": RateLimitedError,
    "recipient_not_ready": RecipientNotReadyError,
    "recipient_required": RecipientRequiredError,
    "refund_exceeds_payment": RefundExceedsPaymentError,
    "release_not_allowed": ReleaseNotAllowedError,
    "request_in_progress": RequestInProgressError,
    "rows_refused": RowsRefusedError,
    "service_unavailable": ServiceUnavailableError,
    "too_many_objects": TooManyObjectsError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "validation_failed": ValidationFailedError,
}


class PaymentOperations(Resource):
    def create(self, request: PaymentRequest, *, idempotency_key: str | None = None) -> Payment:
        """Create a payment.

        Opens a checkout at a provider. Redirect your customer to checkout_url. The redirect back to your site is not proof of payment.

        Scope: `payments:write`.
        """
        return self._send("POST", "/payments", body=request, key=self._key(idempotency_key))["data"]

    def list(self, *, status: Literal["created", "pending", "processing", "on_hold", "completed", "underpaid", "failed", "expired", "cancelled", "refunded"] | Sequence[Literal["created", "pending", "processing", "on_hold", "completed", "underpaid", "failed", "expired", "cancelled", "refunded"]] | None = None, reference: str | None = None, currency: str | None = None, provider: Literal["onchain_provider", "exchange_pay"] | None = None, created_from: str | None = None, created_to: str | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[Payment]:
        """List payments.

        Returns payments, newest first.

        Scope: `payments:read`.
        """
        return self._list("/payments", query={"status": status, "reference": reference, "currency": currency, "provider": provider, "created_from": created_from, "created_to": created_to, "limit": limit, "cursor": cursor})

    def get(self, id: str) -> Payment:
        """Retrieve a payment.

        Returns the current state of a payment.

        Scope: `payments:read`.
        """
        return self._send("GET", self._at("/payments/{id}", id))["data"]

    def verify(self, id: str) -> Payment:
        """Check an open payment with the provider.

        Updates an open payment from the provider and returns it. Limited to 6 requests per minute for each payment.

        Scope: `payments:write`.
        """
        return self._send("POST", self._at("/payments/{id}/verify", id))["data"]

    def cancel(self, id: str) -> Payment:
        """Cancel a payment.

        Closes the checkout of a payment for which nothing has arrived: its status is created or pending. Money that the customer sends afterwards is still credited, as late. After service_unavailable, the cancellation may still be carried out: send it again. Limited to 6 requests per minute for each payment.

        Scope: `payments:write`.
        """
        return self._send("POST", self._at("/payments/{id}/cancel", id))["data"]

    def create_refund(self, id: str, request: RefundRequest, *, idempotency_key: str | None = None) -> Refund:
        """Refund a payment.

        Takes the money from your balance at once. Without an amount it refunds everything that is left. A provider that knows who paid sends the money back. Where it cannot, as on blockchains, the refund `awaits_address`: the customer gets a link to name an address, and a payout sends the money there under the rules of your payouts. This needs the scope `refunds:write`. If the refund fails or is cancelled, the money returns to your balance. In test mode a destination can stand for the customer’s answer; it also needs `payouts:write`.

        Scope: `payments:write`.
        """
        return self._send("POST", self._at("/payments/{id}/refunds", id), body=request, key=self._key(idempotency_key))["data"]

    def list_refunds(self, id: str, *, status: Literal["pending", "completed", "failed"] | Sequence[Literal["pending", "completed", "failed"]] | None = None, reference: str | None = None, created_from: str | None = None, created_to: str | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[Refund]:
        """List the refunds of a payment.

        Returns the refunds of a payment, newest first, also those of the operator and the provider.

        Scope: `payments:read`.
        """
        return self._list(self._at("/payments/{id}/refunds", id), query={"status": status, "reference": reference, "created_from": created_from, "created_to": created_to, "limit": limit, "cursor": cursor})


class RefundOperations(Resource):
    def list(self, *, status: Literal["pending", "completed", "failed"] | Sequence[Literal["pending", "completed", "failed"]] | None = None, reference: str | None = None, created_from: str | None = None, created_to: str | None = None, payment_id: str | None = None, currency: str | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[Refund]:
        """List refunds.

        Returns the refunds of all payments, newest first.

        Scope: `payments:read`.
        """
        return self._list("/refunds", query={"status": status, "reference": reference, "created_from": created_from, "created_to": created_to, "payment_id": payment_id, "currency": currency, "limit": limit, "cursor": cursor})

    def cancel(self, id: str) -> Refund:
        """Cancel a refund.

        Takes back a refund that still waits for an address or a second person. It becomes failed, and its money returns to your balance.

        Scope: `payments:write`.
        """
        return self._send("POST", self._at("/refunds/{id}/cancel", id))["data"]

    def get(self, id: str) -> Refund:
        """Retrieve a refund.

        Returns the current state of a refund.

        Scope: `payments:read`.
        """
        return self._send("GET", self._at("/refunds/{id}", id))["data"]


class PayoutOperations(Resource):
    def create(self, request: PayoutRequest, *, idempotency_key: str | None = None) -> Payout:
        """Create a payout.

        Reserves the amount plus fees immediately. A live payout may need approval by an operator before it is sent to the provider. After a timeout or a 5xx response, retry the request with the same Idempotency-Key.

        Scope: `payouts:write`.
        """
        return self._send("POST", "/payouts", body=request, key=self._key(idempotency_key))["data"]

    def list(self, *, status: Literal["requested", "under_review", "approved", "processing", "completed", "rejected", "failed", "cancelled"] | Sequence[Literal["requested", "under_review", "approved", "processing", "completed", "rejected", "failed", "cancelled"]] | None = None, reference: str | None = None, currency: str | None = None, provider: Literal["onchain_provider", "exchange_pay"] | None = None, batch: str | None = None, recipient: str | None = None, created_from: str | None = None, created_to: str | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[Payout]:
        """List payouts.

        Returns payouts, newest first.

        Scope: `payouts:read`.
        """
        return self._list("/payouts", query={"status": status, "reference": reference, "currency": currency, "provider": provider, "batch": batch, "recipient": recipient, "created_from": created_from, "created_to": created_to, "limit": limit, "cursor": cursor})

    def get(self, id: str) -> Payout:
        """Retrieve a payout.

        Returns the current state of a payout.

        Scope: `payouts:read`.
        """
        return self._send("GET", self._at("/payouts/{id}", id))["data"]

    def cancel(self, id: str) -> Payout:
        """Cancel a payout.

        Cancels a payout that is requested or under_review. The reserved funds are released immediately.

        Scope: `payouts:write`.
        """
        return self._send("POST", self._at("/payouts/{id}/cancel", id))["data"]

    def release(self, id: str) -> Payout:
        """Release a payout.

        Approves a payout that waits for the API key of this request (release.approval_by_key). The payout is sent when its other conditions are met as well. A repeated call changes nothing.

        Scope: `payouts:write`.
        """
        return self._send("POST", self._at("/payouts/{id}/release", id))["data"]

    def dossier(self, id: str) -> PayoutDossier:
        """Retrieve the dossier of a payout.

        Returns what was requested, decided, checked, posted, sent and delivered, signed with a key of the gateway. Check it without a connection with `payments-gateway verify-dossier`.

        Scope: `payouts:read`.
        """
        return self._send("GET", self._at("/payouts/{id}/dossier", id))["data"]


class PayoutBatchOperations(Resource):
    def create(self, request: PayoutBatchRequest, *, idempotency_key: str | None = None) -> PayoutBatch:
        """Create a batch of payouts.

        Reserves the funds of all rows together, or of none. Each row becomes a payout with an ID of its own. With dry_run, every row is checked and nothing is stored; the answer is then 200 with the faults, fees and totals.

        Scope: `payouts:write`.
        """
        if request.get("dry_run"):
            raise TypeError("Use check() for a request with dry_run.")
        return self._send("POST", "/payout_batches", body=request, key=self._key(idempotency_key))["data"]

    def check(self, request: PayoutBatchRequest, *, idempotency_key: str | None = None) -> PayoutBatchCheck:
        """Create a batch of payouts.

        Reserves the funds of all rows together, or of none. Each row becomes a payout with an ID of its own. With dry_run, every row is checked and nothing is stored; the answer is then 200 with the faults, fees and totals.

        Scope: `payouts:write`.
        """
        return self._send("POST", "/payout_batches", body={**request, "dry_run": True}, key=self._key(idempotency_key))["data"]

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> ListOf[PayoutBatch]:
        """List batches.

        Returns batches, newest first. GET /payouts?batch=… lists the rows of one.

        Scope: `payouts:read`.
        """
        return self._list("/payout_batches", query={"limit": limit, "cursor": cursor})

    def get(self, id: str) -> PayoutBatch:
        """Retrieve a batch.

        Returns the current state of a batch and the number of rows in each state.

        Scope: `payouts:read`.
        """
        return self._send("GET", self._at("/payout_batches/{id}", id))["data"]

    def proof(self, id: str) -> PayoutBatchProof:
        """Retrieve the proof of a batch.

        Returns every row with what became of its money, and the sums of the rows and of the ledger. The SHA-256 of the rows in canonical form that were not left out, each ended by a line feed, is manifest_sha256.

        Scope: `payouts:read`.
        """
        return self._send("GET", self._at("/payout_batches/{id}/proof", id))["data"]

    def stop(self, id: str) -> PayoutBatch:
        """Stop a batch.

        Returns the funds of all rows that were not released to the provider. Rows that were released continue; the status becomes stopped when the last of them has ended.

        Scope: `payouts:write`.
        """
        return self._send("POST", self._at("/payout_batches/{id}/stop", id))["data"]

    def leave_leave_out(self, id: str, request: LeaveOutPayoutBatchRowsRequest) -> PayoutBatch:
        """Leave rows out of a batch.

        Before the approval only: cancels these rows, returns their funds, and makes the manifest of the rows that remain. manifest_sha256 and totals change, and an approval names the new hash. Rows that were left out before stay so.

        Scope: `payouts:write`.
        """
        return self._send("POST", self._at("/payout_batches/{id}/leave_out", id), body=request)["data"]


class PayoutScheduleOperations(Resource):
    def create(self, request: PayoutScheduleRequest, *, idempotency_key: str | None = None) -> PayoutSchedule:
        """Create a schedule of payouts.

        Pays the same rows at each time of a cron expression or an interval. Each run is a batch, whose references end with the time of the run. A row’s reference is used by one schedule at a time. A run that cannot be reserved in full pays nothing, is an event, and the next one comes at its time. Runs act with the permission and limits of the key that made the schedule. With dry_run, nothing is stored; the answer is then 200 with the faults, fees, totals and next times.

        Scope: `payouts:write`.
        """
        if request.get("dry_run"):
            raise TypeError("Use check() for a request with dry_run.")
        return self._send("POST", "/payout_schedules", body=request, key=self._key(idempotency_key))["data"]

    def check(self, request: PayoutScheduleRequest, *, idempotency_key: str | None = None) -> PayoutScheduleCheck:
        """Create a schedule of payouts.

        Pays the same rows at each time of a cron expression or an interval. Each run is a batch, whose references end with the time of the run. A row’s reference is used by one schedule at a time. A run that cannot be reserved in full pays nothing, is an event, and the next one comes at its time. Runs act with the permission and limits of the key that made the schedule. With dry_run, nothing is stored; the answer is then 200 with the faults, fees, totals and next times.

        Scope: `payouts:write`.
        """
        return self._send("POST", "/payout_schedules", body={**request, "dry_run": True}, key=self._key(idempotency_key))["data"]

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> ListOf[PayoutSchedule]:
        """List schedules.

        Returns schedules, newest first.

        Scope: `payouts:read`.
        """
        return self._list("/payout_schedules", query={"limit": limit, "cursor": cursor})

    def get(self, id: str) -> PayoutSchedule:
        """Retrieve a schedule.

        Returns the current state of a schedule with its last run.

        Scope: `payouts:read`.
        """
        return self._send("GET", self._at("/payout_schedules/{id}", id))["data"]

    def list_runs(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListOf[PayoutScheduleRun]:
        """List the runs of a schedule.

        Returns the runs, newest first, with the batch or the reason of each.

        Scope: `payouts:read`.
        """
        return self._list(self._at("/payout_schedules/{id}/runs", id), query={"limit": limit, "cursor": cursor})

    def pause(self, id: str) -> PayoutSchedule:
        """Pause a schedule.

        Makes no more runs until the schedule is resumed. Times that pass are left out.

        Scope: `payouts:write`.
        """
        return self._send("POST", self._at("/payout_schedules/{id}/pause", id))["data"]

    def resume(self, id: str) -> PayoutSchedule:
        """Resume a schedule.

        Makes runs again, from the next time of the schedule on.

        Scope: `payouts:write`.
        """
        return self._send("POST", self._at("/payout_schedules/{id}/resume", id))["data"]

    def end(self, id: str) -> PayoutSchedule:
        """End a schedule.

        Ends the schedule: it creates no further batches. Batches that were created continue; stop them if you have to.

        Scope: `payouts:write`.
        """
        return self._send("POST", self._at("/payout_schedules/{id}/end", id))["data"]


class RecipientOperations(Resource):
    def create(self, request: RecipientRequest, *, idempotency_key: str | None = None) -> Recipient:
        """Create a recipient.

        Saves a destination under a name. A live recipient can be paid from usable_from on: after 24 hours, unless your account has another wait.

        Scope: `recipients:write`.
        """
        return self._send("POST", "/recipients", body=request, key=self._key(idempotency_key))["data"]

    def list(self, *, currency: str | None = None, network: str | None = None, tag: str | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[Recipient]:
        """List recipients.

        Returns recipients, newest first. Deleted recipients are left out.

        Scope: `recipients:read`.
        """
        return self._list("/recipients", query={"currency": currency, "network": network, "tag": tag, "limit": limit, "cursor": cursor})

    def get(self, id: str) -> Recipient:
        """Retrieve a recipient.

        Returns a recipient, also a deleted one. GET /payouts?recipient=… lists its payouts.

        Scope: `recipients:read`.
        """
        return self._send("GET", self._at("/recipients/{id}", id))["data"]

    def update(self, id: str, request: RecipientChange) -> Recipient:
        """Update a recipient.

        Changes the fields that the body names. A live recipient whose currency, network or destination changes waits again. Payouts that were requested before go to the earlier destination.

        Scope: `recipients:write`.
        """
        return self._send("PATCH", self._at("/recipients/{id}", id), body=request)["data"]

    def delete(self, id: str) -> Recipient:
        """Delete a recipient.

        No further payout can name it. Payouts that were requested before continue.

        Scope: `recipients:write`.
        """
        return self._send("DELETE", self._at("/recipients/{id}", id))["data"]


class BalanceOperations(Resource):
    def get(self) -> Balance:
        """Retrieve the balance.

        Returns the balance in each currency. Currencies are never converted or added together.

        Scope: `balance:read`.
        """
        return self._send("GET", "/balance")


class TransactionOperations(Resource):
    def list(self, *, currency: str | None = None, type: Literal["payin_settlement", "payin_refund", "payout_reserve", "payout_release", "payout_settlement", "adjustment"] | None = None, source_id: str | None = None, created_from: str | None = None, created_to: str | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[Transaction]:
        """List transactions.

        Returns the ledger history: everything that changed a balance, newest first.

        Scope: `payments:read`.
        """
        return self._list("/transactions", query={"currency": currency, "type": type, "source_id": source_id, "created_from": created_from, "created_to": created_to, "limit": limit, "cursor": cursor})

    def get(self, id: str) -> Transaction:
        """Retrieve a transaction.

        Returns one transaction of the ledger: what changed, and the balances after it.

        Scope: `payments:read`.
        """
        return self._send("GET", self._at("/transactions/{id}", id))["data"]


class ExportOperations(Resource):
    def export(self, *, kind: Literal["payments", "payouts", "refunds", "batches", "transactions", "fees", "journal"], format: Literal["csv", "json", "xero", "quickbooks", "beancount", "hledger", "camt053"] | None = None, currency: str | None = None, created_from: str | None = None, created_to: str | None = None) -> list[dict[str, str | None]]:
        """Export a file for accounting.

        Sends a CSV file, a JSON array with the format json, a text file with the formats beancount and hledger, or XML with the format camt053, oldest first. In every file gross less fees is net, the change of the balance. Times are those of the time zone of the account in CSV, and of UTC in JSON. The scope payouts:read is needed too, except for payments, refunds and the journal.

        Scope: `payments:read`.
        """
        return self._send("GET", "/exports", query={"kind": kind, "format": format, "currency": currency, "created_from": created_from, "created_to": created_to})


class ReconciliationOperations(Resource):
    def create(self, request: ReconciliationRequest) -> Reconciliation:
        """Compare your records with the gateway.

        Compares a list of references and amounts with what has moved: what customers have paid, what payouts have sent, or what refunds have returned. Objects that were created in the period and that the list does not have follow as missing. Nothing is stored. The scope payouts:read is needed too for payouts.

        Scope: `payments:read`.
        """
        return self._send("POST", "/reconciliations", body=request)["data"]


class FeeOperations(Resource):
    def list(self) -> list[FeeRule]:
        """List fee rules.

        Returns the fee rules of your account: one for each enabled provider, direction and currency.

        Any valid API key.
        """
        return self._send("GET", "/fees")["data"]

    def quote(self, *, direction: Literal["payin", "payout"], provider: Literal["onchain_provider", "exchange_pay"], currency: str, amount: str) -> FeeQuote:
        """Quote a fee.

        Returns the fee for an amount: the percentage plus the fixed amount, at least min_fee and at most max_fee. The quote is not wrapped in data.

        Any valid API key.
        """
        return self._send("GET", "/fees/quote", query={"direction": direction, "provider": provider, "currency": currency, "amount": amount})


class CurrencyOperations(Resource):
    def list(self) -> CurrencyList:
        """List providers, currencies and networks.

        Returns the supported currencies and networks of each enabled provider, with the minimum and maximum amounts.

        Any valid API key.
        """
        return self._send("GET", "/currencies")


class EventOperations(Resource):
    def list(self, *, type: Literal["payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received", "payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled", "payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected", "payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended", "recipient.created", "recipient.updated", "recipient.deleted", "refund.created", "refund.completed", "refund.failed"] | Sequence[Literal["payment.created", "payment.pending", "payment.processing", "payment.on_hold", "payment.completed", "payment.underpaid", "payment.failed", "payment.expired", "payment.cancelled", "payment.refunded", "payment.received", "payout.requested", "payout.approved", "payout.processing", "payout.completed", "payout.rejected", "payout.failed", "payout.cancelled", "payout_batch.approved", "payout_batch.completed", "payout_batch.stopped", "payout_batch.rejected", "payout_schedule.run_created", "payout_schedule.run_failed", "payout_schedule.ended", "recipient.created", "recipient.updated", "recipient.deleted", "refund.created", "refund.completed", "refund.failed"]] | None = None, object_id: str | None = None, created_from: str | None = None, created_to: str | None = None, after: str | None = None, wait: int | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[Event]:
        """List events.

        Returns the events of the last 30 days, newest first, with the same bodies as webhooks. With after, it returns the events after that one instead, oldest first and in the order in which they were recorded: continue with the ID of the last event that you processed, or with meta.next_cursor. No event is then missed, and none is listed twice. In this feed meta.next_cursor is never null, because new events follow; an empty page means that you have read all events so far. With wait, the request stays open until there is an event. Filters must stay the same while you use a cursor.

        Scope: `events:read`.
        """
        return self._list("/events", query={"type": type, "object_id": object_id, "created_from": created_from, "created_to": created_to, "after": after, "wait": wait, "limit": limit, "cursor": cursor})

    def get(self, id: str) -> Event:
        """Retrieve an event.

        Returns an event of the last 30 days, with the same body as its webhooks. The object in data is as it was at the time of the event.

        Scope: `events:read`.
        """
        return self._send("GET", self._at("/events/{id}", id))["data"]


class WebhookEndpointOperations(Resource):
    def create(self, request: WebhookEndpointRequest, *, idempotency_key: str | None = None) -> WebhookEndpointWithSecret:
        """Create a webhook endpoint.

        Sends the events of the mode of the key to a URL. At most 16 endpoints exist in each mode. The secret that signs the events is in the first response only: a response that is repeated for the same Idempotency-Key has null. The key also needs the scope `events:read`, because the events go to the URL.

        Scope: `webhooks:write`.
        """
        return self._send("POST", "/webhook_endpoints", body=request, key=self._key(idempotency_key))["data"]

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> ListOf[WebhookEndpoint]:
        """List webhook endpoints.

        Returns webhook endpoints, newest first. Deleted endpoints are left out.

        Scope: `webhooks:read`.
        """
        return self._list("/webhook_endpoints", query={"limit": limit, "cursor": cursor})

    def get(self, id: str) -> WebhookEndpoint:
        """Retrieve a webhook endpoint.

        Returns a webhook endpoint, also a deleted one, without its secret.

        Scope: `webhooks:read`.
        """
        return self._send("GET", self._at("/webhook_endpoints/{id}", id))["data"]

    def update(self, id: str, request: WebhookEndpointChange) -> WebhookEndpoint:
        """Update a webhook endpoint.

        Changes the fields that the body names. While an endpoint is disabled, its deliveries end as skipped and no new ones are made. The key also needs the scope `events:read`.

        Scope: `webhooks:write`.
        """
        return self._send("PATCH", self._at("/webhook_endpoints/{id}", id), body=request)["data"]

    def delete(self, id: str) -> WebhookEndpoint:
        """Delete a webhook endpoint.

        Sends nothing more to it. Its pending deliveries end as skipped.

        Scope: `webhooks:write`.
        """
        return self._send("DELETE", self._at("/webhook_endpoints/{id}", id))["data"]

    def roll(self, id: str) -> WebhookEndpointWithSecret:
        """Roll the secret of a webhook endpoint.

        Replaces the secret. Every attempt from now on is signed with the new one. If you lose the response, roll it again.

        Scope: `webhooks:write`.
        """
        return self._send("POST", self._at("/webhook_endpoints/{id}/roll", id))["data"]

    def ping(self, id: str) -> WebhookPing:
        """Send a test event.

        Sends a signed event of type webhook.ping once and returns the result, also for a disabled endpoint.

        Scope: `webhooks:write`.
        """
        return self._send("POST", self._at("/webhook_endpoints/{id}/ping", id))["data"]

    def list_deliveries(self, id: str, *, status: Literal["pending", "succeeded", "failed", "skipped", "abandoned"] | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[WebhookDelivery]:
        """List the deliveries of an endpoint.

        Returns the deliveries of events to an endpoint, newest first.

        Scope: `webhooks:read`.
        """
        return self._list(self._at("/webhook_endpoints/{id}/deliveries", id), query={"status": status, "limit": limit, "cursor": cursor})


class WebhookDeliveryOperations(Resource):
    def get(self, id: str) -> WebhookDeliveryWithAttempts:
        """Retrieve a delivery.

        Returns a delivery with its attempts. GET /events/{event_id} has what was sent.

        Scope: `webhooks:read`.
        """
        return self._send("GET", self._at("/webhook_deliveries/{id}", id))["data"]

    def resend(self, id: str) -> WebhookDelivery:
        """Resend a delivery.

        Makes one attempt at once, whatever the status. A success ends the schedule; a failure changes nothing. Events are kept for 30 days.

        Scope: `webhooks:write`.
        """
        return self._send("POST", self._at("/webhook_deliveries/{id}/resend", id))["data"]


class ApiKeyOperations(Resource):
    def create(self, request: ApiKeyRequest, *, idempotency_key: str | None = None) -> ApiKeyWithSecret:
        """Create an API key.

        Creates a key of the same mode with at most the scopes, addresses, rate, rules for payouts and lifetime of the calling key. What is left out is as the calling key has it. The new key cannot have api_keys:write, nor a scope that pays if the calling key has a maximum in 24 hours. Revoking the calling key revokes it. The secret is in the first response only: a response that is repeated for the same Idempotency-Key has null. In live mode, an owner of the account must have allowed it.

        Scope: `api_keys:write`.
        """
        return self._send("POST", "/api_keys", body=request, key=self._key(idempotency_key))["data"]

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> ListOf[ApiKey]:
        """List API keys.

        Returns the keys of the mode, newest first, also revoked and expired ones, without secrets.

        Scope: `api_keys:read`.
        """
        return self._list("/api_keys", query={"limit": limit, "cursor": cursor})

    def get(self, id: str) -> ApiKey:
        """Retrieve an API key.

        Returns a key without its secret.

        Scope: `api_keys:read`.
        """
        return self._send("GET", self._at("/api_keys/{id}", id))["data"]

    def roll(self, id: str) -> ApiKeyWithSecret:
        """Roll the secret of an API key.

        Replaces the secret of the calling key, or of a key that it created. The old secret stops working at once. If you lose the response to the roll of another key, roll it again. In live mode, an owner of the account must have allowed it.

        Scope: `api_keys:write`.
        """
        return self._send("POST", self._at("/api_keys/{id}/roll", id))["data"]

    def revoke(self, id: str) -> ApiKey:
        """Revoke an API key.

        Permanently revokes the calling key or a key that it created. The keys that it created are revoked as well.

        Scope: `api_keys:write`.
        """
        return self._send("POST", self._at("/api_keys/{id}/revoke", id))["data"]


class RequestLogOperations(Resource):
    def list(self, *, status: str | None = None, method: Literal["GET", "POST", "PATCH", "DELETE"] | None = None, path: str | None = None, created_from: str | None = None, created_to: str | None = None, limit: int | None = None, cursor: str | None = None) -> ListOf[RequestLog]:
        """List requests.

        Returns the requests of all API keys of the account in the mode of the key, newest first. An entry appears about a second after its response and is kept for 7 days. Secrets are removed, and long texts are shortened. Requests to read this log are in it only if they were refused.

        Scope: `request_logs:read`.
        """
        return self._list("/request_logs", query={"status": status, "method": method, "path": path, "created_from": created_from, "created_to": created_to, "limit": limit, "cursor": cursor})

    def get(self, id: str) -> RequestLog:
        """Retrieve a request.

        Returns one request by the ID in its X-Request-Id header. An entry appears about a second after its response and is kept for 7 days. Secrets are removed, and long texts are shortened.

        Scope: `request_logs:read`.
        """
        return self._send("GET", self._at("/request_logs/{id}", id))["data"]


class Operations:
    payments: PaymentOperations
    refunds: RefundOperations
    payout_batches: PayoutBatchOperations
    payout_schedules: PayoutScheduleOperations
    recipients: RecipientOperations
    balance: BalanceOperations
    transactions: TransactionOperations
    exports: ExportOperations
    reconciliations: ReconciliationOperations
    fees: FeeOperations
    currencies: CurrencyOperations
    webhook_endpoints: WebhookEndpointOperations
    webhook_deliveries: WebhookDeliveryOperations
    api_keys: ApiKeyOperations
    request_logs: RequestLogOperations

    def __init__(self, send: Any) -> None:
        self.payments = PaymentOperations(send)
        self.refunds = RefundOperations(send)
        self.payout_batches = PayoutBatchOperations(send)
        self.payout_schedules = PayoutScheduleOperations(send)
        self.recipients = RecipientOperations(send)
        self.balance = BalanceOperations(send)
        self.transactions = TransactionOperations(send)
        self.exports = ExportOperations(send)
        self.reconciliations = ReconciliationOperations(send)
        self.fees = FeeOperations(send)
        self.currencies = CurrencyOperations(send)
        self.webhook_endpoints = WebhookEndpointOperations(send)
        self.webhook_deliveries = WebhookDeliveryOperations(send)
        self.api_keys = ApiKeyOperations(send)
        self.request_logs = RequestLogOperations(send)
