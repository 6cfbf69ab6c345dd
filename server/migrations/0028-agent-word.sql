-- When people are there: a time zone, and the spans of each weekday. Null: the workspace says nothing of it.
alter table workspaces
add column hours jsonb,
-- What its agents are to know and how they are to speak, in the words of the team; no customer's.
add column agent_word text;
