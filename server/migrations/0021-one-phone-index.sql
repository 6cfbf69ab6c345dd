-- Whatever comes in changes what all the indexes of a conversation have to follow. One index by phone does for three: a
-- connection's customer, a phone on any connection, and a phone as it is spelled, among the few that differ in spelling alone.

drop index conversations_phone_exact;
drop index conversations_phone_any;
drop index conversations_phone_key;

create unique index conversations_phone_key on conversations (workspace_id, phone_index, connection_id)
where phone_index is not null;
