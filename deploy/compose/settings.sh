#!/bin/sh
# The job "settings" of docker-compose.yml, which runs before everything else. It writes a folder for each
# service into the volume "settings": the file "env" with the secrets of this service and of no other, and
# the service's files. A volume has the same modes whatever the umask of the clone was, and `docker inspect`
# shows no file. A secret that .env does not set is generated once and kept.
#
#   settings.sh           writes the folders
#   settings.sh show      prints the secrets, to keep a copy of them
#   settings.sh sandbox   has the next run choose simulated providers
set -eu
files=${SETTINGS_FILES:-/app/deploy/compose}
to=${SETTINGS_VOLUME:-/settings}
input=${SETTINGS_INPUT:-/run/input}

fail() {
  printf 'settings: %s\n' "$*" >&2
  exit 1
}

case ${1:-} in
  show) cat "$to/kept"; exit ;;
  sandbox) touch "$to/sandbox-wanted"; exit ;;
esac
umask 022

# Which secrets each program reads.
gateway='TEMPORAL_API_KEY WEBHOOK_SECRET_KEY WEBHOOK_SECRET_KEYS_EARLIER EVIDENCE_SIGNING_KEY'
requests='KEY_PEPPER KEY_PEPPER_NEXT KEY_PEPPERS_EARLIER CURSOR_SECRET CURSOR_SECRETS_EARLIER OIDC_CLIENT_SECRET'
# credentials PREFIX prints the names of a provider's secrets in both modes; without a prefix, those of all providers.
credentials() { sed -nE "s/^($1[A-Z_]*_(TEST|LIVE)_(API_KEY|CALLBACK_SECRET))=.*/\1/p" "$input" | tr '\n' ' '; }
onchain=$(credentials ONCHAIN)
networks='ONCHAIN_TEST_NETWORK_URLS ONCHAIN_LIVE_NETWORK_URLS'
providers="$(credentials '')SCREENING_API_KEY"
wallet="TEMPORAL_API_KEY $onchain WALLET_SCREENING_TOKEN"
passwords='POSTGRES_PASSWORD TEMPORAL_DATABASE_PASSWORD GATEWAY_OWNER_PASSWORD GATEWAY_API_PASSWORD
  GATEWAY_WORKER_PASSWORD GATEWAY_DASHBOARD_PASSWORD WALLET_OWNER_PASSWORD WALLET_PASSWORD'
generated="$passwords KEY_PEPPER CURSOR_SECRET WEBHOOK_SECRET_KEY BACKUP_KEY GRAFANA_PASSWORD"
known="$gateway $requests $providers $networks $passwords WALLET_SCREENING_TOKEN SMTP_URL BACKUP_KEY GRAFANA_PASSWORD SANDBOX_WEBHOOK_SECRET"

random() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; }
# kept NAME and given NAME print a value; the second one is from .env.
kept() { [ ! -f "$to/kept" ] || sed -n "s/^$1=//p" "$to/kept"; }
given() { sed -n "s/^$1=//p" "$input"; }
value() {
  eval "printf '%s' \"\${value_$1:-}\""
}

# ---- production, or the profile sandbox ---------------------------------------------------------------

kind=production
[ ! -f "$to/sandbox-wanted" ] || kind=sandbox
rm -f "$to/sandbox-wanted"
before=$(cat "$to/kind" 2>/dev/null || true)
case "$before/$kind" in
  production/sandbox) fail 'this is an installation for real money, so the profile sandbox does not start on it. Use another COMPOSE_PROJECT_NAME, or delete this one with: docker compose down --volumes' ;;
  sandbox/production) fail 'the data is that of the profile sandbox. Start it with: docker compose --profile sandbox up. Or delete it with: docker compose --profile sandbox down --volumes' ;;
esac
if [ $kind = production ] && [ -z "$(given PUBLIC_URL)" ]; then
  fail 'PUBLIC_URL is not set. Set it in .env to the https:// address of the API, such as PUBLIC_URL=https://pay.example.com. To look at the product with simulated providers, run: docker compose --profile sandbox up'
fi

# ---- the secrets --------------------------------------------------------------------------------------

# The simulated providers have keys in both modes.
if [ $kind = sandbox ]; then generated="$generated $providers SANDBOX_WEBHOOK_SECRET"; fi
: >"$to/kept.new"
chmod 600 "$to/kept.new"
for name in $known; do
  text=$(given "$name")
  case " $(echo $generated) " in
    *" $name "*)
      [ -n "$text" ] || text=$(kept "$name")
      if [ -z "$text" ] && [ "$name" = SANDBOX_WEBHOOK_SECRET ]; then
        text=whsec_$(head -c 32 /dev/urandom | base64 | tr -d '\n')
      fi
      [ -n "$text" ] || text=$(random)
      ;;
  esac
  eval "value_$name=\$text"
  [ -z "$text" ] || printf '%s=%s\n' "$name" "$text" >>"$to/kept.new"
done
for name in $passwords; do
  case $(value "$name") in
    *[!A-Za-z0-9._~-]*) fail "$name has characters that a URL does not allow. Use letters and digits only." ;;
  esac
done

