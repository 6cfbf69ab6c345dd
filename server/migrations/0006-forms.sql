-- Lead forms: defined by the team, filled by the public.

create table forms (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Names the public page, which knows no workspace: unique in the whole instance.
  slug text not null check (slug ~ '^[a-z0-9-]{3,60}$'),
  name text not null,
  title text not null,
  description text,
  -- [{ key, label, type, required, options?, placeholder?, help? }]
  fields jsonb not null,
  submit_label text not null,
  thank_you text not null,
  -- Where people go instead of the thank-you page.
  redirect_url text,
  -- Other sites that may post here or show the page in a frame; '*' is any.
  allowed_origins text[] not null,
  -- What its leads start with.
  source text not null,
  status text not null,
  active boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

create unique index forms_slug_key on forms (slug);

-- Which form made which lead. What was typed stands in the lead alone, sealed.
create table form_submissions (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  lead_id uuid not null,
  -- Of the page that was sent: a page makes one lead, however often it is sent.
  nonce uuid not null,
  submitted_at timestamptz(3) not null,
  primary key (workspace_id, id),
  constraint form_submissions_form_fkey foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade,
  -- Deferred, since the nonce is claimed before the lead is made.
  foreign key (workspace_id, lead_id) references leads (workspace_id, id) on delete cascade
    deferrable initially deferred
);

create unique index form_submissions_nonce_key on form_submissions (workspace_id, form_id, nonce);
create index form_submissions_form on form_submissions (workspace_id, form_id, id);
