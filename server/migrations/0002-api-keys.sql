-- An API key: who may call, with which scopes, from where. The value itself is never stored, only its SHA-256.

create table api_keys (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 100),
  key_hash bytea not null check (octet_length(key_hash) = 32),
  last_four text not null check (char_length(last_four) = 4),
  -- The value before the last rotation. The key keeps its id, so that an agent goes on owning its conversations.
  previous_key_hash bytea check (octet_length(previous_key_hash) = 32),
  previous_valid_until timestamptz(3),
  scopes text[] not null check (cardinality(scopes) > 0),
  -- Empty means every connection of the workspace.
  connection_ids uuid[] not null,
  phone_visibility text not null check (phone_visibility in ('full', 'masked')),
  -- Addresses and CIDR ranges; empty means any address.
  allowlist text[] not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  -- Null when made from the command line or by a team token.
  created_by uuid,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  primary key (workspace_id, id),
  check ((previous_key_hash is null) = (previous_valid_until is null))
) with (fillfactor = 80);

-- The two indexes that cannot begin with the workspace: a caller shows a value, and the value tells the workspace.
create unique index api_keys_hash_key on api_keys (key_hash);
create unique index api_keys_previous_hash_key on api_keys (previous_key_hash) where previous_key_hash is not null;

-- Requests counted in the last minute, for several nodes without Redis. Unlogged: a crash may forget a minute of
-- counts, and nothing here is worth a flush to disk on each request.
create unlogged table rate_limits (
  key text primary key,
  slots bigint[] not null,
  units integer[] not null,
  touched_at timestamptz(3) not null
) with (fillfactor = 50);
