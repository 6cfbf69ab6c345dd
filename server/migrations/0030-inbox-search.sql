-- What conversations and messages are found by. Apart from them, and made in the background, so that whatever comes in or goes out
-- writes none of it. No foreign keys: their checks would lock rows that every message of a customer waits for. Whoever deletes a
-- message or a conversation deletes its tokens, and keeps those out who make them, by the row of `inbox_search_progress`.

-- Keyed tokens of the words of a message; one that has no words has no row.
create table message_search (
  workspace_id uuid not null,
  message_id uuid not null,
  index_version integer not null,
  -- Tokens of one word differ from epoch to epoch of the workspace, so that one is searched after the other, the newest first.
  epoch integer not null,
  tokens integer[] not null,
  primary key (workspace_id, message_id)
)
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- No request writes to it. Tokens of an epoch lie beside each other, so that new ones touch few of its pages.
create index message_search_tokens on message_search using gin (tokens)
with (fastupdate = on, gin_pending_list_limit = 1024);

-- Keyed tokens of the name and the number that a conversation shows.
create table conversation_search (
  workspace_id uuid not null,
  conversation_id uuid not null,
  index_version integer not null,
  tokens integer[] not null,
  primary key (workspace_id, conversation_id)
)
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

create index conversation_search_tokens on conversation_search using gin (tokens)
with (fastupdate = on, gin_pending_list_limit = 1024);

-- How far the tokens of a workspace have come. What lies beyond is looked through as it is.
create table inbox_search_progress (
  workspace_id uuid primary key references workspaces (id),
  -- Messages with ids up to this one have their tokens.
  messages_to uuid not null default '00000000-0000-0000-0000-000000000000',
  -- That the next message belongs to, and how many it has.
  epoch integer not null default 0,
  in_epoch integer not null default 0,
  -- Changes of conversations up to this one have been followed.
  conversations_to timestamptz(3) not null default 'epoch',
  conversation_to uuid not null default '00000000-0000-0000-0000-000000000000'
) with (fillfactor = 50);
