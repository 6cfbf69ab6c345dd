-- The custom fields that a workspace defines for its leads: what they are called, what fits, and where they are shown. The
-- values are with the leads. A definition is never deleted, since leads may have it, but put away.
create table lead_fields (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  key text not null,
  label text not null,
  type text not null,
  choices text[] not null,
  required boolean not null,
  shown_in text[] not null,
  place integer not null,
  archived_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

create unique index lead_fields_key on lead_fields (workspace_id, key);
