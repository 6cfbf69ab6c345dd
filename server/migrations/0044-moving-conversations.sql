-- Each message changes what a conversation is listed by, and each list has an index that has to follow. A conversation in which
-- something is said therefore moves: what changes with each message stands in columns that no index has, and those that the
-- indexes have stand still until nothing has been said for a moment. Then it is placed again: they take over what the others say.
-- Nothing is asked of rows that exist, so that none of them is read: each stands where it stood.

alter table conversations
  add column is_moving boolean not null default false,
  add column now_unread_count integer,
  add column now_last_message_at timestamptz(3),
  add column now_unanswered_since timestamptz(3),
  add column now_updated_at timestamptz(3);

-- Room for a row's next version beside it, so that no index follows a message.
alter table conversations set (
  fillfactor = 75,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.05
);

-- Those that move: few of all there are. Lists read all of them beside what stands in the order of an index.
-- No foreign key: its check would cost as much as the row. Whoever deletes a conversation deletes this, and a row of none finds none.
create table moving_conversations (
  workspace_id uuid not null,
  conversation_id uuid not null,
  -- When it began to move, or the last message that a look at it has met; it does until it is quiet.
  since timestamptz(3) not null,
  primary key (workspace_id, conversation_id)
)
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
