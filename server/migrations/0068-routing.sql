-- Who gets a conversation: teams, the availability of people, and rules for new conversations; see inbox/routing/.
create table teams (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  -- Whom the team's next conversation is assigned to; `manual`: nobody until someone takes it.
  assignment text not null check (assignment in ('manual', 'round_robin', 'least_busy')),
  -- An assigned person who does not answer for so many minutes loses the conversation to the next; null: keeps it.
  answer_minutes integer check (answer_minutes between 1 and 1440),
  -- How often it goes to the next person before it stays unassigned in the team.
  max_reassignments smallint not null check (max_reassignments between 1 and 10),
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index teams_name_key on teams (workspace_id, lower(name));

create table team_members (
  workspace_id uuid not null,
  team_id uuid not null,
  user_id uuid not null,
  -- Turn in which the person last got a conversation of the team: the lowest is next.
  turn integer not null default 0,
  primary key (workspace_id, team_id, user_id),
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade,
  foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade
);
create index team_members_user on team_members (workspace_id, user_id);

-- Deleted teams whose conversations still name them.
create table team_removals (
  workspace_id uuid not null references workspaces (id),
  team_id uuid not null,
  -- Conversations up to this id are cleared.
  cleared_to uuid not null,
  primary key (workspace_id, team_id)
);

-- Not a foreign key: a deleted team is cleared in steps.
alter table conversations add column team_id uuid;

-- Who gets the new conversations of a connection.
create table routing_rules (
  workspace_id uuid not null references workspaces (id),
  -- The connection; for all without a rule of their own the id of the workspace, so that the key has no null.
  connection_id uuid not null,
  -- `default`: the oldest key that answers new conversations. `key`: this key. `none`: no agent.
  agent text not null check (agent in ('default', 'key', 'none')),
  key_id uuid,
  -- The team that the conversation belongs to, and that answers it unless an agent does; null: people.
  team_id uuid,
  primary key (workspace_id, connection_id),
  check ((agent = 'key') = (key_id is not null))
);

-- Conversations of teams that wait: for the answer of the assigned person, or for someone to assign.
create table routing_waits (
  workspace_id uuid not null,
  conversation_id uuid not null,
  team_id uuid not null,
  -- Null: nobody was available.
  user_id uuid,
  -- How many people have not answered.
  attempts smallint not null default 0,
  due_at timestamptz(3) not null,
  primary key (workspace_id, conversation_id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade
);
create index routing_waits_due on routing_waits (due_at);

-- Whether it has routing rules or limits of agents: read with the rules for agents, so that others pay nothing.
alter table workspaces add column is_routed boolean not null default false;

-- When someone who is away is back; null: when they say so. And how many open conversations they get at most.
alter table members
  add column away_until timestamptz(3),
  add column capacity integer;
alter table members add constraint members_capacity_check check (capacity between 1 and 1000);

-- How many open conversations the agent has at most; null: no limit.
alter table api_keys add column capacity integer;
alter table api_keys add constraint api_keys_capacity_check check (capacity between 1 and 100000);

-- Not validated: older rows have one of these anyway.
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check
check (kind in ('owner', 'status', 'assignee', 'team', 'labels', 'consent', 'over_budget', 'standby', 'draft')) not valid;
alter table conversation_activities drop constraint conversation_activities_reason_check;
alter table conversation_activities
add constraint conversation_activities_reason_check
check (
  reason in (
    'began', 'customer_wrote', 'sent', 'phone', 'timer', 'watchdog', 'agents_stopped', 'key_ended', 'merged',
    'round_robin', 'least_busy', 'capacity', 'no_answer', 'took_next'
  )
) not valid;
