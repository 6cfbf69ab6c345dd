-- What each person of a workspace is told of: once for each cause, in words that are made when it is shown.
create table notices (
  workspace_id uuid not null,
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  kind text not null check (kind in ('mention', 'assigned', 'handover', 'waiting', 'connection')),
  -- What it is told of, once: a note, a hand-over, a time at which it was assigned, a wait, an outage.
  cause text not null,
  -- Null where several are told of at once.
  conversation_id uuid,
  connection_id uuid,
  -- How many conversations it stands for.
  count integer not null default 1 check (count > 0),
  -- Who did it; null: nobody.
  actor_type text check (actor_type in ('agent', 'user', 'token')),
  actor_id uuid,
  created_at timestamptz(3) not null,
  read_at timestamptz(3),
  -- When the person's browsers are to be told, unless it was read; null: they are not, or were.
  push_at timestamptz(3),
  primary key (workspace_id, user_id, id),
  foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade,
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade,
  check ((actor_type is null) = (actor_id is null))
);

create unique index notices_cause_key on notices (workspace_id, user_id, kind, cause);
create index notices_recent on notices (workspace_id, user_id, created_at desc, id desc);
create index notices_unread on notices (workspace_id, user_id)
where read_at is null;
create index notices_conversation on notices (workspace_id, conversation_id)
where conversation_id is not null;
create index notices_push on notices (push_at)
where push_at is not null;

-- How a person wants to be told; without a row, as everybody is at first.
create table notice_settings (
  workspace_id uuid not null,
  user_id uuid not null,
  -- For each kind of notice, by which ways.
  ways jsonb not null,
  -- When nothing sounds or pops up; null: never.
  quiet jsonb,
  -- Whether the customer's name may stand in what is sent to a browser that is closed.
  push_names boolean not null,
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade
);

-- Browsers that are told while no page is open. They end with the session in which they were added.
create table push_subscriptions (
  workspace_id uuid not null,
  user_id uuid not null,
  id uuid not null,
  session_id uuid not null references sessions (id) on delete cascade,
  -- SHA-256 of the address: a browser is there once.
  endpoint_hash bytea not null,
  -- Sealed: the address and the browser's keys.
  content bytea not null,
  language text not null check (language in ('en', 'es', 'pt')),
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade
);

create unique index push_subscriptions_key on push_subscriptions (workspace_id, user_id, endpoint_hash);
create index push_subscriptions_session on push_subscriptions (session_id);

-- By which push services know this installation. One row.
create table push_keys (
  id uuid primary key,
  public_key text not null,
  -- Sealed under the keys of the instance.
  private_key bytea not null,
  created_at timestamptz(3) not null
);

-- Waits and outages that were told of.
create table told_waits (
  workspace_id uuid not null,
  conversation_id uuid not null,
  since timestamptz(3) not null,
  primary key (workspace_id, conversation_id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade
);

create table told_outages (
  workspace_id uuid not null,
  connection_id uuid not null,
  primary key (workspace_id, connection_id),
  foreign key (workspace_id, connection_id) references connections (workspace_id, id)
);

-- How long a customer may wait before people are told; null: they are not.
alter table workspaces
add column answer_goal_minutes integer default 15
check (answer_goal_minutes between 1 and 10080);

-- Nobody is told now of what began before.
insert into told_waits (workspace_id, conversation_id, since)
select workspace_id, id, unanswered_since
from conversations
where unanswered_since is not null;

insert into told_outages (workspace_id, connection_id)
select workspace_id, id
from connections
where state = 'unavailable';
