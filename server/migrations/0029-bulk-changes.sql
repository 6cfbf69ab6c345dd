-- What is done to many leads at once: by a member to a selection, or by an import. It is worked off in batches, by any
-- node, and can be undone for a day.
create table lead_bulk_changes (
  workspace_id uuid not null references workspaces (id),
  -- That of the import, when it is one.
  id uuid not null,
  kind text not null check (kind in ('change', 'delete', 'import')),
  state text not null check (
    state in ('collecting', 'running', 'done', 'cancelled', 'failed', 'undoing', 'undone')
  ),
  -- The fields that are set, with their values.
  changes jsonb,
  -- While leads are collected: which ones, sealed JSON, and where the next page of their list begins.
  filter bytea,
  cursor text,
  actor_type text not null,
  actor_id uuid not null,
  total integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  failed integer not null default 0,
  undo_actor_type text,
  undo_actor_id uuid,
  -- Of an undo: leads that are as they were, and leads that were left since somebody changed them in between.
  undone integer not null default 0,
  kept integer not null default 0,
  -- Which batch comes next: the one after this lead.
  position uuid,
  -- When a node may take it; null while there is nothing to do.
  due_at timestamptz(3),
  attempts integer not null default 0,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- Until when it can be undone; null from when former values are gone.
  undo_until timestamptz(3),
  primary key (workspace_id, id)
);

create index lead_bulk_changes_due on lead_bulk_changes (due_at)
where due_at is not null;

create index lead_bulk_changes_to_forget on lead_bulk_changes (undo_until)
where undo_until is not null;

create table lead_bulk_items (
  workspace_id uuid not null,
  change_id uuid not null,
  lead_id uuid not null,
  -- Null while it waits for its turn.
  outcome text check (outcome in ('created', 'changed', 'unchanged', 'deleted', 'failed')),
  -- The former values of what was changed, sealed JSON; removed after a day.
  before bytea,
  -- The lead's own time of change, or of deletion, as this one left it: another one tells that somebody was there since.
  left_at timestamptz(3),
  primary key (workspace_id, change_id, lead_id),
  foreign key (workspace_id, change_id) references lead_bulk_changes (workspace_id, id) on delete cascade
);
