-- Messages to a lead over days, until the customer answers; see sequences/.
create table sequences (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  enabled boolean not null,
  -- What new runs do.
  version integer not null,
  -- Statuses of the lead that end a run.
  end_statuses text[] not null,
  -- Forms, and labels of leads, that start a run.
  form_ids uuid[] not null,
  label_ids uuid[] not null,
  -- Whether agents may start it.
  for_agents boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Deleted ones are kept while their runs are.
  removed_at timestamptz(3),
  primary key (workspace_id, id)
);
create index sequences_removed on sequences (workspace_id, removed_at);

-- What a sequence does. A run keeps the version with which it began, and one that has had a run never changes.
create table sequence_versions (
  workspace_id uuid not null,
  sequence_id uuid not null,
  version integer not null,
  connection_id uuid not null,
  -- The team's own words and choices, none of a customer; see sequences/sequence-schema.ts.
  steps jsonb not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, sequence_id, version),
  foreign key (workspace_id, sequence_id) references sequences (workspace_id, id) on delete cascade
);

-- A lead on its way through a sequence.
create table sequence_runs (
  workspace_id uuid not null,
  id uuid not null,
  sequence_id uuid not null,
  version integer not null,
  lead_id uuid not null,
  -- The conversation of its last message; null before the first.
  conversation_id uuid,
  state text not null check (state in ('active', 'ended')),
  -- Why it ended.
  reason text,
  -- Why it ends as soon as the result of the message on its way is known.
  stopping text,
  -- Position of the next step.
  step smallint not null,
  -- When the next step is due, and why it has not been done although it is.
  due_at timestamptz(3),
  held_by text,
  -- When a process works on it next: the due time, then the end of the lease of the process that does; null: never.
  next_at timestamptz(3),
  -- The message of the step, from its reservation until its result is known.
  message_id uuid,
  entry text not null check (entry in ('person', 'bulk', 'form', 'label', 'rule', 'agent')),
  -- The bulk change by which it began.
  bulk_change_id uuid,
  actor_type text not null check (actor_type in ('user', 'token', 'agent', 'form', 'system')),
  actor_id uuid,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (workspace_id, id),
  foreign key (workspace_id, sequence_id) references sequences (workspace_id, id) on delete cascade,
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade,
  check ((state = 'active') = (next_at is not null)),
  check ((state = 'ended') = (reason is not null))
);
create unique index sequence_runs_active on sequence_runs (workspace_id, sequence_id, lead_id)
where state = 'active';
create index sequence_runs_open on sequence_runs (workspace_id)
where state = 'active';
create index sequence_runs_next on sequence_runs (next_at)
where next_at is not null;
create index sequence_runs_log on sequence_runs (workspace_id, sequence_id, id);
create index sequence_runs_lead on sequence_runs (workspace_id, lead_id, id);
create index sequence_runs_conversation on sequence_runs (workspace_id, conversation_id)
where conversation_id is not null;
create index sequence_runs_ended on sequence_runs (workspace_id, ended_at);

-- What became of each step of a run.
create table sequence_run_steps (
  workspace_id uuid not null,
  run_id uuid not null,
  step smallint not null,
  sequence_id uuid not null,
  version integer not null,
  -- `sending`: reserved, and its result is not known yet.
  state text not null check (state in ('sending', 'sent', 'failed', 'skipped')),
  -- Why it was skipped, or not delivered.
  code text,
  message_id uuid,
  created_at timestamptz(3) not null,
  primary key (workspace_id, run_id, step),
  foreign key (workspace_id, run_id) references sequence_runs (workspace_id, id) on delete cascade
);
create index sequence_run_steps_counts on sequence_run_steps (workspace_id, sequence_id, version, step, state);

-- Leads are also added to a sequence in bulk. Not validated: older rows have one of the kinds anyway.
alter table lead_bulk_changes drop constraint lead_bulk_changes_kind_check;
alter table lead_bulk_changes
add constraint lead_bulk_changes_kind_check
check (kind in ('change', 'delete', 'import', 'labels', 'sequence')) not valid;
