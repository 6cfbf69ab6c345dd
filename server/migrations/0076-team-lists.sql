-- A team's conversations, newest first, and those that agents have handed over, longest waiting first: without these a list of
-- a small team, and who takes the next conversation, read those of the whole workspace. Few rows are in them, so that building
-- them reads the table once; meanwhile conversations are read as ever, and whoever writes to them waits.
create index conversations_recent_team on conversations (workspace_id, team_id, last_message_at)
where team_id is not null;
create index conversations_handed_over on conversations (workspace_id, last_message_at)
where handover is not null;
