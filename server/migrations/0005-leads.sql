-- What lists filter and sort by stands in plain columns; everything personal is sealed.

create table leads (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  unique_code text not null,
  external_ref text,
  status text not null,
  priority text not null,
  source text not null,
  ad_platform text,
  assigned_to uuid,
  estimated_value numeric(14, 2),
  actual_value numeric(14, 2),
  -- First name, last name, e-mail and phone in one blob: one open per row.
  person bytea not null,
  notes bytea,
  custom_fields bytea,
  -- Keyed digests for exact look-ups, of the version beside them.
  email_index bytea,
  phone_index bytea,
  index_version integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  -- When the personal data of a deleted lead was destroyed.
  purged_at timestamptz(3),
  primary key (workspace_id, id)
)
-- Totals are counted in an index alone only where a vacuum has passed since the last change: in a table of a million
-- rows the usual fifth is 200,000 changes away.
with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

-- A deleted lead frees both names.
create unique index leads_unique_code_key on leads (workspace_id, unique_code)
where deleted_at is null;

create unique index leads_external_ref_key on leads (workspace_id, external_ref)
where deleted_at is null and external_ref is not null;

-- The oldest of several live leads with one phone or e-mail comes first.
create index leads_phone on leads (workspace_id, phone_index, created_at, id)
where deleted_at is null and phone_index is not null;

create index leads_email on leads (workspace_id, email_index, created_at, id)
where deleted_at is null and email_index is not null;

-- Exact totals are counted in here, whatever the filter, without reading the leads themselves.
create index leads_created on leads (workspace_id, created_at desc, id desc)
include (status, priority, source, ad_platform)
where deleted_at is null;

create index leads_updated on leads (workspace_id, updated_at desc, id desc)
where deleted_at is null;

create index leads_status on leads (workspace_id, status, created_at desc, id desc)
where deleted_at is null;

create index leads_assigned on leads (workspace_id, assigned_to, created_at desc, id desc)
where deleted_at is null and assigned_to is not null;

-- The trash of a workspace.
create index leads_deleted on leads (workspace_id, deleted_at desc, id desc)
where deleted_at is not null and purged_at is null;

create index leads_to_purge on leads (deleted_at)
where deleted_at is not null and purged_at is null;

-- Keyed 3-gram tokens of what search looks at. Apart from the lead, so that a change of status does not touch the
-- large index. Made in the background by the feed of events: only live leads have a row, but for a moment.
create table lead_search (
  workspace_id uuid not null,
  lead_id uuid not null,
  index_version integer not null,
  tokens integer[] not null,
  primary key (workspace_id, lead_id),
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade
)
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- New tokens wait in a list, which every search reads from end to end, and which whoever fills it has to empty: no request
-- does. Half as long, it makes tokens twice as expensive; four times as long, each search slower by some 10 ms.
create index lead_search_tokens on lead_search using gin (tokens) with (fastupdate = on, gin_pending_list_limit = 4096);

-- How far the tokens have followed the feed of a workspace. Searches look through what changed beyond it by themselves.
create table lead_search_feeds (
  workspace_id uuid primary key references workspaces (id),
  position bigint not null
) with (fillfactor = 50);

create table lead_status_changes (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  from_status text not null,
  to_status text not null,
  actor_type text not null,
  actor_id uuid,
  changed_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade
);

create index lead_status_changes_lead on lead_status_changes (workspace_id, lead_id, id);

-- Leads created per UTC day. One counter that every creation locks would make a workspace create one lead at a time,
-- so room is handed out to slots in chunks, and a creation takes from one slot. `granted` less the room left is what
-- was used.
create table lead_quota (
  workspace_id uuid not null references workspaces (id),
  day date not null,
  granted integer not null,
  primary key (workspace_id, day)
);

create table lead_quota_slots (
  workspace_id uuid not null,
  day date not null,
  slot smallint not null,
  room integer not null check (room >= 0),
  -- The quota under which the room was granted: under another one it is void.
  quota integer not null,
  primary key (workspace_id, day, slot),
  foreign key (workspace_id, day) references lead_quota (workspace_id, day) on delete cascade
) with (fillfactor = 50);
