-- Which app on the number answers the customer, as the platform last reported it, and when, by the platform's clock. Null time:
-- it never reported anything; null owner: we do. See inbox/conversation/thread-control.ts.
alter table conversations
  add column thread_owner text,
  add column thread_at timestamptz(3);

-- Not validated: a scan of all activities would lock the table for as long, and older rows have one of the kinds anyway.
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check
check (kind in ('owner', 'status', 'assignee', 'labels', 'consent', 'standby')) not valid;
