-- Names fold differently now: conversations get their tokens anew, and are looked through as they are until then.

update inbox_search_progress
set conversations_to = to_timestamp(0),
  conversation_to = '00000000-0000-0000-0000-000000000000';
