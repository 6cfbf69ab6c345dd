#!/bin/sh
# Installs what the lock file names, the tools of the build included. A layer of its own: it changes with the lock file alone.
set -eu
npm ci
