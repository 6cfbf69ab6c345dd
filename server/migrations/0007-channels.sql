-- A connection is a chat number of the workspace, over one channel.

create table connections (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  channel text not null check (channel in ('waba', 'unofficial', 'partner')),
  name text not null,
  -- How the platform names the number in its webhooks; within a channel a number is connected once.
  number_id text not null,
  -- The platform's account that the number and its templates belong to.
  account_id text,
  -- Base URL, API version, access token, app secret, verify token: sealed as one.
  settings bytea not null,
  -- `paused` is a member's choice; `unavailable` is what the platform or a failed call says, with the reason beside it.
  state text not null check (state in ('active', 'paused', 'unavailable')),
  state_reason text,
  state_changed_at timestamptz(3) not null,
  -- The risk of the unofficial channel: confirmed by a member, current for 90 days, void with a new pairing.
  acknowledged_at timestamptz(3),
  acknowledged_by uuid,
  -- The number is used on a phone as well; the platform takes fewer messages a second from it then.
  is_on_phone boolean not null default false,
  last_event_in_at timestamptz(3),
  last_event_out_at timestamptz(3),
  -- How long what it last heard had been under way, and the worst of that in about an hour.
  lag_ms integer,
  worst_lag_ms integer,
  worst_lag_at timestamptz(3),
  templates_synced_at timestamptz(3),
  -- When the templates are to be read next; a hint of the platform brings it forward. Null where the channel has none.
  templates_due_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  primary key (workspace_id, id)
);

create unique index connections_number_key on connections (channel, number_id)
where removed_at is null;

-- The address of a webhook names the connection alone.
create unique index connections_id_key on connections (id);

create index connections_templates_due on connections (templates_due_at)
where templates_due_at is not null;

create table templates (
  workspace_id uuid not null,
  connection_id uuid not null,
  id uuid not null,
  name text not null,
  language text not null,
  category text not null,
  -- As the platform spells it, in upper case; only APPROVED ones are listed and sent.
  status text not null,
  -- With {{1}}, {{2}} in place of named parameters.
  body text not null,
  -- The platform's names of the parameters, in the order of ours; null when they are positional there too.
  parameter_names text[],
  parameter_count integer not null,
  -- False when sending needs more than body parameters: a media header, a button variable, a code.
  body_only boolean not null,
  synced_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, connection_id) references connections (workspace_id, id) on delete cascade
);

create unique index templates_name_key on templates (workspace_id, connection_id, name, language);
