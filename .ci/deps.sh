#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing, and only those; nothing is asked and nothing is
# downloaded when all are there. usage: .ci/deps.sh build|test|lint...
set -eu

# PACKAGE or PACKAGE:COMMAND. A command that is there already, from wherever, is enough: a desktop has
# gnuplot-qt, which gnuplot-nox would replace.
build="gcc:gcc make:make libc6-dev pkg-config:pkg-config libgsl-dev libyaml-dev libcjson-dev
    libsqlite3-dev zlib1g-dev gnuplot-nox:gnuplot fonts-dejavu-core"
# clang's sanitizers need libclang-rt-14-dev, de_DE.UTF-8 is made from the sources in locales.
test="clang:clang libclang-rt-14-dev clang-format:clang-format libcriterion-dev gcovr:gcovr
    libxml2-utils:xmllint locales sqlite3:sqlite3 procps:ps groff-base:groff zsh:zsh
    poppler-utils:pdftotext"
lint="cppcheck:cppcheck"

wanted=
for group in "$@"; do
    case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    lint) wanted="$wanted $lint" ;;
    *)
        echo "usage: deps.sh build|test|lint..." >&2
        exit 2
        ;;
    esac
done

installed() { # PACKAGE
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]
}

if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    # Elsewhere names of packages differ: what can be seen is whether the commands are there. A missing
    # library is named by the build.
    missing=
    for item in $wanted; do
        case $item in
        *:*) command -v "${item#*:}" > /dev/null || missing="$missing ${item#*:}" ;;
        esac
    done
    [ -n "$missing" ] || exit 0
    echo "This is no Debian system: please install by hand what provides:$missing" >&2
    echo "(the Debian packages are:$(echo "$wanted" | sed 's/:[^ ]*//g' | tr -s ' \n' ' '))" >&2
    exit 1
fi

missing=
for item in $wanted; do
    case $item in
    *:*) command -v "${item#*:}" > /dev/null && continue ;;
    esac
    installed "${item%%:*}" || missing="$missing ${item%%:*}"
done
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo > /dev/null || {
        echo "Missing packages:$missing. Install them as root, or install sudo." >&2
        exit 1
    }
    root=sudo
fi
echo "INSTALL$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # words
{
    $root apt-get -q update &&
        $root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing
} > "$log" 2>&1 < /dev/null || {
    tail -n 20 "$log" >&2
    echo "Could not install:$missing" >&2
    exit 1
}
