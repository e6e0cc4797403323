#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/bench_fork_join_rayon from Debian's crates, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = fork_join ] || exit 0
here=$(dirname "$0")
exec "$here/../cargo_peer.sh" "$here" rayon bench_fork_join_rayon "$1"
