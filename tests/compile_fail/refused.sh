#!/usr/bin/env bash
# refused.sh REGEX COMPILER ARGUMENT...: passes if the compiler fails with a message that matches REGEX.
# SPDX-License-Identifier: MIT
set -u
regex=$1
shift
if output=$(LC_ALL=C "$@" 2>&1); then
  echo "compiled, but should not: $*"
  exit 1
fi
if ! grep -qE -- "$regex" <<<"$output"; then
  printf 'refused, but no message matches %s:\n%s\n' "$regex" "$output"
  exit 1
fi
