#!/bin/sh
# Builds the web app in the folder of the sources, and leaves there what runs, with the Node that the tests run on.
set -eu
npm run build
npm prune --omit=dev
if [ -n "${EXTRA_PACKAGES:-}" ]; then
  # Names with versions, split at spaces on purpose.
  npm install --no-save --omit=dev ${EXTRA_PACKAGES}
fi

mv node_modules/node-linux-*/bin/node ./node
# Its package leaves that out.
chmod 0755 ./node
rm -rf node_modules/node-linux-*
mv deploy/image/health.mjs bin/
rm -rf .npmrc deploy package-lock.json scripts tsconfig.json node_modules/.cache
# What npm links to the folders of the other packages.
rm -rf node_modules/@parley node_modules/n8n-nodes-parley
find web -mindepth 1 -maxdepth 1 ! -name dist -exec rm -rf {} +
