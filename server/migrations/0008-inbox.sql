-- One conversation per connection and customer, for ever. What names the customer and what was said is sealed; look-ups
-- go by keyed digests.

create table conversations (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  channel text not null,
  -- Sealed: name, phone, the platform's user ids, and the address to answer to.
  contact bytea not null,
  -- Digests of the platform's user id, of the phone's class (all its variants), and of its very digits.
  user_index bytea,
  phone_index bytea,
  phone_exact_index bytea,
  index_version integer not null,
  -- Null is `human`. Every change of owner raises the epoch.
  owner_key_id uuid,
  owner_epoch integer not null default 0,
  owner_since timestamptz(3) not null,
  status text not null check (status in ('open', 'pending', 'snoozed', 'resolved', 'closed')),
  snoozed_until timestamptz(3),
  assigned_to uuid,
  label_ids uuid[] not null default '{}',
  unread_count integer not null default 0 check (unread_count >= 0),
  window_expires_at timestamptz(3),
  last_message_at timestamptz(3) not null,
  -- When the oldest customer message arrived that nobody has answered; null when answered.
  unanswered_since timestamptz(3),
  -- Sealed: what a list shows of the newest message.
  last_message bytea,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, connection_id) references connections (workspace_id, id)
);

create unique index conversations_user_key on conversations (workspace_id, connection_id, user_index)
where user_index is not null;

create unique index conversations_phone_key on conversations (workspace_id, connection_id, phone_index)
where phone_index is not null;

create index conversations_phone_exact on conversations (workspace_id, phone_exact_index)
where phone_exact_index is not null;

create index conversations_phone_any on conversations (workspace_id, phone_index)
where phone_index is not null;

create index conversations_updated on conversations (workspace_id, updated_at desc, id desc);

create index conversations_connection on conversations (workspace_id, connection_id, updated_at desc, id desc);

create index conversations_owner on conversations (workspace_id, owner_key_id, updated_at desc, id desc);

create index conversations_status on conversations (workspace_id, status, updated_at desc, id desc);

create index conversations_snoozed on conversations (snoozed_until)
where snoozed_until is not null;

create index conversations_waiting on conversations (workspace_id, unanswered_since)
where unanswered_since is not null;

-- Two conversations turn out to be one customer's when a hidden number is shown: they become one, and the id of the
-- other goes on naming it.
create table conversation_aliases (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade
);

create index conversation_aliases_conversation on conversation_aliases (workspace_id, conversation_id);

