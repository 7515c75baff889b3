#!/usr/bin/env bash
# install.sh app|all|dev: create .venv where it is missing and install tellmore with that extra, exact versions by constraints.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
level=$1

find_python() {
    local name
    for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo "error: no Python 3.11 or newer was found; install one, or name it: make PYTHON=/path/to/python3.12" >&2
    return 1
}

# Debian and Ubuntu ship Python without its venv module.
create_environment() {
    local python
    python=$(find_python)
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv >/dev/null
        else
            echo "error: $python lacks the venv module; install it (Debian, Ubuntu: apt install python3-venv)" >&2
            exit 1
        fi
    fi
    "$python" -m venv .venv
}

[ -x .venv/bin/python ] && .venv/bin/python -c '' 2>/dev/null || { rm -rf .venv; create_environment; }
case $level in
    app) extras=app covers="app" ;;
    all) extras=all covers="app all" ;;
    dev) extras=all,dev covers="app all dev" ;;
    *) echo "usage: install.sh app|all|dev" >&2; exit 2 ;;
esac
echo "Installing tellmore[$extras] into .venv …"
.venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$extras]"
mkdir -p .make
for one in $covers; do touch ".make/venv-$one"; done
