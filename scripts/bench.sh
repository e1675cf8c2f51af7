#!/usr/bin/env bash
# Prints what the service does per second, with the machine and its load. The
# figures of docs/benchmarks.md are the output of this script.
set -euo pipefail

echo "date     $(date -u +%Y-%m-%dT%H:%MZ)"
echo "commit   $(git rev-parse --short=12 HEAD)"
echo "machine  $(nproc) cores, $(awk -F': ' '/model name/{print $2; exit}' /proc/cpuinfo), $(awk '/MemTotal/{printf "%.0f GiB", $2/1048576}' /proc/meminfo)"
echo "load     $(cut -d' ' -f1-3 /proc/loadavg)"
echo "go       $(go version | cut -d' ' -f3)"
echo "postgres $(ls /usr/lib/postgresql 2>/dev/null | tail -n 1), fsync off"
echo

# package, benchmarks, arguments
run() { echo "== $1: $2"; go test -run '^$' -bench "^($2)\$" "${@:3}" "$1"; echo "load $(cut -d' ' -f1 /proc/loadavg)"; echo; }

run ./test/bench 'BenchmarkExchange' -benchtime 10s
run ./internal/store 'BenchmarkProjects' -timeout 60m
run ./internal/store 'BenchmarkIngest|BenchmarkList' -benchtime 1x -timeout 60m
run ./internal/advisory 'BenchmarkMatch'
run ./test/bench 'BenchmarkUpload' -benchtime 3x
