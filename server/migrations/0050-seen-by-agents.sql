-- How far the customer's messages were stored, shown to the agent that owns the conversation, and answered: ids of messages, which
-- ascend in the order of arrival. Null where nobody has said: then an answer answers whatever is there.
alter table conversations
  add column newest_inbound_id uuid,
  add column seen_inbound_id uuid,
  add column answered_inbound_id uuid;
