#!/usr/bin/env bash
# build.sh FOLDER SUITE: builds FOLDER/curl_ephiperfifo, curl's own example of its multi socket interface on epoll, or leaves .missing there.
# SPDX-License-Identifier: MIT
#
# The text is that of Debian's libcurl4-doc, and stays there: what is compiled is changed on the way. Its callbacks and its loop are as they are.
# It prints nothing, which would be most of its time, has curl silent, too, and instead of the URLs of a named pipe it fetches one URL so many times,
# so many at once, and ends.
set -euo pipefail
[ "$2" = curl ] || exit 0
out=$(mkdir -p "$1" && cd "$1" && pwd)
name=curl_ephiperfifo source=/usr/share/doc/libcurl4/examples/ephiperfifo.c
rm -f "$out/$name" "$out/$name.missing"
[ -e "$source" ] || { echo "no $source (Debian: libcurl4-doc)" | tee "$out/$name.missing"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -e 's/fprintf(MSG_OUT/if(0) fprintf(MSG_OUT/' -e 's/CURLOPT_VERBOSE, 1L/CURLOPT_VERBOSE, 0L/' -e 's/CURLOPT_NOPROGRESS, 0L/CURLOPT_NOPROGRESS, 1L/' \
  -e 's/CURLOPT_PROGRESSFUNCTION, prog_cb/CURLOPT_PRIVATE, conn/' -e 's/^  init_fifo(&g);/  (void)init_fifo;/' -e 's/^  clean_fifo(&g);/  (void)clean_fifo;/' \
  -e '/^static void timer_cb(GlobalInfo\* g, int revents);/a extern int g_should_exit_;\nstatic void new_conn(char *url, GlobalInfo *g);\nstatic int left_to_start, left_to_end;\nstatic char *the_url;' \
  -e '/^      free(conn);/a \      if(left_to_start > 0) { --left_to_start; new_conn(the_url, g); }\n      if(--left_to_end == 0) g_should_exit_ = 1;' \
  -e '/^  (void)argv;/a \  if(argc != 4) return 2;\n  the_url = argv[1];\n  left_to_end = atoi(argv[3]);' \
  -e '/^  while(!g_should_exit_)/i \  left_to_start = left_to_end;\n  for(int i = atoi(argv[2]); i > 0 \&\& left_to_start > 0; --i) { --left_to_start; new_conn(the_url, \&g); }' \
  "$source" >"$work/ephiperfifo.c"
# shellcheck disable=SC2046
if ! cc -O3 -w -o "$out/$name" "$work/ephiperfifo.c" $(pkg-config --cflags --libs libcurl) >"$out/$name.log" 2>&1; then
  echo "cc: $(head -1 "$out/$name.log")" | tee "$out/$name.missing"
fi
