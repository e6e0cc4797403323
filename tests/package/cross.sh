#!/usr/bin/env bash
# cross.sh BUILD TOOLCHAIN EMULATOR...: installs a build for another system, and uses it as a program there would.
# SPDX-License-Identifier: MIT
#
# Without pkg-config's packages: those of this system are for this system.
set -euo pipefail
build=$1 toolchain=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKG_CONFIG_LIBDIR=$work/none
cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake -G Ninja -S "$(dirname "$0")/consumer" -B "$work/use" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
  -Dtandem_DIR="$work/prefix/lib/cmake/tandem" '-DCONSUMER_COMPONENTS=runtime;io'
cmake --build "$work/use"
"$@" "$work/use/use_io.exe"
PKG_CONFIG_LIBDIR=$work/prefix/lib/pkgconfig pkg-config --static --libs tandem-io | grep -q -e '-lws2_32.*-lsynchronization'
