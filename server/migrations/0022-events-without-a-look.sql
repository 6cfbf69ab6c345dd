-- Each event looked its workspace up and locked that row, which all writers of the workspace share. Nobody deletes a
-- workspace's row: there is nothing to be kept from.

alter table events
drop constraint events_workspace_id_fkey;
