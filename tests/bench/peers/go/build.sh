#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/bench_sync_go, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = sync ] || exit 0
out=$(mkdir -p "$1" && cd "$1" && pwd)
name=bench_sync_go
rm -f "$out/$name" "$out/$name.missing"
give_up() { echo "$*" | tee "$out/$name.missing"; exit 0; }

command -v go >/dev/null || give_up "no go (Debian: golang-go)"
cd "$(dirname "$0")"
# The standard library alone: nothing is fetched.
if ! GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local go build -o "$out/$name" . >"$out/$name.log" 2>&1; then
  give_up "go build: $(grep -m1 -v '^#' "$out/$name.log")"
fi
