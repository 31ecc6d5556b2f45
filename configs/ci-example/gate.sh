#!/bin/sh
# The gate: builds the policy, holds it against the committed baseline. Exit status 0 fine, 1 regressed, 2 bad input.
# With a first argument "renew" it writes the baseline anew: look at the difference before you commit it.
set -eu
cd "$(dirname "$0")"
: "${CC:=gcc}" "${TANDEM:=tandem}" "${HEADERS:=$(pkg-config --cflags tandem)}"
# shellcheck disable=SC2086 # several flags
$CC -std=c11 -O2 -shared -fPIC $HEADERS low_first.c -o low_first.so
if [ "${1:-}" = renew ]; then
    exec "$TANDEM" baseline write baseline.json gate.yaml --policy ./low_first.so
fi
exec "$TANDEM" compare baseline.json gate.yaml --policy ./low_first.so --margin 2% \
    --junit gate.xml --markdown gate.md "$@"
