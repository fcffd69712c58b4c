set -eu
# The port is open before the cluster is ready, and a new namespace takes a moment to
# propagate.
try() {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    "$@" && return
    sleep 4
  done
  return 1
}
try temporal operator cluster health
temporal operator namespace describe -n gateway >/dev/null 2>&1 ||
  try temporal operator namespace create -n gateway --retention 30d
for attribute in PayoutStatus:Keyword PaymentStatus:Keyword Mode:Keyword Currency:Keyword AccountId:Keyword EndpointId:Keyword \
  NeedsAttention:Bool; do
  try temporal operator search-attribute create -n gateway \
    --name "${attribute%:*}" --type "${attribute#*:}"
done
