#!/usr/bin/env bash
# precompile.sh COMPILER ARGUMENT...: makes a precompiled header, and a sum of what it was made of.
# SPDX-License-Identifier: MIT
#
# A precompiled header names the folder that it was made in, so its contents are others in each checkout, and with them the
# names of all objects that the compilers' cache keeps of what uses it. ccache (CCACHE_PCH_EXTSUM) looks at HEADER.sum
# instead, where there is one: the hash of the preprocessed text, of the compiler, and of the arguments without the folders of this
# checkout and of this build, so that builds with the same flags share their objects. It is removed first, so that a header never
# stands beside the sum of another one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
output='' arguments=()
for ((i = 2; i <= $#; i++)); do
  case ${!i} in
    # What says where the results go.
    -o) i=$((i + 1)); output=${!i} ;;
    -MF | -MT) i=$((i + 1)) ;;
    -MD | -c) ;;
    # What makes clang precompile, after an -Xclang.
    -emit-pch) unset 'arguments[-1]' ;;
    *) arguments+=("${!i}") ;;
  esac
done
rm -f "$output.sum"
"$@"
text=$("$1" "${arguments[@]}" -E -P -w | sha256sum)
names=("${arguments[@]##/*/}")  # files by their names alone
printf '%s\n%s\n%s\n' "$text" "$("$1" --version | head -n 1)" "${names[*]//$root/}" >"$output.sum"
