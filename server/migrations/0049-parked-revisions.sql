-- Edits, withdrawals and reactions taken back that came before their message; see inbox/receive/early-revisions.ts.
create table parked_revisions (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  about_index bytea not null,
  -- Null as long as its customer has none.
  conversation_id uuid,
  type text not null check (type in ('edited', 'withdrawn', 'reaction_lifted')),
  content bytea not null,
  occurred_at timestamptz (3) not null,
  parked_at timestamptz (3) not null,
  primary key (workspace_id, id)
);
create unique index parked_revisions_about
on parked_revisions (workspace_id, connection_id, about_index, type, occurred_at);
create index parked_revisions_conversation on parked_revisions (workspace_id, conversation_id)
where conversation_id is not null;
create index parked_revisions_age on parked_revisions (parked_at);
