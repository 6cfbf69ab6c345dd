-- Which app on the number answers the customer, as the platform last reported it, and when, by the platform's clock. Null time:
-- it never reported anything; null owner: we do. See inbox/conversation/thread-control.ts.
alter table conversations
  add column thread_owner text,
  add column thread_at timestamptz(3);

-- Not validated: a scan of all activities would lock the table for as long, and older rows have one of the kinds anyway.
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check
check (kind in ('owner', 'status', 'assignee', 'labels', 'consent', 'over_budget', 'standby')) not valid;

-- Into how many messages agents may cut one text, unless their key has a number of its own; and whether the customers of a key see
-- that it is typing when it takes their messages.
alter table workspaces add column agent_max_parts smallint not null default 1;
alter table workspaces add constraint workspaces_agent_max_parts_check check (agent_max_parts between 1 and 10);
alter table api_keys add column show_typing boolean not null default false;

-- Volume tiers that the platform has reported for the account of a connection; see inbox/costs/volume-tiers.ts.
create table volume_tiers (
  workspace_id uuid not null,
  connection_id uuid not null,
  -- As rate cards have it.
  market text not null,
  category text not null,
  -- Its first day.
  month date not null,
  -- The first message of the month in the tier.
  from_message bigint not null check (from_message >= 1),
  reached_at timestamptz(3) not null,
  primary key (workspace_id, connection_id, market, category, month, from_message)
);
create index volume_tiers_time on volume_tiers (workspace_id, reached_at);

-- Connections whose account is billed in another currency than the workspace's billing settings say.
create table connection_billing (
  workspace_id uuid not null,
  connection_id uuid not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  primary key (workspace_id, connection_id)
);
