#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/io_go, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = io ] || exit 0
here=$(dirname "$0")
exec "$here/../go_peer.sh" "$here" io_go "$1"
