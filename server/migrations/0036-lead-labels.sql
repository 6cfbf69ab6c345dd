-- The labels that a lead carries, of those that its workspace has for conversations too.
create table lead_labels (
  workspace_id uuid not null,
  lead_id uuid not null,
  label_id uuid not null,
  primary key (workspace_id, lead_id, label_id),
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade,
  foreign key (workspace_id, label_id) references labels (workspace_id, id) on delete cascade
);

-- For filters, and for a label that goes.
create index lead_labels_label on lead_labels (workspace_id, label_id, lead_id);

-- Who gave a lead which labels, or took them off.
create table lead_label_changes (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  added uuid[] not null,
  removed uuid[] not null,
  actor_type text not null,
  actor_id uuid,
  changed_at timestamptz(3) not null,
  primary key (workspace_id, lead_id, id),
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade
);

-- In which order a member wants the saved filters of a page, everybody's among their own.
create table saved_filter_orders (
  workspace_id uuid not null references workspaces (id),
  user_id uuid not null,
  page text not null check (page in ('inbox', 'leads')),
  filter_ids uuid[] not null,
  primary key (workspace_id, user_id, page)
);

-- Labels of many leads at once.
alter table lead_bulk_changes
  drop constraint lead_bulk_changes_kind_check,
  add constraint lead_bulk_changes_kind_check check (kind in ('change', 'delete', 'import', 'labels'));
