#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/io_tokio from Debian's crates, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = io ] || exit 0
out=$(mkdir -p "$1" && cd "$1" && pwd)
name=io_tokio
crates=${TANDEM_CARGO_REGISTRY:-/usr/share/cargo/registry}
rm -f "$out/$name" "$out/$name.missing"
give_up() { echo "$*" | tee "$out/$name.missing"; exit 0; }

command -v cargo >/dev/null || give_up "no cargo (Debian: cargo)"
tokio=$(find "$crates" -maxdepth 1 -name 'tokio-[0-9]*' 2>/dev/null | sort | tail -1 || true)
[ -n "$tokio" ] || give_up "no tokio in $crates (Debian: librust-tokio-dev)"

# A copy: cargo writes its lock file beside the manifest.
source=$out/tokio-io-source
mkdir -p "$source/.cargo"
cp -r "$(dirname "$0")"/{Cargo.toml,build.rs,src} "$source"
cat >"$source/.cargo/config.toml" <<END
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "$crates"
END
cd "$source"
export BENCH_TOKIO_VERSION="tokio ${tokio##*/tokio-}" CARGO_TARGET_DIR=$out/tokio-io-target
if ! RUSTFLAGS="-C target-cpu=native" cargo build --quiet --release --offline >"$out/$name.log" 2>&1; then
  give_up "tokio does not build: $(grep -m1 -E '^(error|warning: .*required)' "$out/$name.log" || tail -1 "$out/$name.log")"
fi
cp "$CARGO_TARGET_DIR/release/$name" "$out/$name"
