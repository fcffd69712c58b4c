#!/usr/bin/env bash
# Brings the running installation of docker-compose.yml to the state of its files, its .env and its
# images, without refusing a request: new containers of the API and the workers start beside the earlier
# ones, and those stop only when the new ones are healthy. Running it again, also after it was
# interrupted, is safe. docs/operations.md, "With Docker Compose", says when to use it.
#
#   deploy/compose/upgrade.sh [--no-build]
#
# --no-build takes the image of GATEWAY_VERSION that is on this machine already. Profiles that are in use
# are named in COMPOSE_PROFILES.
set -euo pipefail
cd "$(dirname "$0")/../.."

# A worker or an API process is healthy within a minute, unless the machine is overloaded.
readonly HEALTHY_WITHIN_S=${UPGRADE_HEALTHY_WITHIN_S:-180}
# The proxy asks the name server each second and each API process every two seconds.
readonly PROXY_NOTICES_S=8

say() { printf '[%s] %s\n' "$(date +%H:%M:%S)" "$*"; }
fail() {
  say "FAILED: $*" >&2
  exit 1
}
containers() { docker compose ps --all --quiet "$@"; }

# job NAME runs a job to its end, as `docker compose up` does before it starts the programs.
job() {
  local code
  docker compose up --detach --no-deps --force-recreate --no-build --quiet-pull "$1" >/dev/null 2>&1 ||
    fail "the job $1 does not start: docker compose up --no-deps $1"
  code=$(docker wait "$(containers "$1")")
  docker compose logs --no-log-prefix --no-color "$1" | tail -n 20
  [[ $code == 0 ]] || fail "the job $1 ended with $code. What ran before still runs."
}

healthy() {
  local until=$((SECONDS + HEALTHY_WITHIN_S)) id state
  for id; do
    while true; do
      state=$(docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$id")
      [[ $state == 'running healthy' ]] && break
      ((SECONDS < until)) || return 1
      sleep 1
    done
  done
}

# replace SERVICE starts as many new containers as the service has, and then stops the earlier ones.
replace() {
  local service=$1 wanted earlier=() new=() id
  wanted=$(docker compose config --format json |
    sed -n "/^    \"$service\": {/,/^    }/s/^ *\"replicas\": \([0-9]*\),*/\1/p" | head -n 1)
  mapfile -t earlier < <(containers "$service")
  say "$service: starting ${wanted:=1} beside ${#earlier[@]}"
  docker compose up --detach --no-deps --no-recreate --no-build --scale "$service=$((${#earlier[@]} + wanted))" \
    "$service" >/dev/null 2>&1 || fail "$service does not start: docker compose up --no-deps $service"
  for id in $(containers "$service"); do
    [[ " ${earlier[*]} " == *" $id "* ]] || new+=("$id")
  done
  if ! healthy "${new[@]}"; then
    docker logs --tail 20 "${new[0]}" >&2
    docker rm --force "${new[@]}" >/dev/null
    fail "the new $service is not healthy after $HEALTHY_WITHIN_S s and was removed. The earlier one still runs."
  fi
  [[ $service != api ]] || sleep "$PROXY_NOTICES_S"
  say "$service: healthy; stopping the earlier ones"
  for id in "${earlier[@]}"; do
    docker stop "$id" >/dev/null
    docker rm "$id" >/dev/null
  done
}

[[ -n $(containers api) ]] || fail 'nothing runs here yet. Start it with: docker compose up --build --detach'
if [[ ${1:-} != --no-build ]]; then
  say 'building'
  docker compose build --quiet
fi
say 'settings and migrations'
for name in settings database-roles migrate app-role; do job "$name"; done
if docker compose exec -T proxy sh -c '[ /run/settings/haproxy.cfg -nt /tmp/loaded ] && touch /tmp/loaded'; then
  say 'the proxy reads its changed configuration, and refuses requests for about 3 s'
  docker compose kill --signal USR2 proxy >/dev/null 2>&1
fi
for service in worker-payouts worker-payments worker-webhooks api; do replace "$service"; done
say 'everything else'
docker compose up --detach --no-build --wait >/dev/null 2>&1 ||
  fail 'a service is not healthy. The API and the workers run. Look at: docker compose ps --all'
say 'done'
