#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are missing:
# PostgreSQL (the server's programs), Chromium for the sign-in pages, git.
set -euo pipefail

missing=()
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || missing+=(postgresql)
command -v chromium >/dev/null || missing+=(chromium)
command -v git >/dev/null || missing+=(git)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install these packages as root: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
