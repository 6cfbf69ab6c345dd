-- The last calls of each key, the newest first: when, method, route, verb, status, milliseconds. Beside the keys, whose rows are
-- read with every request that is not known; a list rather than rows, so that a minute of calls costs one write a key.
create table key_calls (
  workspace_id uuid not null references workspaces (id),
  key_id uuid not null,
  calls jsonb not null,
  primary key (workspace_id, key_id)
) with (fillfactor = 50);

-- What was filled in, sealed, as it was sent: the lead goes on to change. Null for what was sent before.
alter table form_submissions add column answers bytea;

-- The link, sealed, for as long as it is open. Null for those that were made before.
alter table invitations add column token bytea;

-- Since when a member is away, as they say themselves; null: here.
alter table members add column away_since timestamptz(3);
