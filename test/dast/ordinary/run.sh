#!/bin/bash
# Runs one function of an application: run.sh APPLICATION FUNCTION, with DIR and PORT in the
# environment. "vars" prints what the measure needs to know: AUTH is the
# identity as JSON of an application whose sign-in is no form (LOGIN, USER, PASSWORD).
# VOLATILE and CHANGING are expressions for lines of the dump that every visit adds, and
# changes.
set -u
app=$1 what=$2
AUTH= CHANGING=
. "$(dirname "$0")/$app.sh"
BASE="http://127.0.0.1:${PORT:-0}"
if [ "$what" = vars ]; then
  printf '%s\n' "$NEEDS" "$LOGIN" "$USER" "$PASSWORD" "$VOLATILE" "$AUTH" "$CHANGING"
  exit
fi
export USER PASSWORD BASE
"$what"
