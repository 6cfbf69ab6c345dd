-- Holidays, away messages and service-level goals; see workspaces/service/ and inbox/goals/.
alter table workspaces
  -- Days on which the workspace is closed: name, first and last date, and the calendar they were imported from.
  add column holidays jsonb not null default '[]',
  -- What customers get who write outside of business hours: texts by language; null: nothing.
  add column away_message jsonb,
  -- Minutes of business hours by goal, and by priority; null: no goals.
  add column service_goals jsonb;

-- What differs for a team; null: as in the workspace.
create table team_service_settings (
  workspace_id uuid not null,
  team_id uuid not null,
  hours jsonb,
  holidays jsonb,
  away_message jsonb,
  service_goals jsonb,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, team_id),
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade
);

-- Set by people and programs only; 1 is low, 4 urgent. The clocks of the goals change with messages: `goal_due_at` is
-- the next one to end, indexed like `unanswered_since` (see inbox/conversation/activity-columns.ts).
alter table conversations
  add column priority smallint,
  add column goal jsonb,
  add column goal_due_at timestamptz(3),
  add column now_goal_due_at timestamptz(3),
  -- When the first of the goals that are missed and still open was due.
  add column goal_missed_at timestamptz(3);
-- Not validated: older rows have none.
alter table conversations add constraint conversations_priority_check check (priority between 1 and 4) not valid;

create index conversations_goal_due on conversations (workspace_id, goal_due_at)
where goal_due_at is not null;
create index conversations_goal_missed on conversations (workspace_id, goal_missed_at)
where goal_missed_at is not null;
create index conversations_priority on conversations (workspace_id, priority, id)
where priority is not null;

-- Each goal that was missed, once for each time it began.
create table missed_goals (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  goal text not null check (goal in ('first_answer', 'next_answer', 'resolution')),
  since timestamptz(3) not null,
  due_at timestamptz(3) not null,
  -- Who had the conversation then.
  team_id uuid,
  assigned_to uuid,
  key_id uuid,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index missed_goals_once on missed_goals (workspace_id, conversation_id, goal, since);

-- Workspaces whose hours or goals have changed: the clocks of conversations after this id are still of the old ones.
create table goal_updates (
  workspace_id uuid primary key references workspaces (id),
  after_id uuid not null,
  requested_at timestamptz(3) not null
);

-- Not validated: older rows have one of these anyway.
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check
check (
  kind in (
    'owner', 'status', 'assignee', 'team', 'labels', 'priority', 'goal', 'consent', 'over_budget', 'standby', 'draft'
  )
) not valid;

alter table notices drop constraint notices_kind_check;
alter table notices
add constraint notices_kind_check
check (kind in ('mention', 'assigned', 'handover', 'draft', 'waiting', 'goal', 'connection', 'budget')) not valid;
