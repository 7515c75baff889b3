#!/usr/bin/env bash
# build-client.sh [bundle]: install the client's packages if they changed, make its types from the server's OpenAPI description,
# and build it into src/tellmore/app/static/. "bundle" leaves out the types, which only the type checker needs.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$(scripts/node-path.sh):$PATH
mkdir -p .make

# If the registry does not respond, npm waits for minutes without a message, so we ping it first, with a time limit.
install_packages() {
    local registry said
    registry=$(npm config get registry)
    local options=(--no-save --no-audit --no-fund --no-update-notifier --loglevel=error)
    said=$(timeout 60 npm ping --fetch-retries=0 --fetch-timeout=15000 2>&1) || case "$?$said" in
        124* | *ENOTFOUND* | *EAI_AGAIN* | *ECONNREFUSED* | *ECONNRESET* | *EHOSTUNREACH* | *ENETUNREACH* | *ETIMEDOUT* | *timeout*)
            npm --prefix web install --offline "${options[@]}" 2>/dev/null && return
            echo "error: the registry of Node packages, $registry, does not respond, and the client's packages are not in npm's cache." >&2
            echo "Check the network, set a proxy (npm config set proxy URL) or name a mirror: npm_config_registry=URL make …" >&2
            return 1
            ;;
    esac
    # Not `npm ci`: that refuses the lock file if a registry lacks the optional packages of other platforms.
    npm --prefix web install "${options[@]}" --fetch-retries=2 --fetch-timeout=60000 || {
        echo "error: the client's packages could not be fetched from $registry; see above, or name a mirror: npm_config_registry=URL make …" >&2
        return 1
    }
}

if [ ! -f .make/packages ] || [ web/package-lock.json -nt .make/packages ] || [ ! -d web/node_modules ]; then
    echo "Installing the client's packages into web/node_modules …"
    install_packages
    touch .make/packages
fi
echo "Building the browser client …"
if [ "${1:-}" != bundle ]; then
    .venv/bin/python scripts/write_openapi.py .make/openapi.json
    npm --prefix web run --silent types
fi
npm --prefix web run --silent build
[ "${1:-}" = bundle ] || touch .make/client