# ---- the folders --------------------------------------------------------------------------------------

line() { printf "%s='%s'\n" "$1" "$(printf '%s' "$2" | sed "s/'/'\\\\''/g")"; }
database() { printf 'postgres://%s:%s@postgres:5432/%s' "$1" "$(value "$2")" "$3"; }
# With the profile sandbox, these replace what docker-compose.yml sets.
simulated() {
  [ $kind = sandbox ] || return 0
  line GATEWAY_ENV ''
  line PUBLIC_URL "http://localhost:$(given PORT)"
  line CONSOLE_URL "http://localhost:$(given PORT)/console"
  line TEMPORAL_UI_URL "http://localhost:$(given TEMPORAL_UI_PORT)"
  for mode in TEST LIVE; do
    line "ONCHAIN_${mode}_URL" 'http://sandbox:3001/onchain'
    line "EXCHANGE_PAY_${mode}_URL" 'http://sandbox:3001/exchange-pay'
  done
  line SCREENING_URL 'http://sandbox:3001/sandbox/screening'
  # The inbox of the sandbox has a private address.
  line WEBHOOK_ALLOW_CIDRS '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16'
}
secrets() { for name; do [ -z "$(value "$name")" ] || line "$name" "$(value "$name")"; done; }
# folder NAME [FILE…] writes standard input as the folder's "env". Files are replaced in place, because
# running containers have the folder mounted.
folder() {
  mkdir -p "$to/$1"
  cat >"$to/$1/env"
  into=$to/$1
  shift
  for file in run "$@"; do
    # An unchanged file keeps its time, by which upgrade.sh knows that the proxy has read it.
    cmp -s "$files/$file" "$into/$file" || cat "$files/$file" >"$into/$file"
  done
}

folder postgres <<END
$(line POSTGRES_PASSWORD "$(value POSTGRES_PASSWORD)")
END
mkdir -p "$to/postgres/pgbackrest"
printf '[global]\nrepo1-cipher-pass=%s\n' "$(value BACKUP_KEY)" >"$to/postgres/pgbackrest/key.conf"

superuser() { line PGHOST postgres; line PGUSER postgres; line PGPASSWORD "$(value POSTGRES_PASSWORD)"; }
{
  superuser
  secrets GATEWAY_OWNER_PASSWORD TEMPORAL_DATABASE_PASSWORD WALLET_OWNER_PASSWORD
} | folder database-roles database-roles.sql
{
  superuser
  secrets GATEWAY_API_PASSWORD GATEWAY_WORKER_PASSWORD GATEWAY_DASHBOARD_PASSWORD
} | folder app-role app-role.sql
{
  superuser
  secrets WALLET_PASSWORD
} | folder wallet-role wallet-role.sql

owner=$(database gateway_owner GATEWAY_OWNER_PASSWORD gateway)
line DATABASE_OWNER_URL "$owner" | folder migrate
line WALLET_DATABASE_OWNER_URL "$(database wallet_owner WALLET_OWNER_PASSWORD wallet)" | folder wallet-migrate
{
  line DATABASE_OWNER_URL "$owner"
  secrets $gateway KEY_PEPPER SCREENING_API_KEY
  simulated
} | folder admin

line SQL_PASSWORD "$(value TEMPORAL_DATABASE_PASSWORD)" | folder temporal-schema temporal-schema.sh
line POSTGRES_PWD "$(value TEMPORAL_DATABASE_PASSWORD)" | folder temporal temporal-dynamic-config.yaml
folder temporal-namespace temporal-namespace.sh </dev/null

worker=$(database gateway_worker_1 GATEWAY_WORKER_PASSWORD gateway)
{
  line DATABASE_URL "$(database gateway_api_1 GATEWAY_API_PASSWORD gateway)"
  line DASHBOARD_DATABASE_URL "$(database gateway_dashboard_1 GATEWAY_DASHBOARD_PASSWORD gateway)"
  secrets $gateway $requests $providers $networks
  simulated
} | folder api
{
  line DATABASE_URL "$worker"
  secrets $gateway $providers $networks SMTP_URL
  simulated
} | folder worker
# The workers of payouts send mail, and no others.
{
  line DATABASE_URL "$worker"
  secrets $gateway $providers $networks
  simulated
} | folder worker-payments
# Merchants choose the addresses that this worker calls, so it has none of the providers' keys.
{
  line DATABASE_URL "$worker"
  secrets $gateway
  simulated | grep -v '_LIVE_URL=\|_TEST_URL=\|^SCREENING_URL=' || true
} | folder worker-webhooks
{
  line WALLET_DATABASE_URL "$(database wallet_1 WALLET_PASSWORD wallet)"
  secrets $wallet
} | folder wallet
folder proxy haproxy.cfg healthy </dev/null
folder grafana </dev/null
value GRAFANA_PASSWORD >"$to/grafana/password"
if [ $kind = sandbox ]; then
  {
    line DATABASE_OWNER_URL "$owner"
    secrets $gateway $requests $providers SANDBOX_WEBHOOK_SECRET
    simulated
  } | folder sandbox
fi

mv "$to/kept.new" "$to/kept"
echo $kind >"$to/kind"
