-- Addresses that are told of events. Each reads the workspace's feed by a cursor of its own; only what could not be
-- delivered at once is a row that waits.

create table webhook_endpoints (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  description text,
  -- Exact names, `lead.*`, `inbox.*`.
  events text[] not null,
  phone_visibility text not null check (phone_visibility in ('full', 'masked')),
  -- Address, custom headers and signing secrets, sealed as one: an address may hold a token.
  settings bytea not null,
  state text not null check (state in ('active', 'disabled')),
  -- Why it is disabled: by a member, by its answer 410, or after failing for five days.
  state_reason text check (state_reason in ('member', 'gone', 'failing')),
  state_changed_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  primary key (workspace_id, id)
);

-- Where an endpoint stands. Apart from the endpoint, for it changes with every batch.
create table webhook_queues (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  -- Every event up to this place of the feed is done with, or a row of webhook_deliveries.
  cursor bigint not null,
  -- Counts how often the endpoint was disabled: deliveries that waited before are cancelled by that.
  generation integer not null default 1,
  -- When the next waiting delivery is due.
  retry_at timestamptz(3),
  -- Nothing is sent before it: the receiver has asked for a pause, or does not answer.
  paused_until timestamptz(3),
  -- The first failure since the last success.
  failing_since timestamptz(3),
  failures_in_a_row integer not null default 0,
  last_success_at timestamptz(3),
  -- The worker that reads and sends, by the clock of the database.
  lease_owner uuid,
  lease_until timestamptz,
  -- The role and the name of that worker's sessions: when it has none left, it is dead, and its lease ends. Without an
  -- owner, the worker that the queue is kept for.
  lease_session text,
  primary key (workspace_id, endpoint_id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id) on delete cascade
)
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- What became of one event at one endpoint. Written when its first attempt has ended, or when it has to wait.
create table webhook_deliveries (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  position bigint not null,
  event_id uuid not null,
  event_name text not null,
  subject_id uuid not null,
  occurred_at timestamptz(3) not null,
  -- Whether phones were hidden when it first went out: another attempt never shows more.
  masked boolean not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  generation integer not null,
  -- Counts how often it was asked for again: an attempt that began before that decides nothing of the new round.
  round integer not null default 0,
  -- Attempts of the present round of the schedule; sending again begins a new round.
  round_attempts smallint not null,
  -- All attempts. The failed ones are rows of webhook_attempts; the one that was taken stands here.
  attempts integer not null,
  due_at timestamptz(3),
  delivered_at timestamptz(3),
  delivered_status smallint,
  delivered_ms integer,
  -- The first bytes of the answer, sealed.
  delivered_answer bytea,
  primary key (workspace_id, endpoint_id, position),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id) on delete cascade
);

create index webhook_deliveries_due on webhook_deliveries (workspace_id, endpoint_id, generation, due_at, position)
where state = 'pending';

create index webhook_deliveries_lane on webhook_deliveries (workspace_id, endpoint_id, generation, subject_id, position)
where state = 'pending';

-- The few that somebody looks for among the many that went well.
create index webhook_deliveries_undelivered on webhook_deliveries (workspace_id, endpoint_id, state, position)
where state <> 'delivered';

-- Attempts that failed, and those of earlier rounds.
create table webhook_attempts (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  position bigint not null,
  number integer not null,
  at timestamptz(3) not null,
  -- Null when no answer came; `error` says why then.
  status smallint,
  ms integer not null,
  error text,
  answer bytea,
  primary key (workspace_id, endpoint_id, position, number),
  foreign key (workspace_id, endpoint_id, position)
    references webhook_deliveries (workspace_id, endpoint_id, position) on delete cascade
);

-- A range of time that is to be sent again. While one is open, its endpoint reads nothing new: order is kept.
create table webhook_replays (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  id uuid not null,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null,
  -- Only what was not delivered, or everything.
  scope text not null check (scope in ('undelivered', 'all')),
  -- Events with an id up to here are queued; ids begin with the time.
  reached uuid,
  queued integer not null default 0,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (workspace_id, endpoint_id, id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id) on delete cascade
);

create index webhook_replays_open on webhook_replays (workspace_id, endpoint_id, id)
where finished_at is null;