create table messages (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  connection_id uuid not null,
  direction text not null check (direction in ('inbound', 'outbound')),
  kind text not null check (
    kind in ('text', 'template', 'image', 'video', 'audio', 'document', 'location', 'system')
  ),
  -- `live`, `echo` (another app or the phone sent it), `history` (told of afterwards).
  origin text not null check (origin in ('live', 'echo', 'history')),
  -- Sealed: the text, the referral, and for a send what is needed to make the platform's request.
  content bytea not null,
  -- Whether the content holds a referral: an ad that the customer came by.
  has_referral boolean not null default false,
  -- The platform's id holds the customer's number: sealed, and found by digest.
  external_id bytea,
  external_index bytea,
  status text not null check (status in ('pending', 'sent', 'delivered', 'read', 'failed')),
  error_code text,
  -- Null for inbound messages and echoes.
  actor_type text check (actor_type in ('agent', 'user', 'token', 'system')),
  actor_id uuid,
  occurred_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  -- A pending send that nobody has settled by then turns `failed` with `outcome_unknown`.
  settle_by timestamptz(3),
  primary key (workspace_id, id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade
);

create unique index messages_external_key on messages (workspace_id, connection_id, external_index)
where external_index is not null;

create unique index messages_occurred_key on messages (workspace_id, conversation_id, occurred_at);

create index messages_referral on messages (workspace_id, conversation_id, occurred_at)
where has_referral;

create index messages_unsettled on messages (settle_by)
where settle_by is not null;

-- By the code rather than by the status: a status that climbs goes on touching no index.
create index messages_failed on messages (workspace_id, connection_id, occurred_at)
where error_code is not null;

-- What the platform was asked to send: one part, or several for a long text. Recorded before the first is sent.
create table message_parts (
  workspace_id uuid not null,
  message_id uuid not null,
  part integer not null,
  connection_id uuid not null,
  external_index bytea,
  status text not null check (status in ('pending', 'sent', 'delivered', 'read', 'failed')),
  error_code text,
  primary key (workspace_id, message_id, part),
  foreign key (workspace_id, message_id) references messages (workspace_id, id) on delete cascade
);

create unique index message_parts_external_key on message_parts (workspace_id, connection_id, external_index)
where external_index is not null;

-- One row per Idempotency-Key, kept as long as its message. The answer is stored when it is known.
create table sends (
  workspace_id uuid not null,
  -- The API key's id, or the user's for a member's send.
  sender_id uuid not null,
  idempotency_key text not null,
  -- Sealed: what makes a repeat the same send.
  fingerprint bytea not null,
  conversation_id uuid not null,
  message_id uuid not null,
  answer_status integer,
  -- The very text of the answer, so that a repeat gets the same bytes.
  answer_body text,
  created_at timestamptz(3) not null,
  primary key (workspace_id, sender_id, idempotency_key),
  foreign key (workspace_id, message_id) references messages (workspace_id, id) on delete cascade
);

create index sends_message on sends (workspace_id, message_id);

-- The sends that are on their way to the platform; a row goes when its send is settled. Times are the database's, so
-- that nodes whose clocks differ agree on them.
create table dispatches (
  workspace_id uuid not null,
  message_id uuid not null,
  conversation_id uuid not null,
  -- The place among the conversation's rows: sends reach the platform in the order of their reservation.
  turn integer not null,
  -- The owner's epoch when an agent's send was reserved; null for a member's, which no change of owner stops.
  owner_epoch integer,
  -- Pushed on while the sending process lives. After it no byte of this send leaves, and the next one has its turn.
  alive_until timestamptz(3) not null,
  -- While set and not past, a platform call may be starting: a change of owner waits for it.
  starting_until timestamptz(3),
  -- What the platform's answers came to; null while there is none.
  verdict text check (verdict in ('accepted', 'refused', 'undelivered', 'stopped')),
  -- Sealed for messages/external_id: the first part's id, until the message has it.
  external_id bytea,
  primary key (workspace_id, message_id),
  foreign key (workspace_id, message_id) references messages (workspace_id, id) on delete cascade
);

create unique index dispatches_turn_key on dispatches (workspace_id, conversation_id, turn);

create index dispatches_abandoned on dispatches (alive_until);

-- When the next message may go, by connection and by conversation (`id` is either's). Not worth a flush to disk.
create unlogged table send_paces (
  workspace_id uuid not null,
  id uuid not null,
  next_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

-- Statuses that arrived before their message was known by that id.
create table parked_statuses (
  workspace_id uuid not null,
  connection_id uuid not null,
  external_index bytea not null,
  status text not null check (status in ('sent', 'delivered', 'read', 'failed')),
  error_code text,
  occurred_at timestamptz(3) not null,
  parked_at timestamptz(3) not null,
  primary key (workspace_id, connection_id, external_index, status)
);

create index parked_statuses_age on parked_statuses (parked_at);

create table conversation_notes (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  -- Sealed.
  text bytea not null,
  actor_type text not null,
  actor_id uuid,
  -- Of its author, where one was sent: a repeat adds nothing.
  idempotency_key text,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade
);

create index conversation_notes_conversation on conversation_notes (workspace_id, conversation_id, id);

create unique index conversation_notes_key on conversation_notes (workspace_id, actor_id, idempotency_key)
where idempotency_key is not null;

alter table workspaces
  -- Minutes after which an owning agent that has not answered loses the conversation; null is off.
  add column agent_watchdog_minutes integer check (agent_watchdog_minutes between 1 and 10080),
  -- The stop switch: while true no agent owns or gets a conversation.
  add column agents_stopped boolean not null default false,
  -- Whether a customer who is no lead becomes one.
  add column leads_from_chat boolean not null default false,
  -- Of the demo only: false until it has its content, so that a start that was killed meanwhile is gone on with.
  add column demo_is_filled boolean;
