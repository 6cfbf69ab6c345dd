-- How much a key may send: null is the default of the interface that it comes by, which is none in the first version's.
alter table api_keys
  -- In a conversation, since the customer's last message.
  add column unanswered_sends smallint check (unanswered_sends between 1 and 50),
  -- A UTC day.
  add column daily_sends integer check (daily_sends between 1 and 100000),
  -- When it last repeated itself so often that it was told to pause, and at what.
  add column paused_at timestamptz(3),
  add column paused_why text check (paused_why in ('same_call', 'same_text')),
  add constraint api_keys_paused_check check ((paused_at is null) = (paused_why is null));

-- What a key that has a limit for the day has sent in it. The key is not referenced: whoever ends a key locks it before its
-- conversations, and a send has locked its conversation when it counts itself here.
create table key_sends (
  workspace_id uuid not null references workspaces (id),
  key_id uuid not null,
  day date not null,
  sends integer not null check (sends >= 0),
  primary key (workspace_id, key_id)
) with (fillfactor = 50);
