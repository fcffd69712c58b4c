# The server is asked again for a minute, because a new namespace takes some seconds until it is known.
try() {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    "$@" && return
    sleep 4
  done
  return 1
}
try temporal operator cluster health
temporal operator namespace describe -n "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  try temporal operator namespace create -n "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
for attribute in PayoutStatus:Keyword PaymentStatus:Keyword Mode:Keyword Currency:Keyword AccountId:Keyword EndpointId:Keyword \
  NeedsAttention:Bool; do
  try temporal operator search-attribute create -n "$TEMPORAL_NAMESPACE" \
    --name "${attribute%:*}" --type "${attribute#*:}"
done
