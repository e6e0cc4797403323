#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/io_tokio from Debian's crates, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
case $2 in io | udp) ;; *) exit 0 ;; esac
here=$(dirname "$0")
exec "$here/../cargo_peer.sh" "$here" tokio io_tokio "$1"
