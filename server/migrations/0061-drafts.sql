-- Answers of agents that a person must approve; see inbox/drafts/draft.ts. At most one per conversation is open.
create table drafts (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  key_id uuid not null,
  -- `replaced`: by a newer one of the agent; `stale`: the customer wrote again, or the owner changed.
  status text not null check (status in ('open', 'sent', 'edited', 'rejected', 'replaced', 'stale')),
  -- The rule by which it needs approval.
  why text not null check (why in ('always', 'outside_hours', 'first_answer', 'label', 'amount')),
  -- What would be sent, encrypted.
  content bytea not null,
  -- The newest customer message that it answers, and the ownership in which it was written.
  inbound_id uuid,
  owner_epoch integer not null,
  created_at timestamptz (3) not null,
  decided_at timestamptz (3),
  actor_type text check (actor_type in ('user', 'token')),
  actor_id uuid,
  -- The text that was sent, or the reason of a rejection, encrypted.
  decision bytea,
  -- How much of the text was changed, from 0 to 1.
  distance real check (distance between 0 and 1),
  -- The message it became.
  message_id uuid,
  primary key (workspace_id, id)
);
create unique index drafts_open on drafts (workspace_id, conversation_id)
where status = 'open';
create index drafts_conversation on drafts (workspace_id, conversation_id, created_at desc);

-- When a person must approve the answers of a key; null: never.
alter table api_keys
  add column approval jsonb;

-- Not validated: older rows have one of the kinds anyway.
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check
check (kind in ('owner', 'status', 'assignee', 'labels', 'consent', 'over_budget', 'standby', 'draft')) not valid;

alter table notices drop constraint notices_kind_check;
alter table notices
add constraint notices_kind_check
check (kind in ('mention', 'assigned', 'handover', 'draft', 'waiting', 'connection', 'budget')) not valid;
