#!/bin/sh
# Makes Parley's role and database on the first start of the server, whose own user is left to operators.
set -eu
password=$(cat /run/secrets/database-password)
psql --username postgres --set ON_ERROR_STOP=1 --set "password=$password" <<'SQL'
create role parley login password :'password';
create database parley owner parley encoding 'UTF8';
SQL
