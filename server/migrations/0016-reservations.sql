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

-- A number is reserved once its platform has answered for it to whoever holds its secrets: the platform's origin and what
-- the platform calls the number. Null until then: nobody keeps a number from its owner by naming it.
alter table connections
add column reserved_as text;

-- What was connected before was so under the platform's own address, unless it never worked.
update connections
set reserved_as = case channel
    when 'waba' then 'https://graph.facebook.com'
    when 'partner' then 'https://waba-v2.360dialog.io'
    else 'network'
  end || ' ' || number_id
where removed_at is null
  and (state <> 'unavailable' or last_event_in_at is not null or last_event_out_at is not null)
  and (channel <> 'unofficial' or number_id <> id::text);

drop index connections_number_key;

create unique index connections_number_key on connections (channel, reserved_as)
where removed_at is null;

create unique index connections_own_number_key on connections (workspace_id, channel, number_id)
where removed_at is null;
