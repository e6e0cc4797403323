#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/postgres_go with Debian's lib/pq, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = postgres ] || exit 0
from=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
rm -f "$out/postgres_go" "$out/postgres_go.missing"
give_up() { echo "$*" | tee "$out/postgres_go.missing"; exit 0; }

command -v go >/dev/null || give_up "no go (Debian: golang-go)"
[ -d /usr/share/gocode/src/github.com/lib/pq ] || give_up "no lib/pq (Debian: golang-github-lib-pq-dev)"
# Debian's packages of Go are laid out for the time before modules.
cd "$from"
if ! GO111MODULE=off GOPATH=/usr/share/gocode GOTOOLCHAIN=local go build -o "$out/postgres_go" . >"$out/postgres_go.log" 2>&1; then
  give_up "go build: $(grep -m1 -v '^#' "$out/postgres_go.log")"
fi
