-- Programs that people connect by OAuth; see auth/oauth. A grant is an ordinary API key, whose own value nobody knows.
alter table api_keys
  -- Id of the client: the address of its metadata document, or what its registration returned; null for other keys.
  add column oauth_client text,
  -- Where the browser was sent back to: a host, or the scheme of an app.
  add column oauth_redirect text;
alter table api_keys
add constraint api_keys_oauth_check check ((oauth_client is null) = (oauth_redirect is null)) not valid;

-- Authorization codes. A used one is kept for a day, because a second use revokes the key that it made.
create table oauth_codes (
  workspace_id uuid not null,
  code_hash bytea not null,
  client_id text not null,
  redirect_uri text not null,
  code_challenge text not null,
  -- Settings of the key that it makes.
  settings jsonb not null,
  created_by uuid,
  actor_type text not null check (actor_type in ('user', 'token')),
  actor_id uuid not null,
  created_at timestamptz (3) not null,
  expires_at timestamptz (3) not null,
  -- The key that it connects again, or the one that it has made.
  key_id uuid,
  used_at timestamptz (3),
  primary key (workspace_id, code_hash)
);
-- A client shows a code or token, which tells the workspace.
create index oauth_codes_hash on oauth_codes (code_hash);
create index oauth_codes_expiring on oauth_codes (workspace_id, expires_at);

create table oauth_tokens (
  workspace_id uuid not null,
  token_hash bytea not null,
  key_id uuid not null,
  kind text not null check (kind in ('access', 'refresh')),
  created_at timestamptz (3) not null,
  -- When a refresh token was exchanged for the next one: a later use means that it was stolen.
  used_at timestamptz (3),
  expires_at timestamptz (3) not null,
  primary key (workspace_id, token_hash)
);
create index oauth_tokens_hash on oauth_tokens (token_hash);
create index oauth_tokens_key on oauth_tokens (workspace_id, key_id, created_at);
create index oauth_tokens_expiring on oauth_tokens (workspace_id, expires_at);
