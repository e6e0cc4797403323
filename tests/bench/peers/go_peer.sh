#!/usr/bin/env bash
# go_peer.sh SOURCE NAME FOLDER: builds FOLDER/NAME of SOURCE, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
from=$1 name=$2
out=$(mkdir -p "$3" && cd "$3" && pwd)
rm -f "$out/$name" "$out/$name.missing"
give_up() { echo "$*" | tee "$out/$name.missing"; exit 0; }

command -v go >/dev/null || give_up "no go (Debian: golang-go)"
cd "$from"
# The standard library alone: nothing is fetched.
if ! GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local go build -o "$out/$name" . >"$out/$name.log" 2>&1; then
  give_up "go build: $(grep -m1 -v '^#' "$out/$name.log")"
fi
