-- Which keys get the customers who write for the first time: every one that may own conversations, unless its maker
-- said otherwise. Before, a key that only synchronises leads got them as well, and nobody answered.

alter table api_keys
  add column answers_new_conversations boolean not null default true;

update api_keys
set answers_new_conversations = false
where not 'inbox.write' = any (scopes);

alter table api_keys
  add constraint api_keys_answers_check check (not answers_new_conversations or 'inbox.write' = any (scopes));
