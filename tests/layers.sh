#!/bin/bash
# SPDX-License-Identifier: MIT
# Keeps the layers apart, by the rules in tests/layers.txt:
#   1. every #include of sim/, models/ and traces/ goes to a layer that may be known;
#   2. a policy's object file uses only what its kind may call, and has no state of its own;
#   3. guest code names no pCPU and nothing of the host;
#   4. every header compiles alone.
# Prints file:line of each fault; status 1 if there is one.
#
# usage: tests/layers.sh [--self-test] [ROOT]      environment: CC, CFLAGS
# The self-test plants one fault of each kind in a copy and requires that it is found where it is.
set -ufo pipefail # no globbing: patterns are compared, never expanded
export LC_ALL=C
planting=no
[ "${1:-}" = --self-test ] && planting=yes && shift
root=$(cd "${1:-$(dirname "$0")/..}" && pwd)
rules=$(cd "$(dirname "$0")" && pwd)/layers.txt
CC=${CC:-gcc}
CFLAGS=${CFLAGS:--std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Werror -Isim -I.}
work=$(mktemp -d "${TMPDIR:-/tmp}/tandem-layers-XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT

# Rules 1 and 3 in one reading of the text: comments go first, then strings, lines stay where they are.
text_faults() { # SOURCE...
    awk -v rules="$rules" '
    function glob(g) {
        gsub(/[.]/, "[.]", g)
        gsub(/\*/, ".*", g)
        return "^" g "$"
    }
    function add(table, keys, names,    k, n, i, j, nk, nn) {
        nk = split(keys, k, " ")
        nn = split(names, n, " ")
        for (i = 1; i <= nk; i++)
            for (j = 1; j <= nn; j++)
                rule[table, k[i], ++count[table, k[i]]] = glob(n[j])
    }
    function matches(table, key, name,    i) {
        for (i = 1; i <= count[table, key]; i++)
            if (name ~ rule[table, key, i])
                return 1
        return 0
    }
    # "sim/host/move.c" -> "host", "models/guest/bare.c" -> "models/guest", "sim/run.c" -> "top"
    function layer_of(path,    p, n) {
        n = split(path, p, "/")
        if (p[1] == "traces")
            return "traces"
        if (p[1] == "models")
            return n > 2 ? "models/" p[2] : "models"
        return n > 2 && p[2] != "study" ? p[2] : "top"
    }
    function fault(text) {
        printf "%s:%d: %s\n", FILENAME, FNR, text
    }
    # The line without comments; in_comment is carried on.
    function bare(line,    out, c, quote) {
        out = ""
        quote = ""
        while (line != "") {
            c = substr(line, 1, 1)
            if (in_comment) {
                if (substr(line, 1, 2) == "*/") {
                    in_comment = 0
                    line = substr(line, 2)
                }
            } else if (quote != "") {
                out = out c
                if (c == "\\") {
                    out = out substr(line, 2, 1)
                    line = substr(line, 2)
                } else if (c == quote)
                    quote = ""
            } else if (substr(line, 1, 2) == "/*") {
                in_comment = 1
                line = substr(line, 2)
            } else if (substr(line, 1, 2) == "//") {
                break
            } else {
                out = out c
                if (c == "\"" || c == "\047")
                    quote = c
            }
            line = substr(line, 2)
        }
        return out
    }
    function check_include(what,    path, to, folder) {
        folder = FILENAME
        sub(/[^\/]*$/, "", folder)
        if (what ~ /\.\./) {
            fault("\"" what "\" leaves its folder by ..")
            return
        }
        # A bare name is a neighbour if there is one, else a file of sim/ itself.
        if (what !~ /\//)
            path = (folder what) in known ? folder what : "sim/" what
        else
            path = what ~ /^(traces|models|sim)\// ? what : "sim/" what
        to = layer_of(path)
        if (path in private && private[path] != folder)
            fault("\"" what "\" is private to " private[path])
        if (layer == "top" || to == layer)
            return
        if (!known_layer[layer])
            fault("layer \"" layer "\" has no rule in tests/layers.txt")
        else if (!matches("include", layer, to) && !matches("include", layer, what))
            fault("\"" what "\": " layer " must not know " to)
    }
    function check_words(line,    word) {
        gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
        while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
            word = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            if (matches("forbid", place, word) && !matches("allow", place, word))
                fault("\"" word "\" must not be known in " place)
        }
    }
    BEGIN {
        while ((getline line < rules) > 0) {
            sub(/#.*/, "", line)
            n = split(line, half, ":")
            nw = split(half[1], w, " ")
            if (nw == 0)
                continue
            keys = half[1]
            sub(/^ *[a-z]+ */, "", keys)
            if (w[1] == "include")
                known_layer[w[2]] = 1
            if (w[1] == "private")
                for (i = 2; i <= nw; i++) {
                    path = "sim/" w[i]
                    private[path] = path
                    sub(/[^\/]*$/, "", private[path])
                }
            else
                add(w[1], keys, half[2])
        }
        for (i = 1; i < ARGC; i++)
            known[ARGV[i]] = 1
    }
    FNR == 1 {
        in_comment = 0
        layer = layer_of(FILENAME)
        place = FILENAME
        sub(/\/[^\/]*$/, "", place)
    }
    {
        code = bare($0)
        if (match(code, /^[ \t]*#[ \t]*include[ \t]*"[^"]*"/)) {
            what = substr(code, RSTART, RLENGTH)
            gsub(/^[^"]*"|"$/, "", what)
            check_include(what)
        } else
            check_words(code)
    }' "$@"
}

# Names of a rule line as one line of patterns.
names() { # RULE
    sed -n "s/#.*//; s/^$1: *//p" "$rules" | tr '\n' ' '
}

# Where a name stands first in a file, as a call if there is one.
line_of() { # FILE NAME
    { grep -n -- "\b$2 *(" "$1" || grep -nw -- "$2" "$1" || echo 1; } | head -n 1 | cut -d: -f1
}

# Rule 2. Objects of their own: no sanitizer, no link-time optimisation, and without -fPIE a constant
# table is in a read-only section, so that writable data is state.
symbol_faults() { # MODEL...
    local f kind name type allowed
    for f; do
        kind=$(basename "$(dirname "$f")")
        # shellcheck disable=SC2086 # flags are words
        $CC $CFLAGS -O1 -fno-pie -fno-pic -c -o "$work/model.o" "$f" || {
            echo "$f:1: does not compile"
            continue
        }
        allowed="$(names "call $kind")$(names pure)"
        while read -r type name; do
            case $type in
            U)
                for a in $allowed; do
                    # shellcheck disable=SC2053 # a pattern
                    [[ $name == $a ]] && continue 2
                done
                echo "$f:$(line_of "$f" "$name"): a policy must not use '$name'"
                ;;
            [bBdDC]) # a static inside a function is seen.0 or function.seen
                name=${name%.[0-9]*}
                name=${name##*.}
                echo "$f:$(line_of "$f" "$name"): a policy must not keep state in '$name'"
                ;;
            esac
        done < <(nm -g -u "$work/model.o" | awk '{ print $(NF - 1), $NF }'
            nm "$work/model.o" | awk 'NF == 3 { print $2, $3 }')
    done
}

# Rule 4. Included by an empty file, so that unused inline functions are no fault.
header_fault() { # HEADER
    # shellcheck disable=SC2086 # flags are words
    echo "#include \"$1\"" | $CC $CFLAGS -fsyntax-only -x c - 2>&1 | sed 's,^\./,,'
}
export -f header_fault
export CC CFLAGS

check() { # ROOT
    cd "$1" || exit 3
    local sources headers models
    mapfile -t sources < <(find sim models traces -name '*.[ch]' | sort)
    mapfile -t headers < <(find sim models traces -name '*.h' | sort)
    mapfile -t models < <(find models -name '*.c' | sort)
    [ ${#models[@]} -gt 0 ] || { echo "no sources in $1"; return; }
    text_faults "${sources[@]}"
    symbol_faults "${models[@]}"
    printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} bash -c 'header_fault {}'
}

# Plants a line in a file of the copy. Later the check must name that file and line, and say why.
copy=$work/copy
planted=()
plant() { # FILE LINE MESSAGE
    [ -e "$copy/$1" ] || printf '/* SPDX-License-Identifier: MIT */\n' > "$copy/$1"
    printf '%s\n' "$2" >> "$copy/$1"
    planted+=("$1:$(wc -l < "$copy/$1"): .*$3")
}

self_test() {
    mkdir "$copy"
    cp -r "$root/sim" "$root/models" "$root/traces" "$copy"
    plant sim/host/planted.h '#include "guest/guest.h"' 'host must not know guest'
    plant sim/guest/planted.h '#include "host/topology.h"' 'guest must not know host'
    plant sim/guest/planted.h 'int guest_planted(int pcpu);' '"pcpu" must not be known'
    plant sim/engine/planted.h '#include "run.h"' 'engine must not know top'
    plant sim/cross/planted.h '#include "host/internal.h"' 'private to sim/host/'
    plant sim/fair/planted.h '#include "../obs/trace.h"' 'leaves its folder'
    plant sim/obs/planted.h 'struct planted { ns_t never_declared; };' 'ns_t'
    plant models/idle/hlt.c '#include "host/host.h"' 'models/idle must not know host'
    plant models/idle/hlt.c 'int planted(void); int planted(void) { static int seen; return seen++; }' \
        "must not keep state in 'seen'"
    plant models/guest/bare.c 'int planted(void); int planted(void) { return FACT_ORACLE; }' 'FACT_ORACLE'
    plant models/guest/null.c \
        '#include <stdlib.h>
void *planted(void); void *planted(void) { return malloc(1); }' "must not use 'malloc'"
    plant models/host/rr.c '#include <time.h>
time_t planted(void); time_t planted(void) { return time(0); }' "must not use 'time'"
    (check "$copy") > "$work/faults.txt" 2>&1
    for p in "${planted[@]}"; do
        sed 's/^\([^:]*:[0-9]*\):[0-9]*:/\1:/' "$work/faults.txt" | grep -q "^$p" || {
            echo "self-test: '$p' is not reported; the check says:" >&2
            cat "$work/faults.txt" >&2
            exit 1
        }
    done
    echo "check-layers: all ${#planted[@]} planted faults are found"
}

if [ $planting = yes ]; then
    self_test
    exit
fi
(check "$root") > "$work/faults.txt" 2>&1
if [ -s "$work/faults.txt" ]; then
    cat "$work/faults.txt" >&2
    echo "check-layers: $(grep -cE '^[^ ]+:[0-9]+:' "$work/faults.txt") faults" >&2
    exit 1
fi
echo "check-layers: $(find "$root/sim" "$root/models" "$root/traces" -name '*.[ch]' | wc -l) files keep their layers"
