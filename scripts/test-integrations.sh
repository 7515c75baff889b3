#!/usr/bin/env bash
# test-integrations.sh [pytest options]: run the tests with other tools' packages and those of the extra torch, in .make/integrations.
# Their requirements differ from constraints.txt, so only the tools themselves are pinned.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/environment.sh .make/integrations
echo "Installing tellmore and the other tools' packages into .make/integrations …"
.make/integrations/bin/python -m pip install --quiet --disable-pip-version-check -e '.[app,onnx,datasets,notebook,torch]' pytest pytest-timeout \
    -r tests/integrations/requirements.txt
[ -f src/tellmore/app/static/widget.js ] || scripts/build-client.sh bundle
.make/integrations/bin/python -m pytest -q -W default tests/integrations tests/data/test_embed_torch.py "$@"
