-- In place of those that held ids: of the same names, since each does what its predecessor did.

drop index conversations_recent;
drop index conversations_recent_status;
drop index conversations_recent_agents;
drop index conversations_recent_unassigned;
drop index conversations_recent_assigned;
drop index conversations_recent_connection;
drop index conversations_unread;
drop index conversations_updated;
drop index conversations_status;
drop index conversations_owner;
drop index conversations_connection;
drop index conversations_waiting;
drop index conversations_counted;

alter index conversations_recent_next rename to conversations_recent;
alter index conversations_recent_status_next rename to conversations_recent_status;
alter index conversations_recent_agents_next rename to conversations_recent_agents;
alter index conversations_recent_unassigned_next rename to conversations_recent_unassigned;
alter index conversations_recent_assigned_next rename to conversations_recent_assigned;
alter index conversations_recent_connection_next rename to conversations_recent_connection;
alter index conversations_unread_next rename to conversations_unread;
alter index conversations_updated_next rename to conversations_updated;
alter index conversations_status_next rename to conversations_status;
alter index conversations_owner_next rename to conversations_owner;
alter index conversations_connection_next rename to conversations_connection;
alter index conversations_waiting_next rename to conversations_waiting;
alter index conversations_counted_next rename to conversations_counted;
