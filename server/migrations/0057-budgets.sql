-- What a workspace, a connection or a key may cost in a day or a month; see inbox/budgets/. The counters are those of the current
-- period. They change only under the lock of the workspace's row in budget_counts.
create table budgets (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  scope text not null check (scope in ('workspace', 'connection', 'key')),
  -- The connection or the key; for a workspace its own id, so that the unique key has no null.
  scope_id uuid not null,
  unit text not null check (unit in ('money', 'messages')),
  currency text check (currency ~ '^[A-Z]{3}$'),
  period text not null check (period in ('day', 'month')),
  max_amount numeric(20, 8) not null check (max_amount > 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  period_from timestamptz(3) not null,
  period_until timestamptz(3) not null,
  -- What the ledger charged in the period, at the last count.
  used numeric(28, 8) not null default 0,
  -- What sends may cost that the ledger did not contain then.
  reserved numeric(28, 8) not null default 0,
  -- When the team was last notified that 80 % or all of it is used.
  warned_at timestamptz(3),
  reached_at timestamptz(3),
  primary key (workspace_id, id),
  unique (workspace_id, scope, scope_id, unit, period),
  check ((unit = 'money') = (currency is not null))
);

-- What the last count of the ledger found; a row for each workspace with budgets.
create table budget_counts (
  workspace_id uuid primary key references workspaces (id),
  -- Incremented by each count and each change of budgets: a count that was overtaken is discarded.
  version bigint not null default 0,
  -- Null: not counted yet.
  counted_at timestamptz(3),
  -- How long it took.
  count_ms integer not null default 0,
  -- Free service messages that were used, by number, and charged messages by market and category; of this month.
  month_from timestamptz(3) not null,
  free_used jsonb not null default '{}',
  charged jsonb not null default '{}',
  -- Highest known price by category, for budgets in money.
  highest_prices jsonb not null default '{}'
);
create index budget_counts_time on budget_counts (counted_at);

-- Platform messages that sends of workspaces with budgets may cost, until the ledger has them, they fail or their period is over.
create table budget_reservations (
  workspace_id uuid not null,
  message_id uuid not null,
  part integer not null,
  connection_id uuid not null,
  number_id text not null,
  -- Null for people.
  key_id uuid,
  -- One of the number's free messages of the month.
  is_free boolean not null,
  -- In the currency of the budgets in money; null without one.
  price numeric(20, 8),
  reserved_at timestamptz(3) not null,
  primary key (workspace_id, message_id, part)
);
create index budget_reservations_free on budget_reservations (workspace_id, number_id, reserved_at)
where is_free;

-- Not validated: a scan of all rows would lock the tables for as long, and older rows have one of the kinds anyway.
alter table notices drop constraint notices_kind_check;
alter table notices
add constraint notices_kind_check check (kind in ('mention', 'assigned', 'handover', 'waiting', 'connection', 'budget')) not valid;
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check check (
  kind in ('owner', 'status', 'assignee', 'labels', 'consent', 'over_budget')
) not valid;
