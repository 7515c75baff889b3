#!/usr/bin/env bash
# build-client.sh: install the client's packages where they changed, make its types from the server's description of itself,
# and build it into src/tellmore/app/static/.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$(scripts/node-path.sh):$PATH
mkdir -p .make
if [ ! -f .make/packages ] || [ web/package-lock.json -nt .make/packages ] || [ ! -d web/node_modules ]; then
    echo "Installing the client's packages into web/node_modules …"
    # Not `npm ci`: that refuses the lock file where a registry lacks the optional packages of other platforms.
    npm --prefix web install --no-save --no-audit --no-fund --no-update-notifier --loglevel=error
    touch .make/packages
fi
echo "Building the browser client …"
.venv/bin/python scripts/write_openapi.py .make/openapi.json
npm --prefix web run --silent types
npm --prefix web run --silent build
touch .make/client
