-- What people want to come back to; see tasks/task.ts. About a lead, a conversation, both or neither.
create table tasks (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid,
  conversation_id uuid,
  -- May name the customer, encrypted.
  title bytea not null,
  due_at timestamptz(3) not null,
  -- When the reminder is sent; null: it was, or the task is done.
  remind_at timestamptz(3),
  -- Null: anyone.
  assigned_to uuid,
  done_at timestamptz(3),
  actor_type text not null check (actor_type in ('user', 'token', 'agent')),
  actor_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade
);
create index tasks_open on tasks (workspace_id, due_at, id)
where done_at is null;
create index tasks_done on tasks (workspace_id, done_at);
create index tasks_remind on tasks (remind_at)
where remind_at is not null;
create index tasks_conversation on tasks (workspace_id, conversation_id)
where conversation_id is not null;
create index tasks_lead on tasks (workspace_id, lead_id, id)
where lead_id is not null;

-- For undoing a merge of leads.
alter table lead_merges add column moved_tasks uuid[];

-- Messages to send later; see inbox/scheduled/scheduled-message.ts.
create table scheduled_messages (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  sender_type text not null check (sender_type in ('user', 'token', 'agent')),
  sender_id uuid not null,
  -- `sending`: the send is reserved, and its result is not known yet. `held`: it was refused; `failed`: the platform did
  -- not deliver it. `drafted`: a person must approve it first.
  status text not null
  check (status in ('scheduled', 'sending', 'sent', 'drafted', 'held', 'failed', 'cancelled')),
  -- The body of the send, encrypted.
  content bytea not null,
  due_at timestamptz(3) not null,
  -- When a process works on it next: the due time, then the end of the lease of the process that does; null: never.
  next_at timestamptz(3),
  cancel_if_customer_writes boolean not null,
  -- The newest customer message when it was scheduled.
  inbound_id uuid,
  -- Why it was cancelled, or not sent.
  reason text,
  message_id uuid,
  created_at timestamptz(3) not null,
  closed_at timestamptz(3),
  primary key (workspace_id, id)
);
create index scheduled_messages_next on scheduled_messages (next_at)
where next_at is not null;
create index scheduled_messages_open on scheduled_messages (workspace_id)
where status = 'scheduled';
create index scheduled_messages_conversation on scheduled_messages (workspace_id, conversation_id, created_at);
create index scheduled_messages_closed on scheduled_messages (workspace_id, closed_at);

-- A person is reminded unless the customer writes first; see inbox/assignment/silence-reminder.ts.
create table silence_reminders (
  workspace_id uuid not null,
  conversation_id uuid not null,
  user_id uuid not null,
  remind_at timestamptz(3) not null,
  -- The newest customer message when it was set.
  inbound_id uuid,
  created_at timestamptz(3) not null,
  primary key (workspace_id, conversation_id)
);
create index silence_reminders_due on silence_reminders (remind_at);

-- Not validated: older rows have one of the kinds anyway.
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check
check (
  kind in (
    'owner', 'status', 'assignee', 'team', 'labels', 'priority', 'goal', 'consent', 'over_budget', 'standby', 'draft',
    'task'
  )
) not valid;

alter table notices drop constraint notices_kind_check;
alter table notices
add constraint notices_kind_check
check (
  kind in (
    'mention', 'assigned', 'handover', 'draft', 'waiting', 'goal', 'connection', 'budget', 'task', 'scheduled',
    'silence'
  )
) not valid;
