-- Versions of the instructions that members write for agents: of all keys and connections, of one key, or of one connection;
-- see agents/instructions/. Plain text, as workspaces.agent_word is: the team's own words, none of a customer.
create table instruction_versions (
  workspace_id uuid not null,
  id uuid not null,
  -- Null: all keys, all connections.
  key_id uuid,
  connection_id uuid,
  -- Counts up in each scope. Null for a draft, which gets its number when it is published.
  version integer,
  -- Null: removed.
  text text,
  note text,
  -- For a draft: the version in force when it was begun (0: none), and how often it was saved. Two members who edit it, or
  -- publish beside it, are refused by these.
  based_on integer not null default 0,
  revision integer not null default 1,
  -- Who wrote the version; null if it is older than this table.
  actor_type text,
  actor_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Null: a draft.
  published_at timestamptz(3),
  primary key (workspace_id, id),
  check (key_id is null or connection_id is null),
  check ((version is null) = (published_at is null)),
  check (actor_type in ('user', 'token'))
);
create unique index instruction_versions_draft on instruction_versions (workspace_id, key_id, connection_id) nulls not distinct
where published_at is null;
create unique index instruction_versions_version on instruction_versions (workspace_id, key_id, connection_id, version)
nulls not distinct
where published_at is not null;
-- Finds the version in force at a time.
create index instruction_versions_time on instruction_versions (workspace_id, key_id, connection_id, published_at desc)
where published_at is not null;

-- The present text becomes version 1. It has been in force at least since the last change of the settings. agent_word stays the
-- current text of the workspace, and this table its history: a process of the version before reads and writes agent_word, and
-- nothing that it wrote is lost. The next change of it first records what such a process left.
insert into instruction_versions (workspace_id, id, version, text, created_at, updated_at, published_at)
select w.id, gen_random_uuid(), 1, w.agent_word, w.updated_at, w.updated_at, w.updated_at
from workspaces w
where w.agent_word is not null;

-- Counts publications, so that an agent learns of a new version without reading it: of the workspace's texts and those of
-- connections here, of its own in api_keys.
alter table workspaces
  add column instructions_version integer not null default 0;
-- Tools of the interface for agents that the team has switched off for the key.
alter table api_keys
  add column instructions_version integer not null default 0,
  add column tools_off text[] not null default '{}';
