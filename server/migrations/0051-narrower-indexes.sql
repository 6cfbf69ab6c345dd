-- Orders of leads, ascending: new leads are then appended, which fills pages. Descending, each page is split in the middle and
-- stays half empty. They are read backwards as quickly.
-- And platform ids of messages without the connection, which their digests include.
-- While these are built, leads and messages are read as before, and writers wait. On large tables, create them before the
-- update with `concurrently`.

set local maintenance_work_mem = '256MB';

create index if not exists leads_created_next on leads (workspace_id, created_at, id)
include (status, priority, source, ad_platform)
where deleted_at is null;
create index if not exists leads_updated_next on leads (workspace_id, updated_at, id)
where deleted_at is null;
create index if not exists leads_status_next on leads (workspace_id, status, created_at, id)
where deleted_at is null;
create index if not exists leads_assigned_next on leads (workspace_id, assigned_to, created_at, id)
where deleted_at is null and assigned_to is not null;
create unique index if not exists messages_external_next on messages (workspace_id, external_index)
where external_index is not null;
