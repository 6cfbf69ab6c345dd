-- What people need of the inbox: lists in the order in which customers wrote, counts of their views, what happened in a
-- conversation beside its messages, mentions, canned replies, saved filters.

create index conversations_recent on conversations (workspace_id, last_message_at desc, id desc);

create index conversations_recent_status on conversations (workspace_id, status, last_message_at desc, id desc);

create index conversations_recent_assigned on conversations (workspace_id, assigned_to, last_message_at desc, id desc)
where assigned_to is not null;

create index conversations_recent_unassigned on conversations (workspace_id, status, last_message_at desc, id desc)
where owner_key_id is null and assigned_to is null;

create index conversations_recent_agents on conversations (workspace_id, status, last_message_at desc, id desc)
where owner_key_id is not null;

create index conversations_recent_connection on conversations (
  workspace_id, connection_id, last_message_at desc, id desc
);

create index conversations_unread on conversations (workspace_id, last_message_at desc, id desc)
where unread_count > 0;

drop index conversations_waiting;

create index conversations_waiting on conversations (workspace_id, unanswered_since, id)
where unanswered_since is not null;

create index conversations_labelled on conversations using gin (label_ids)
where label_ids <> '{}';

-- The counts of the views are read from this index alone.
create index conversations_counted on conversations (workspace_id, assigned_to) include (owner_key_id, unread_count)
where status = 'open';

-- What happened in a conversation beside its messages and notes, written in the transaction of the change. It holds ids
-- and states, nothing that anybody said or that names the customer.
create table conversation_activities (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  kind text not null check (kind in ('owner', 'status', 'assignee', 'labels')),
  -- What it was and what it became; the labels that were added and taken off.
  detail jsonb not null,
  -- Why, when it was nobody's wish.
  reason text check (reason in ('began', 'customer_wrote', 'sent', 'phone', 'timer', 'watchdog', 'agents_stopped', 'key_ended')),
  actor_type text not null check (actor_type in ('agent', 'user', 'token', 'system')),
  actor_id uuid,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade
);

create index conversation_activities_time on conversation_activities (workspace_id, conversation_id, created_at, id);

create index conversation_notes_time on conversation_notes (workspace_id, conversation_id, created_at, id);

-- Members who are to see a note.
create table note_mentions (
  workspace_id uuid not null,
  note_id uuid not null,
  user_id uuid not null,
  created_at timestamptz(3) not null,
  read_at timestamptz(3),
  primary key (workspace_id, note_id, user_id),
  foreign key (workspace_id, note_id) references conversation_notes (workspace_id, id) on delete cascade
);

create index note_mentions_user on note_mentions (workspace_id, user_id, created_at desc, note_id desc);

create index note_mentions_unread on note_mentions (workspace_id, user_id)
where read_at is null;

-- Texts that members send often, by a short word.
create table canned_replies (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  shortcut text not null,
  -- With placeholders such as {{contact.name}}, which the page fills.
  text text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

create unique index canned_replies_shortcut_key on canned_replies (workspace_id, shortcut);

create table saved_filters (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Whose it is; null: everybody's.
  user_id uuid,
  page text not null check (page in ('inbox', 'leads')),
  -- Sealed: name and query, in which a number may stand that was searched for.
  content bytea not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

create index saved_filters_user on saved_filters (workspace_id, user_id);
