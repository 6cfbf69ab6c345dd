-- Keys that have expired lately are looked for every few seconds, among those of all workspaces.
create index api_keys_expiring on api_keys (expires_at) where expires_at is not null;
