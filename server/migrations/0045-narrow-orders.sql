-- What lists are ordered by, without the ids that break ties: those few that are of one moment are sorted when they are read. So each
-- entry is a third smaller, and those of one moment, or of one view that is counted, are one entry.
-- While these are built conversations are read as ever, and whoever writes to them waits.

set local maintenance_work_mem = '256MB';

create index conversations_recent_next on conversations (workspace_id, last_message_at);
create index conversations_recent_status_next on conversations (workspace_id, status, last_message_at);
create index conversations_recent_agents_next on conversations (workspace_id, status, last_message_at)
where owner_key_id is not null;
create index conversations_recent_unassigned_next on conversations (workspace_id, status, last_message_at)
where owner_key_id is null and assigned_to is null;
create index conversations_recent_assigned_next on conversations (workspace_id, assigned_to, last_message_at)
where assigned_to is not null;
create index conversations_recent_connection_next on conversations (workspace_id, connection_id, last_message_at);
create index conversations_unread_next on conversations (workspace_id, last_message_at)
where unread_count > 0;
create index conversations_updated_next on conversations (workspace_id, updated_at);
create index conversations_status_next on conversations (workspace_id, status, updated_at);
create index conversations_owner_next on conversations (workspace_id, owner_key_id, updated_at);
create index conversations_connection_next on conversations (workspace_id, connection_id, updated_at);
create index conversations_waiting_next on conversations (workspace_id, unanswered_since)
where unanswered_since is not null;
create index conversations_counted_next
  on conversations (workspace_id, (unread_count > 0), (owner_key_id is null), assigned_to, owner_key_id, unread_count)
where status = 'open';
