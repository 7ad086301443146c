#!/bin/sh
# test.sh: runs the tests, in five minutes on two idle processors, after building. The last line is
# `N passed, N failed`, with `, N skipped` if any were.
#
# usage: ./test.sh [OPTION...]     the options are those of tests/run_all.py (--help)
#
# On Debian 12 and later it needs a shell and apt; what is missing of compilers and libraries it installs. It
# writes into build/ and temporary folders only, and refuses to run what takes too long for every
# edit: `--all` has the suite `slow` as well, and fuzzing, sanitizers and other machines are .ci/run.
set -eu
exec </dev/null
cd "$(dirname "$0")"
. tools/setup.sh

if ! need_packages build test || ! build_monarc; then
    echo "0 passed, 1 failed"
    exit 1
fi
# Pages are tested in a browser, exports by speedscope and DuckDB; without them, those tests are skipped.
need_browser || true
# One more than there are processors: some wait for most of their time.
exec python3 tests/run_all.py -j 3 "$@"
