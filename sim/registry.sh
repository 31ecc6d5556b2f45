#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the tables of policies: one entry per file in models/<kind>/. File name = YAML name with
# underscores = suffix of the symbol: models/guest/cps_load.c -> guest_policy_cps_load.
# usage: registry.sh OUTPUT [MODELS]
set -eu
LC_ALL=C
export LC_ALL
out=$1
models=${2:-models}

table() { # KIND
    kind=$1
    list=
    for file in "$models/$kind"/*.c; do
        [ -e "$file" ] || continue
        name=$(basename "$file" .c | tr - _)
        echo "extern const struct ${kind}_ops ${kind}_policy_${name};"
        list="$list    &${kind}_policy_${name},
"
    done
    # The last element is no policy: a table without policies has elements, too.
    printf 'const struct %s_ops *const registry_%s[] = {\n%s    NULL,\n};\n' "$kind" "$kind" "$list"
    printf 'const size_t registry_n%s = sizeof(registry_%s) / sizeof(registry_%s[0]) - 1;\n\n' \
        "$kind" "$kind" "$kind"
}

{
    echo '/* Made by sim/registry.sh from the files in models/. */'
    echo '#include "registry.h"'
    echo
    table host
    table guest
    table idle
} > "$out.tmp"
# An unchanged table keeps its time, so that nothing is built anew for it.
if cmp -s "$out.tmp" "$out"; then
    rm -f "$out.tmp"
else
    mv "$out.tmp" "$out"
fi
