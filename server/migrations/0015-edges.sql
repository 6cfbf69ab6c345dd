-- Imports whose files are kept, to count what a workspace has in store.
create index lead_imports_kept on lead_imports (workspace_id)
where expires_at is not null or state in ('running', 'paused');

-- Every address that a form ever had stays its workspace's: pages that embed it must never post to strangers. The form is
-- the one that answers there, and may be gone.
create table form_slugs (
  workspace_id uuid not null references workspaces (id),
  slug text not null check (slug ~ '^[a-z0-9-]{3,60}$'),
  form_id uuid not null,
  primary key (workspace_id, slug)
);

create unique index form_slugs_slug_key on form_slugs (slug);

insert into form_slugs (workspace_id, slug, form_id)
select workspace_id, slug, id
from forms;

-- New leads of the UTC day by form, and of all forms under the workspace's own id.
create table form_quota (
  workspace_id uuid not null references workspaces (id),
  day date not null,
  form_id uuid not null,
  taken integer not null,
  primary key (workspace_id, day, form_id)
);
