-- Templates to many leads at once; see broadcasts/.
create table broadcasts (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  -- `collecting`: the audience is being frozen; `ready`: it is.
  state text not null
  check (
    state in (
      'draft', 'collecting', 'ready', 'awaiting_approval', 'scheduled', 'running', 'paused', 'done', 'cancelled'
    )
  ),
  -- Why it is paused, or what it waits for.
  reason text,
  connection_id uuid not null,
  -- Filter of the leads, templates and their variables, encrypted: texts and filters may name people.
  content bytea not null,
  options jsonb not null,
  -- Position of the freezing among the leads, and what it has counted.
  cursor text,
  counts jsonb,
  results jsonb,
  results_at timestamptz(3),
  -- The number's quality at the start: a lower one pauses it.
  quality text,
  start_at timestamptz(3),
  -- A time such as `2026-12-01T09:00` that each recipient has at another moment; and the time zone for unknown countries.
  local_at text,
  time_zone text,
  -- When a process works on it next; null: never.
  next_at timestamptz(3),
  actor_type text not null check (actor_type in ('user', 'token', 'agent')),
  actor_id uuid not null,
  started_by uuid,
  approved_by uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  primary key (workspace_id, id)
);
create index broadcasts_due on broadcasts (next_at)
where next_at is not null;

-- Everyone of a frozen audience: what became of them, or why they are left out.
create table broadcast_recipients (
  workspace_id uuid not null,
  id uuid not null,
  broadcast_id uuid not null,
  lead_id uuid not null,
  -- Which of its templates.
  variant smallint not null,
  -- `excluded` when the audience was frozen, `skipped` when it was their turn. `sending`: the send is reserved.
  status text not null
  check (status in ('pending', 'sending', 'sent', 'delivered', 'read', 'failed', 'excluded', 'skipped')),
  -- Why they got nothing: a word, or the platform's code.
  reason text,
  -- Keyed digest of the number within the broadcast: nobody gets it twice. Null: excluded.
  phone_key uuid,
  country text,
  due_at timestamptz(3),
  -- When a process last took it to send, and until when it has it.
  claimed_at timestamptz(3),
  claimed_until timestamptz(3),
  conversation_id uuid,
  message_id uuid,
  sent_at timestamptz(3),
  answered_at timestamptz(3),
  opted_out_at timestamptz(3),
  -- What the platform charged, in the currency of the broadcast's results.
  charge text check (charge in ('charged', 'free', 'unknown')),
  cost numeric,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, broadcast_id) references broadcasts (workspace_id, id) on delete cascade
);
create unique index broadcast_recipients_phone on broadcast_recipients (workspace_id, broadcast_id, phone_key)
where phone_key is not null;
create index broadcast_recipients_list on broadcast_recipients (workspace_id, broadcast_id, id);
create index broadcast_recipients_pending on broadcast_recipients (workspace_id, broadcast_id, due_at)
where status = 'pending';
create index broadcast_recipients_claimed on broadcast_recipients (workspace_id, claimed_at)
where claimed_at is not null;
create index broadcast_recipients_lead on broadcast_recipients (workspace_id, lead_id);
create index broadcast_recipients_message on broadcast_recipients (workspace_id, message_id)
where message_id is not null;
create index broadcast_recipients_conversation on broadcast_recipients (workspace_id, conversation_id)
where conversation_id is not null;

-- Whether a second person must approve a broadcast before it starts.
alter table workspaces add column broadcast_approval boolean not null default false;

-- Not validated: older rows have one of the kinds anyway.
alter table notices drop constraint notices_kind_check;
alter table notices
add constraint notices_kind_check
check (
  kind in (
    'mention', 'assigned', 'handover', 'draft', 'waiting', 'goal', 'connection', 'budget', 'task', 'scheduled',
    'silence', 'broadcast'
  )
) not valid;
