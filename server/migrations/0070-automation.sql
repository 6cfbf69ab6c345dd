-- Rules that act on events of a workspace, and macros that people run; see automation/.
create table automation_rules (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  -- Rules are judged in this order.
  position integer not null,
  enabled boolean not null,
  -- What starts it, as in automation/rule-schema.ts; with a time for those that wait.
  trigger text not null,
  after_minutes integer,
  -- The team's own words and choices, none of a customer.
  conditions jsonb not null,
  actions jsonb not null,
  -- Whether later rules are left out after this one, and whether changes of rules start it.
  stops boolean not null,
  follows_rules boolean not null,
  -- Counts changes of what it does: what waits for an earlier version is not done.
  version integer not null,
  -- Events before this time are left alone; null: it is off.
  enabled_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create index automation_rules_position on automation_rules (workspace_id, position);

-- How far the events of a workspace were judged. Only workspaces that have had a rule have a row.
create table automation_queues (
  workspace_id uuid primary key references workspaces (id),
  -- Counts changes of the rules, so that processes know when to read them again.
  rules_version integer not null default 1,
  -- Whether a rule is on.
  active boolean not null default false,
  -- Position in the event feed; and the times up to which changes of conversations, and waits, were judged.
  position bigint not null,
  activities_at timestamptz(3) not null,
  timers_at timestamptz(3) not null,
  lease_until timestamptz(3)
);
create index automation_queues_active on automation_queues (workspace_id)
where active;

-- What a rule does about one event: at most one for each pair.
create table automation_runs (
  workspace_id uuid not null,
  id uuid not null,
  rule_id uuid not null,
  rule_version integer not null,
  -- The event, or the wait: a digest of what it consists of.
  event_key uuid not null,
  conversation_id uuid,
  lead_id uuid,
  -- The customer's newest message then.
  inbound_id uuid,
  -- The event of the feed, which an action can send to a webhook endpoint.
  event_id uuid,
  -- 1 for an event that no rule has caused.
  depth smallint not null,
  state text not null check (state in ('pending', 'done', 'failed', 'skipped')),
  -- The next action.
  step smallint not null default 0,
  attempts smallint not null default 0,
  -- Why it failed or was skipped, and which condition did not hold.
  code text,
  condition smallint,
  -- When its next action is due; null at the end.
  due_at timestamptz(3),
  -- Until when a process works on it.
  claimed_until timestamptz(3),
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (workspace_id, id)
);
create unique index automation_runs_event on automation_runs (workspace_id, rule_id, event_key);
create index automation_runs_rule on automation_runs (workspace_id, rule_id, id);
create index automation_runs_due on automation_runs (due_at)
where due_at is not null;
create index automation_runs_conversation on automation_runs (workspace_id, conversation_id)
where conversation_id is not null;
create index automation_runs_lead on automation_runs (workspace_id, lead_id)
where lead_id is not null;

-- Actions that a person runs on a conversation.
create table automation_macros (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  actions jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
