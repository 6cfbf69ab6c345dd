-- In its own transaction: creating an index lets others read, and this does not, for a moment. The new ones get the names of
-- those that they replace.

drop index leads_created;
drop index leads_updated;
drop index leads_status;
drop index leads_assigned;
drop index messages_external_key;

alter index leads_created_next rename to leads_created;
alter index leads_updated_next rename to leads_updated;
alter index leads_status_next rename to leads_status;
alter index leads_assigned_next rename to leads_assigned;
alter index messages_external_next rename to messages_external_key;
