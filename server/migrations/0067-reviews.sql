-- People review a sample of the conversations of agents; see inbox/reviews/.
create table review_settings (
  workspace_id uuid primary key references workspaces (id),
  -- What reviewers score: id, name (null: one of the default criteria, which the app translates) and number of steps.
  criteria jsonb not null,
  -- How many conversations are selected in a UTC day at most.
  daily_limit integer not null check (daily_limit between 1 and 200),
  -- Conversations of agents that ended before this time have been selected from. Null: there are no rules.
  selected_until timestamptz(3),
  updated_at timestamptz(3) not null
);
create index review_settings_due on review_settings (selected_until)
where selected_until is not null;

-- Which conversations of a key are reviewed.
create table review_rules (
  workspace_id uuid not null,
  -- The key; for all keys without rules of their own the id of the workspace, so that the key has no null.
  key_id uuid not null,
  random_per_mille integer not null check (random_per_mille between 0 and 1000),
  -- A person took over within so many minutes of an answer of the agent; null: not selected.
  takeover_minutes integer check (takeover_minutes between 1 and 1440),
  -- It had at least so many messages; null: not selected.
  long_messages integer check (long_messages between 2 and 1000),
  -- The customer wrote again within 72 hours after it was closed.
  reopened boolean not null,
  -- An earlier review of the same customer's conversation had a low score.
  low_score boolean not null,
  primary key (workspace_id, key_id)
);

-- One for each selected case: what an agent did on one request of a customer.
create table reviews (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  key_id uuid not null,
  -- The activity of the conversation that ended the case.
  case_id uuid not null,
  outcome text not null,
  -- The rules that selected it.
  reasons text[] not null,
  -- Null: as long as activities are kept.
  started_at timestamptz(3),
  ended_at timestamptz(3) not null,
  -- The version of the instructions that was in force at the agent's last answer; null: none.
  instructions_id uuid,
  status text not null check (status in ('waiting', 'reviewed', 'skipped')),
  -- The person who reviews it, and until when nobody else can.
  claimed_by uuid,
  claimed_until timestamptz(3),
  -- Steps by criterion, from 1.
  scores jsonb not null default '{}',
  -- All steps together, from 0 to 1; null if nothing was scored.
  score real check (score between 0 and 1),
  flags text[] not null default '{}',
  -- May quote the customer, encrypted.
  comment bytea,
  actor_type text check (actor_type in ('user', 'token')),
  actor_id uuid,
  created_at timestamptz(3) not null,
  closed_at timestamptz(3),
  primary key (workspace_id, id)
);
create unique index reviews_case on reviews (workspace_id, case_id);
create index reviews_waiting on reviews (workspace_id, id)
where status = 'waiting';
create index reviews_conversation on reviews (workspace_id, conversation_id, created_at);
