-- Whether people have a conversation, so that no agent may take it by itself; it says nothing while an agent owns it. And the hand-over that people have not
-- answered yet: its id, urgency, reason and time, sealed.
alter table conversations
add column held boolean not null default false,
add column handover bytea;

-- Whatever changed hands from an agent to people, or was given to one of them, as far as is still told.
update conversations c
set held = true
where c.owner_key_id is null
  and (
    c.assigned_to is not null
    or exists (
      select
      from conversation_activities a
      where a.workspace_id = c.workspace_id
        and a.conversation_id = c.id
        and a.kind = 'owner'
    )
  );

-- Whether an agent may take a conversation back that people have: at any time, or only when they hand it over.
alter table workspaces
add column agents_may_take_back text not null default 'always'
check (agents_may_take_back in ('always', 'when_handed'));

-- What is said when a conversation is handed on, to whoever goes on with it. Its words are sealed: summary, reason, next step.
create table conversation_handovers (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  -- The agent's key that had it; null: people.
  from_key_id uuid,
  -- `agents`: whichever takes it.
  to_type text not null check (to_type in ('people', 'agent', 'agents')),
  to_key_id uuid,
  -- The member whom it is for; null: any.
  to_user_id uuid,
  urgency text not null check (urgency in ('low', 'normal', 'high')),
  words bytea not null,
  actor_type text not null check (actor_type in ('agent', 'user', 'token')),
  actor_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade,
  check ((to_type = 'agent') = (to_key_id is not null)),
  check (to_type = 'people' or to_user_id is null)
);

create index conversation_handovers_time on conversation_handovers (workspace_id, conversation_id, created_at, id);
