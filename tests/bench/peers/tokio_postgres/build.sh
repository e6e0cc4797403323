#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/postgres_tokio from Debian's crates, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = postgres ] || exit 0
here=$(dirname "$0")
exec "$here/../cargo_peer.sh" "$here" tokio postgres_tokio "$1"
