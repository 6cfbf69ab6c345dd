-- Every change that an outsider can notice, written in the change's own transaction.

create table events (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  -- The lead or conversation that the event tells of: its events are delivered in order.
  subject_id uuid not null,
  -- The connection of that conversation: a key that sees some connections only reads their events.
  connection_id uuid,
  -- The JSON body, sealed: it holds personal data.
  payload bytea not null,
  occurred_at timestamptz(3) not null,
  -- The order of recording. Whoever changes a lead or a conversation holds its lock, so within a subject it is right;
  -- across subjects it is not the order of the commits.
  seq bigint generated always as identity,
  -- The place in the workspace's feed. Given once the event is committed, under the lock of the feed's row, so that
  -- no event ever appears before a place that a reader has passed.
  position bigint,
  -- A test event is for this webhook endpoint alone, and in no feed.
  test_endpoint_id uuid,
  primary key (workspace_id, id)
);

create index events_subject on events (workspace_id, subject_id);

create unique index events_position_key on events (workspace_id, position)
where position is not null;

create index events_unplaced on events (workspace_id, seq)
where position is null;

create table event_feeds (
  workspace_id uuid primary key references workspaces (id),
  -- Of the newest event that has a place.
  last_position bigint not null default 0,
  -- Events up to here are no longer kept: a reader that stands before it has missed some.
  removed_to bigint not null default 0
);
