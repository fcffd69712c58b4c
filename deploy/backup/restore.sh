#!/usr/bin/env bash
# Restores a PostgreSQL cluster to a time: restore.sh STANZA TIME [pgbackrest options]
#   restore.sh gateway '2027-01-15 12:00:00+00'
#   restore.sh gateway '2027-01-15 12:00:00+00' --pg1-path=/srv/rehearsal --archive-mode=off
# Run it as the user postgres, with PostgreSQL, api and worker stopped. Start PostgreSQL afterwards: it
# replays the WAL up to the time and then takes writes. Do not start api or worker before you have read
# docs/operations.md, "After a restore".
set -euo pipefail

if [[ $# -lt 2 ]]; then
  echo "usage: restore.sh STANZA TIME [pgbackrest options], TIME such as '2027-01-15 12:00:00+00'" >&2
  exit 2
fi
stanza=$1 time=$2
shift 2
# Without an offset, the time would be read in the time zone of the server's settings.
if [[ ! $time =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}\ [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?[+-][0-9]{2}(:?[0-9]{2})?$ ]]; then
  echo "'$time' is no time with an offset from UTC; write it as '2027-01-15 12:00:00+00'" >&2
  exit 2
fi

# --delta keeps the files that are right already. pgBackRest refuses while PostgreSQL runs.
exec pgbackrest --stanza="$stanza" --delta --type=time --target="$time" --target-action=promote \
  "$@" restore
