#!/usr/bin/env bash
# Backs up PostgreSQL clusters: backup.sh full|diff STANZA...
# Run it as the user postgres; deploy/backup/crontab runs it every night. It fails if the WAL does not
# reach the repository, and tries the other stanzas nevertheless.
set -euo pipefail

if [[ $# -lt 2 || ($1 != full && $1 != diff) ]]; then
  echo 'usage: backup.sh full|diff STANZA...' >&2
  exit 2
fi
type=$1
shift

failed=0
for stanza in "$@"; do
  pgbackrest --stanza="$stanza" check &&
    pgbackrest --stanza="$stanza" --type="$type" backup &&
    pgbackrest --stanza="$stanza" info ||
    { echo "the backup of $stanza failed" >&2; failed=1; }
done
exit "$failed"
