-- Every change that an outsider can notice, written in the change's own transaction.

create table events (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  -- The lead or conversation that the event tells of: its events are delivered in order.
  subject_id uuid not null,
  -- The JSON body, sealed: it holds personal data.
  payload bytea not null,
  occurred_at timestamptz(3) not null,
  -- Transactions commit out of order, so a reader must not go past the oldest one still running.
  recorded_by xid8 not null default pg_current_xact_id(),
  fanned_out_at timestamptz(3),
  primary key (workspace_id, id)
);

create index events_subject on events (workspace_id, subject_id, id);

create index events_to_fan_out on events (workspace_id, recorded_by, id)
where fanned_out_at is null;
