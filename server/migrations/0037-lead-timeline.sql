-- Who made a change and what it changed, for the timeline of a lead: beside the event, which tells what is so since. Null for
-- what was recorded before, and for events that no timeline shows.
alter table events
  add column actor_type text check (actor_type in ('agent', 'user', 'token', 'form', 'system')),
  add column actor_id uuid,
  -- What it was part of, as `import:<id>`.
  add column part_of text,
  -- The fields with their values before and after, sealed JSON.
  add column changes bytea;

-- The newest of a lead or a form's answers first, a page at a time. Every event has a subject: the condition keeps this index
-- from those who seek events by their ids, and would take it while the table is empty.
drop index events_subject;
create index events_subject on events (workspace_id, subject_id, id)
where subject_id is not null;
drop index form_submissions_lead;
create index form_submissions_lead on form_submissions (workspace_id, lead_id, id);

-- What the team writes down about a lead, whether or not there is a conversation.
create table lead_notes (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  text bytea not null,
  actor_type text not null check (actor_type in ('user', 'token')),
  actor_id uuid not null,
  idempotency_key text,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade
);

create index lead_notes_lead on lead_notes (workspace_id, lead_id, id);

create unique index lead_notes_key on lead_notes (workspace_id, actor_id, idempotency_key)
where idempotency_key is not null;
