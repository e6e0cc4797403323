#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/bench_sync_go, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = sync ] || exit 0
here=$(dirname "$0")
exec "$here/../go_peer.sh" "$here" bench_sync_go "$1"
