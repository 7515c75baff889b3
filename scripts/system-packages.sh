#!/usr/bin/env bash
# system-packages.sh: install what the tests need besides Python and Node: chromium and a PostgreSQL server, with apt if allowed.
# It never fails: run_tests.py reports which suites could not run.
set -uo pipefail

have_browser() { command -v chromium chromium-browser google-chrome >/dev/null; }
have_postgres() { command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }

missing=()
have_browser || missing+=(chromium)
have_postgres || missing+=(postgresql)
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Not installed, and only root with apt could install them: ${missing[*]}" >&2
    exit 0
fi
echo "Installing ${missing[*]} with apt …"
export DEBIAN_FRONTEND=noninteractive
{ apt-get update -qq && apt-get install -qq -y --no-install-recommends "${missing[@]}"; } >.make/apt.log 2>&1 ||
    echo "apt could not install ${missing[*]}; see .make/apt.log" >&2
exit 0
