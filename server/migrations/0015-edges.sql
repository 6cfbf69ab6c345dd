-- Imports whose files are kept, to count what a workspace has in store.
create index lead_imports_kept on lead_imports (workspace_id)
where expires_at is not null or state in ('running', 'paused');
