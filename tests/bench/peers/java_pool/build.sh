#!/usr/bin/env bash
# build.sh FOLDER SUITE: compiles FOLDER/bench_pool_java, or leaves .missing there with the reason.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ "$2" = pool ] || exit 0
out=$(mkdir -p "$1" && cd "$1" && pwd)
name=bench_pool_java
rm -f "$out/$name" "$out/$name.missing"
give_up() { echo "$*" | tee "$out/$name.missing"; exit 0; }

command -v javac >/dev/null || give_up "no javac (Debian: openjdk-17-jdk-headless)"
if ! javac -d "$out/java-pool-classes" "$(dirname "$0")"/*.java >"$out/$name.log" 2>&1; then
  give_up "javac: $(head -1 "$out/$name.log")"
fi
# ParallelGC, as in suite fork_join.
cat >"$out/$name" <<EOF
#!/bin/sh
exec java -XX:+UseParallelGC -cp "$out/java-pool-classes" Pool "\$@"
EOF
chmod +x "$out/$name"
