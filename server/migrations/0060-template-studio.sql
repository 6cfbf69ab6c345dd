-- Templates as people write and review them. What a send needs beyond body parameters is in `inputs`; `components` is the
-- platform's structure without sample values.
alter table templates
  add column external_id text,
  add column components jsonb,
  add column inputs jsonb,
  -- GREEN, YELLOW or RED; null before the platform has rated it.
  add column quality text,
  add column rejected_reason text,
  -- The platform's explanation of a rejection or a pause.
  add column review_note text,
  -- When it was edited here in the last 30 days: the platform limits edits of approved templates.
  add column edited_at timestamptz(3)[] not null default '{}';

-- Templates that are being written, or changes of one.
create table template_drafts (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  -- The template that it changes; null for a new one.
  template_id uuid,
  -- Texts, sample values and the platform's handle of the sample file, encrypted as one.
  content bytea not null,
  -- Counts changes, so that two people cannot overwrite each other.
  version integer not null,
  -- Until when a submission is under way.
  submitting_until timestamptz(3),
  -- A submission was sent and its answer was lost: the platform may have it.
  is_tried boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, connection_id) references connections (workspace_id, id)
);
create unique index template_drafts_template_key on template_drafts (workspace_id, template_id)
where template_id is not null;
