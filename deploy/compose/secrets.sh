#!/bin/sh
# Makes the secrets that are not there yet. Keep a copy of master-key elsewhere: without it nobody opens the data.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
make() {
  [ -e "secrets/$1" ] || openssl rand "$2" "$3" > "secrets/$1"
  # The user in the container is another one; the folder keeps everybody else of this machine out.
  chmod 0444 "secrets/$1"
}
make master-key -base64 32
make database-password -hex 24
make database-owner-password -hex 24
