-- The people of the team and how they get in. A user belongs to the instance; a member is a user in a workspace.

create table users (
  id uuid primary key,
  -- Name and e-mail together, sealed under the keys of the instance.
  person bytea not null,
  -- Exact blind index of the lower-cased e-mail.
  email_index bytea not null,
  index_version integer not null,
  -- PHC string of argon2id; null until a password is chosen.
  password_hash text,
  -- Sealed; counts only once it is confirmed by a code.
  totp_secret bytea,
  totp_confirmed_at timestamptz(3),
  -- The newest 30-second step whose code was used: a code works once.
  totp_last_step bigint,
  -- SHA-256 of the unused codes, in hex.
  recovery_hashes text[] not null default '{}',
  -- Runs the instance: acts as an owner in every workspace.
  is_operator boolean not null default false,
  created_at timestamptz(3) not null
);

create unique index users_email_key on users (email_index);

create table members (
  workspace_id uuid not null references workspaces (id),
  user_id uuid not null references users (id),
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz(3) not null,
  primary key (workspace_id, user_id)
);

create index members_user on members (user_id);

create table sessions (
  id uuid primary key,
  user_id uuid not null references users (id),
  token_hash bytea not null unique,
  signed_in_by text not null check (signed_in_by in ('password', 'link', 'invitation')),
  -- The family of the browser ("Firefox on Linux"), never the whole header.
  device text not null,
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

create index sessions_user on sessions (user_id, created_at);
create index sessions_expiry on sessions (expires_at);

create table sign_in_links (
  token_hash bytea primary key,
  user_id uuid not null references users (id),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

-- The first factor was right; the second is awaited.
create table sign_in_challenges (
  token_hash bytea primary key,
  user_id uuid not null references users (id),
  signed_in_by text not null check (signed_in_by in ('password', 'link')),
  expires_at timestamptz(3) not null
);

-- Guesses by account and by address, both as keyed hashes.
create table login_attempts (
  key bytea primary key,
  failures integer not null,
  last_at timestamptz(3) not null,
  blocked_until timestamptz(3) not null
);

create index login_attempts_last_at on login_attempts (last_at);

create table invitations (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  token_hash bytea not null unique,
  -- Sealed under the keys of the workspace.
  email bytea not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  -- Null when a team token made it.
  created_by uuid references users (id),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  primary key (workspace_id, id)
);

create table team_tokens (
  id uuid primary key,
  -- Null: the token works in every workspace.
  workspace_id uuid references workspaces (id),
  name text not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  token_hash bytea not null unique,
  last_four text not null,
  created_by uuid references users (id),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);

create index team_tokens_workspace on team_tokens (workspace_id, created_at);

create table labels (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  color text not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

create unique index labels_name_key on labels (workspace_id, lower(name));

-- Who did what and when, without any value. The nil UUID is the scope of the instance.
create table audit_log (
  scope_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor_type text not null check (actor_type in ('user', 'token', 'agent', 'system')),
  actor_id uuid,
  action text not null,
  -- What it was done to, `member:<id>`.
  target text,
  primary key (scope_id, id)
);
