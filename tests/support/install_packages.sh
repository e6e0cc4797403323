#!/usr/bin/env bash
# install_packages.sh GROUP...: installs the Debian packages of these groups that are missing.
# SPDX-License-Identifier: MIT
#
# Groups: build, clang, format, check, components, servers, tests, interop, examples, peers, sync_peers, pool_peers, io_peers,
# tls_peers, curl_peers, postgres_peers, redis_peers, debuggers, plot, browser, windows. Nothing is asked and
# nothing is removed; with everything in place it takes a moment and touches nothing. As root or with sudo; otherwise it
# says what is needed.
set -euo pipefail

packages_of() {
  case $1 in
    build) echo g++ cmake ninja-build ccache pkg-config liburing-dev libasio-dev libssl-dev libdw-dev ;;
    clang) echo clang-19 libclang-rt-19-dev lld-19 ;;
    format) echo clang-format-19 ;;
    check) echo clang-tools-19 python3 ;;
    components) echo libcurl4-openssl-dev libpq-dev libhiredis-dev libsqlite3-dev ;;
    servers) echo postgresql redis-server nginx mosquitto libmosquitto-dev ;;
    tests) echo libgtest-dev libasio-dev libboost1.81-dev python3 curl wrk spin mount ;;
    interop) echo libasio-dev libboost1.81-dev libssl-dev openssl gnutls-bin curl libboost1.81-doc libasio-doc ;;
    examples) echo libboost1.81-dev nlohmann-json3-dev libcli11-dev libfmt-dev gnuplot-nox ;;
    peers) echo libtbb-dev librust-rayon-dev "$(libomp)" "$(unless_found cargo cargo)" "$(unless_found javac openjdk-17-jdk-headless)" ;;
    sync_peers) echo libasio-dev libuv1-dev librust-tokio-dev "$(unless_found cargo cargo)" "$(unless_found go golang-go)" ;;
    pool_peers) echo libtbb-dev libasio-dev "$(unless_found javac openjdk-17-jdk-headless)" ;;
    io_peers) echo libasio-dev libuv1-dev libboost1.81-dev librust-tokio-dev wrk nginx fio "$(unless_found cargo cargo)" "$(unless_found go golang-go)" ;;
    tls_peers) echo libssl-dev openssl libasio-dev librust-tokio-dev librust-tokio-rustls-dev librust-rustls-pemfile-dev librust-tokio-openssl-dev nginx "$(unless_found cargo cargo)" ;;
    curl_peers) echo libcurl4-openssl-dev libcurl4-doc nginx "$(unless_found go golang-go)" ;;
    postgres_peers) echo libpq-dev postgresql librust-tokio-postgres-dev golang-github-lib-pq-dev "$(unless_found cargo cargo)" "$(unless_found go golang-go)" ;;
    redis_peers) echo libhiredis-dev redis-server golang-github-gomodule-redigo-dev "$(unless_found go golang-go)" ;;
    debuggers) echo gdb lldb-19 python3-lldb-19 ;;
    plot) echo gnuplot-nox ;;
    browser) echo chromium chromium-driver python3-selenium ;;
    windows) echo g++-mingw-w64-x86-64-posix wine64 googletest python3 ;;
    *) echo "install_packages.sh: no such group: $1 (build clang format check components servers tests interop examples peers sync_peers pool_peers io_peers tls_peers curl_peers postgres_peers redis_peers debuggers plot browser windows)" >&2; return 2 ;;
  esac
}

# A tool chain that came from elsewhere will do.
unless_found() { command -v "$1" >/dev/null || echo "$2"; }
# One libomp-dev excludes every other: the one that is there stays, and clang links it.
libomp() {
  dpkg-query -W -f='${db:Status-Status}\n' 'libomp-*-dev' 2>/dev/null | grep -qx installed || echo libomp-19-dev
}

missing=()
for group in "$@"; do
  list=$(packages_of "$group")
  if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian system: please install what these Debian packages hold: $list" >&2
    continue
  fi
  for package in $list; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing Debian packages, and neither root nor sudo to install them. Please run, as root:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Services that come along (nginx) are not started: run level 1 has none.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }
install() { apt install -y --no-remove --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null; }
# The package lists may be absent or too old: then once more with fresh ones.
if ! install; then
  apt update >>"$log" 2>&1 || true
  if ! install; then
    cat "$log" >&2
    echo "could not install: ${missing[*]}" >&2
    exit 1
  fi
fi
