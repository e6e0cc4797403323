#!/usr/bin/env bash
# without_packages.sh COMMAND...: runs it on a machine that seems to have none of the packages of tests and examples.
# SPDX-License-Identifier: MIT
#
# In a mount namespace of its own, empty folders lie over the headers and CMake packages of GoogleTest, Boost, nlohmann's
# json, CLI11 and fmt, and over the programs python3, spin and gnuplot. Exits with 77, and says why, where that cannot be done.
set -uo pipefail

if [ "${1:-}" != --inside ]; then
  command -v unshare >/dev/null || { echo "there is no unshare (Debian: apt-get install util-linux)"; exit 77; }
  [ "$(id -u)" = 0 ] || { echo "a mount namespace needs root"; exit 77; }
  unshare -m true 2>/dev/null || { echo "the host refuses a mount namespace"; exit 77; }
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir "$folder/empty"
  unshare -m --propagation private "$0" --inside "$folder" "$@"
  exit
fi
empty=$2/empty refused=$2/refused
shift 2

printf '#!/bin/sh\necho "$0: not installed here" >&2\nexit 127\n' >"$refused"
chmod 755 "$empty" "$refused"
shopt -s nullglob
for folder in /usr/include/{gtest,gmock,boost,nlohmann,CLI,fmt,benchmark} /usr/lib/*/cmake/{GTest,fmt,Boost*,boost_*,CLI11,nlohmann_json} \
  /usr/share/cmake/{CLI11,nlohmann_json} /usr/lib/cmake/{CLI11,nlohmann_json}; do
  [ ! -d "$folder" ] || mount --bind "$empty" "$folder" || exit 77
done
for program in $(type -ap python3 spin gnuplot); do
  # The name may be a link: what it leads to is what has to go.
  mount --bind "$refused" "$(readlink -f "$program")" || exit 77
done
"$@"
