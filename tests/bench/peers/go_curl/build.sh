#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/curl_go, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = curl ] || exit 0
here=$(dirname "$0")
exec "$here/../go_peer.sh" "$here" curl_go "$1"
