#!/usr/bin/env bash
# wine.sh PREFIX PROGRAM ARGUMENT...: runs a Windows program under wine, and ends as it ended.
# SPDX-License-Identifier: MIT
#
# CMake's emulator of the preset mingw. PREFIX is the folder of wine's own that this build has for itself; whoever comes
# first makes it, which takes wine some seconds. TANDEM_WINE_SECONDS (default 900) ends what hangs beyond any watchdog.
# The output goes by way of files: wine's services begin with whichever program is first, keep its output open, and stay
# longer than it, so that a reader of a pipe would wait for them.
# wine's server is begun here, and stays for server_stays seconds after its last program. Debian's ends with that program, and
# takes those with it that begin in this moment. What it says lies in PREFIX/server.log: should it crash, then all programs that
# ran have hung, or ended with status 0 before they were done.
set -euo pipefail
export WINEPREFIX=$1 WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES='mscoree=;mshtml='
shift
wine=$(command -v wine64 || true)
[ -n "$wine" ] || wine=/usr/lib/wine/wine64
[ -x "$wine" ] || { echo "wine.sh: there is no wine64 (Debian: wine64)" >&2; exit 127; }
server=$(command -v wineserver || true)
[ -n "$server" ] || server=/usr/lib/wine/wineserver
[ -x "$server" ] || { echo "wine.sh: there is no wineserver (Debian: libwine)" >&2; exit 127; }
server_stays=30
mkdir -p "$WINEPREFIX"
# One at a time: of those that begin at once one would find a server, or a folder, that another one is just making.
exec 9>"$WINEPREFIX/lock"
flock 9
begun=0
"$server" -p$server_stays </dev/null >/dev/null 2>>"$WINEPREFIX/server.log" 9>&- || begun=$?
case $begun in
  0 | 2) ;;  # 2: it runs already
  *) echo "wine.sh: $server cannot be started: it ended with $begun; see $WINEPREFIX/server.log" >&2; exit 126 ;;
esac
for try in 1 2 3; do
  [ ! -f "$WINEPREFIX/ready" ] || break
  booted=0
  timeout -k 5 120 "$wine" wineboot --init >"$WINEPREFIX/boot.log" 2>&1 9>&- || booted=$?
  if [ $booted = 0 ]; then
    touch "$WINEPREFIX/ready"
  elif [ $try = 3 ]; then
    echo "wine.sh: wineboot --init ended with $booted three times; see $WINEPREFIX/boot.log" >&2
    exit 126
  fi
done
exec 9>&-
# For whoever talks to the program: its output is the caller's file as it comes, and SIGINT reaches it as Ctrl-C.
if [ -n "${TANDEM_WINE_LIVE:-}" ]; then
  exec timeout --foreground -s KILL "${TANDEM_WINE_SECONDS:-900}" "$wine" "$@"
fi
said=$(mktemp -d "$WINEPREFIX/said.XXXXXX")
trap 'rm -rf "$said"' EXIT
status=0
timeout -k 5 "${TANDEM_WINE_SECONDS:-900}" "$wine" "$@" >"$said/out" 2>"$said/err" || status=$?
cat "$said/out"
cat "$said/err" >&2
exit $status
