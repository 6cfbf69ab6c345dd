-- Keys that have expired lately are looked for every few seconds, among those of all workspaces.
create index api_keys_expiring on api_keys (expires_at) where expires_at is not null;

-- Each view is counted up to a number that is read from one place of the index, however many conversations are open. The
-- columns of the expressions stand in it as well, for without them nothing would be counted by the index alone.
drop index conversations_counted;
create index conversations_counted
  on conversations (workspace_id, (unread_count > 0), (owner_key_id is null), assigned_to)
  include (owner_key_id, unread_count)
  where status = 'open';
