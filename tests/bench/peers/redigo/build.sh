#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/redis_redigo with Debian's redigo, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = redis ] || exit 0
here=$(dirname "$0")
out=$(mkdir -p "$1" && cd "$1" && pwd)
rm -f "$out"/redis_redigo "$out"/redis_redigo.missing
give_up() { echo "$*" | tee "$out/redis_redigo.missing"; exit 0; }
command -v go >/dev/null || give_up "no go (Debian: golang-go)"
[ -d /usr/share/gocode/src/github.com/gomodule/redigo ] || give_up "no redigo (Debian: golang-github-gomodule-redigo-dev)"
cd "$here"
# Debian keeps sources where Go looked for them before there were modules.
if ! GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS= GOTOOLCHAIN=local go build -o "$out/redis_redigo" main.go >"$out/redis_redigo.log" 2>&1; then
  give_up "go build: $(grep -m1 -v '^#' "$out/redis_redigo.log")"
fi
