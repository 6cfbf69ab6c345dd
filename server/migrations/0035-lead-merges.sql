-- Two leads that are one person are merged: one is kept, the other is deleted, and what belonged to it goes to the kept one.

create table lead_merges (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  kept_id uuid not null,
  merged_id uuid not null,
  -- What the kept lead had and what it got, and the other's name: sealed JSON, until it can be undone no more.
  former bytea,
  -- What went from the other to the kept one, by id.
  moved_changes uuid[],
  moved_submissions uuid[],
  moved_contacts uuid[],
  -- The imports whose mark the kept one was given.
  marked_imports uuid[],
  changes_count integer not null default 0,
  submissions_count integer not null default 0,
  actor_type text not null,
  actor_id uuid not null,
  merged_at timestamptz(3) not null,
  undo_until timestamptz(3),
  undone_at timestamptz(3),
  undone_by_type text,
  undone_by_id uuid,
  -- The fields that an undo left, since somebody had changed them.
  left_fields text[],
  primary key (workspace_id, id),
  foreign key (workspace_id, kept_id) references leads (workspace_id, id) on delete cascade,
  foreign key (workspace_id, merged_id) references leads (workspace_id, id) on delete cascade
);

create index lead_merges_kept on lead_merges (workspace_id, kept_id, id);
create index lead_merges_merged on lead_merges (workspace_id, merged_id, id);

create index lead_merges_to_forget on lead_merges (undo_until)
where undo_until is not null;

-- The phones and e-mails of a lead that has several, since it was merged: a look-up by any of them finds it, after the leads
-- whose only one it is.
create table lead_contacts (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  lead_id uuid not null,
  merge_id uuid not null,
  kind text not null check (kind in ('phone', 'email')),
  value bytea not null,
  digest bytea not null,
  index_version integer not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade
);

create index lead_contacts_digest on lead_contacts (workspace_id, digest);
create index lead_contacts_lead on lead_contacts (workspace_id, lead_id);
