#!/usr/bin/env bash
# Installs what the tests need and what is missing: as Debian packages PostgreSQL
# (the server's programs), Chromium for the sign-in pages, git, Node.js; from npm the
# OpenID clients that sign in at the provider.
set -euo pipefail

missing=()
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || missing+=(postgresql)
command -v chromium >/dev/null || missing+=(chromium)
command -v git >/dev/null || missing+=(git)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v npm >/dev/null || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}"
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "install these packages as root: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

clients=$(dirname "$0")/../test/openid
if [ ! -d "$clients/node_modules" ] || [ "$clients/package-lock.json" -nt "$clients/node_modules" ]; then
  npm ci --prefix "$clients" --ignore-scripts --no-audit --no-fund
fi
