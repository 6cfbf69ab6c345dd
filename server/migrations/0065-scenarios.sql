-- Workspaces in which an agent is tried: their only connection is one of the simulator, and they are removed at this time at the
-- latest; see scenarios/run/sandbox.ts. Null: a workspace of customers.
alter table workspaces
  add column sandbox_until timestamptz(3);
create index workspaces_sandbox on workspaces (sandbox_until)
where sandbox_until is not null;

-- What agents called in a sandbox, and what they received.
create table sandbox_calls (
  workspace_id uuid not null,
  id uuid not null,
  tool text not null,
  -- Null: it succeeded.
  code text,
  -- Arguments and answer, encrypted as one.
  content bytea not null,
  called_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

-- Scripts of customers that agents are tried with.
create table scenarios (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  -- The text of the scenario, encrypted.
  content bytea not null,
  -- Counts changes, so that two people cannot overwrite each other.
  version integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id),
  unique (workspace_id, name)
);

create table scenario_runs (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Name of the agent, by which runs are compared.
  agent text not null,
  status text not null check (status in ('waiting', 'running', 'finished', 'cancelled', 'interrupted')),
  -- Whether instructions replaced those of the scenarios.
  has_instructions boolean not null,
  -- Set by another process or page; the process of the run looks at it.
  cancel_requested boolean not null default false,
  created_at timestamptz(3) not null,
  -- When its process last said that it still runs.
  renewed_at timestamptz(3) not null,
  finished_at timestamptz(3),
  actor_type text not null check (actor_type in ('user', 'token')),
  actor_id uuid not null,
  primary key (workspace_id, id)
);

create table scenario_results (
  workspace_id uuid not null,
  run_id uuid not null,
  position integer not null,
  name text not null,
  verdict text not null check (verdict in ('waiting', 'running', 'passed', 'failed', 'error', 'skipped')),
  ms integer not null default 0,
  -- Checks, conversation and calls, encrypted as one; null before the end.
  content bytea,
  primary key (workspace_id, run_id, position)
);
