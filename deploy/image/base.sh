#!/bin/sh
# On Debian: the one library that Node lacks there, the user that Parley runs as, and the folders that it writes to.
set -eu
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libatomic1
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /tmp/base.sh

groupadd --gid 10001 parley
useradd --uid 10001 --gid parley --home-dir /var/lib/parley --no-create-home --shell /usr/sbin/nologin parley
install -d -o parley -g parley -m 0700 /var/lib/parley /srv/parley-media

ln -s /opt/parley/node /usr/local/bin/node
ln -s /opt/parley/bin/parley.mjs /usr/local/bin/parley
