#!/usr/bin/env bash
# wine.sh PREFIX PROGRAM ARGUMENT...: runs a Windows program under wine, and ends as it ended.
# SPDX-License-Identifier: MIT
#
# CMake's emulator of the preset mingw. PREFIX is the folder of wine's own that this build has for itself; whoever comes
# first makes it, which takes wine some seconds. TANDEM_WINE_SECONDS (default 900) ends what hangs beyond any watchdog.
set -euo pipefail
export WINEPREFIX=$1 WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES='mscoree=;mshtml='
shift
wine=$(command -v wine64 || true)
[ -n "$wine" ] || wine=/usr/lib/wine/wine64
[ -x "$wine" ] || { echo "wine.sh: there is no wine64 (Debian: wine64)" >&2; exit 127; }
if [ ! -f "$WINEPREFIX/ready" ]; then
  mkdir -p "$WINEPREFIX"
  (
    flock 9
    [ -f "$WINEPREFIX/ready" ] || {
      timeout -k 5 120 "$wine" wineboot --init >/dev/null 2>&1
      touch "$WINEPREFIX/ready"
    }
  ) 9>"$WINEPREFIX/lock"
fi
exec timeout -k 5 "${TANDEM_WINE_SECONDS:-900}" "$wine" "$@"
