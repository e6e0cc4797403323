#!/usr/bin/env bash
# run.sh: the main job: builds tandem, starts puzzle_service, has puzzles solved by it, shows the table.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: examples/run.sh [--serve] [--port N]

Installs what is missing (Debian 12; root or sudo), builds the preset `release`, starts puzzle_service on a
free loopback port, has puzzles solved through POST /solve, replays every path, prints a table and writes
build/release/main_job.json. Exits with 0 if every answer was right.

--serve   keeps the service up afterwards: open its address in a browser; Ctrl-C ends it
--port N  instead of a free port
END
}

serve=
port=0
while [ $# -gt 0 ]; do
  case $1 in
    --serve) serve=1; shift ;;
    --port) port=${2:?--port needs a number}; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
  esac
done

build=build/release
programs=$build/examples/puzzle_service
started=$SECONDS
say() { printf '[%4ds] %s\n' $((SECONDS - started)) "$*"; }
fail() { echo "examples/run.sh: $*" >&2; exit 1; }

say "packages"
tests/support/install_packages.sh build components tests examples
say "configure"
mkdir -p $build
cmake --preset release >$build/configure.log 2>&1 || { cat $build/configure.log >&2; fail "cmake failed"; }
grep -h ' is left out: ' $build/configure.log || true
say "build"
cmake --build --preset release --target puzzle_service puzzle_client

service=
output=$(mktemp)
# Ends the one process that was started here, and no other.
finish() {
  if [ -n "$service" ]; then
    kill -TERM "$service" 2>/dev/null || true
    wait "$service" 2>/dev/null || true
  fi
  rm -f "$output"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

$programs/puzzle_service --port "$port" >"$output" &
service=$!
address=
for _ in $(seq 1 200); do
  address=$(sed -n 's|^listening on http://||p' "$output")
  [ -z "$address" ] || break
  kill -0 "$service" 2>/dev/null || { service=; fail "puzzle_service did not start (see above)"; }
  sleep 0.05
done
[ -n "$address" ] || fail "puzzle_service does not say where it listens"
say "puzzle_service listens on http://$address"
echo
$programs/puzzle_client --server "$address" --json $build/main_job.json || fail "an answer is wrong (see above)"

python3 tests/support/replay_job.py $build/main_job.json || fail "a path is wrong (see above)"
echo
say "all answers are right; the table is in $build/main_job.json"

if [ -n "$serve" ]; then
  say "serving on http://$address (Ctrl-C ends it)"
  wait "$service" || true
  service=
  exit 0
fi
kill -TERM "$service"
wait "$service" || { service=; fail "puzzle_service did not end cleanly"; }
service=
