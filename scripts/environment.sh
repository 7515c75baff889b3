#!/usr/bin/env bash
# environment.sh FOLDER: make a Python environment there, unless there is already one that works.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1

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

"$folder/bin/python" -c '' 2>/dev/null && exit
rm -rf "$folder"
python=$(find_python)
if ! "$python" -c 'import ensurepip' 2>/dev/null; then  # Debian and Ubuntu ship Python without its venv module
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv >/dev/null
    else
        echo "error: $python lacks the venv module; install it (Debian, Ubuntu: apt install python3-venv)" >&2
        exit 1
    fi
fi
"$python" -m venv "$folder"
