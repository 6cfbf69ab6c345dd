-- Names fold differently now: conversations get their tokens anew, and are looked through as they are until then.

update inbox_search_progress
set conversations_to = to_timestamp(0),
  conversation_to = '00000000-0000-0000-0000-000000000000';

alter table conversation_activities
drop constraint conversation_activities_reason_check,
add constraint conversation_activities_reason_check check (
  reason in ('began', 'customer_wrote', 'sent', 'phone', 'timer', 'watchdog', 'agents_stopped', 'key_ended', 'merged')
);
