-- Erasing a customer, and how long a workspace keeps what it would otherwise keep for ever.

create table erasures (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  state text not null check (state in ('running', 'done')),
  -- What the customer was named by, never the value.
  named_by text not null check (named_by in ('phone', 'email', 'lead', 'conversation')),
  -- Whom it is about, sealed; nothing once it is done.
  subject bytea,
  -- Which of its parts is at work, and where.
  part integer not null default 0,
  place text,
  -- How many of what were removed, by kind.
  removed jsonb not null default '{}',
  actor_type text not null check (actor_type in ('user', 'token')),
  actor_id uuid not null,
  -- Until then somebody is at it; afterwards anybody goes on.
  due_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (workspace_id, id),
  check ((state = 'done') = (finished_at is not null)),
  check ((state = 'done') = (subject is null))
);

create index erasures_due on erasures (due_at) where state = 'running';

-- Submissions go with their lead; without this each erased lead would read all of them.
create index form_submissions_lead on form_submissions (workspace_id, lead_id);

-- Days; null keeps for ever.
alter table workspaces
  add column keep_conversations_days integer check (keep_conversations_days between 30 and 3650),
  add column keep_activities_days integer check (keep_activities_days between 30 and 3650),
  add column keep_sends_days integer check (keep_sends_days between 30 and 3650),
  add column keep_submissions_days integer check (keep_submissions_days between 30 and 3650),
  add column keep_audit_days integer default 730 check (keep_audit_days between 30 and 3650);
