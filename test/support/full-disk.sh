#!/usr/bin/env bash
# Draws a picture on a disk with room for the run but not for the picture, and frees space once the command says that it
# waits. Then fills the disk and runs a prompt from another one, with the journal on the full one. Prints what the commands
# said. Takes a directory, on which it mounts the disk in a namespace of its own.
set -euo pipefail
disk=$1
here=$(cd "$(dirname "$0")" && pwd)
elsewhere=$(mktemp -d)
errors=$elsewhere/errors
trap 'rm -rf "$elsewhere"' EXIT
mkdir -p "$disk"
mount -t tmpfs -o size=8m,mode=0700 tmpfs "$disk"
export HOME=$disk PROMPTRUN_DATA_DIR=$disk/data PROMPTRUN_STATE_DIR=$disk/state
place=$(seq -s ' ' 2000)
promptrun() { node "$here/../../bin/promptrun.js" "$@"; }
draw() { promptrun run postcard -i "place=$place"; }
fill() { cat /dev/zero >"$disk/filler" 2>/dev/null || true; }
draw >/dev/null 2>&1
fill
truncate -s -180K "$disk/filler"
draw >/dev/null 2>"$errors" &
running=$!
until grep -q 'waits in memory' "$errors" || ! kill -0 "$running" 2>/dev/null; do sleep 0.02; done
rm "$disk/filler"
code=0
wait "$running" || code=$?
cat "$errors"
echo "exit $code, $(find "$disk/data/media" -type f | wc -l) pictures"
fill
export PROMPTRUN_DATA_DIR=$elsewhere/data PROMPTRUN_STATE_DIR=$disk/new
promptrun run hello -i name=Ada -q 2>&1 || echo "exit $?"
promptrun compare hello hello -i name=Ada -q 2>&1 | sed -E 's/[0-9a-f]{32}/<id>/' || true
printf 'name\nAda\n' >"$elsewhere/names.csv"
promptrun batch hello --from "$elsewhere/names.csv" -q 2>&1 | tail -1 || true
promptrun config set rate 3 -q 2>&1 || echo "exit $?"
