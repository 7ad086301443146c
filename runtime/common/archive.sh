#!/bin/sh
# Makes a static library whose own names no program meets: what is hidden in the shared library is
# renamed to PREFIX and the name. Members stay apart, so that a program takes only those that it needs.
# usage: archive.sh AR READELF OBJCOPY PREFIX OUTPUT.a OBJECT...
set -eu
ar=$1 readelf=$2 objcopy=$3 prefix=$4 output=$5
shift 5
rm -f "$output"
"$ar" rcsD "$output" "$@"
"$readelf" -sW "$output" |
    awk -v prefix="$prefix" '$7 != "UND" && $5 != "LOCAL" && $6 == "HIDDEN" && $8 !~ /^(__gcov_|llvm_|monarc_)/ {
        print $8, prefix $8
    }' | sort -u >"$output.names"
"$objcopy" --redefine-syms="$output.names" "$output"
rm -f "$output.names"
