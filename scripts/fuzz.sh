#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME.
set -euo pipefail
grep -rlE '^func Fuzz' --include=*_test.go . | sort | while read -r file; do
  for target in $(grep -oE '^func (Fuzz[A-Za-z0-9_]+)' "$file" | awk '{print $2}'); do
    echo "== $target in $(dirname "$file")"
    go test -run='^$' -fuzz="^$target\$" -fuzzminimizetime=10x -fuzztime="${FUZZTIME:-30s}" "$(dirname "$file")"
  done
done
