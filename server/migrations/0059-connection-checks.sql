-- The last check of a connection, what was requested of the phone's app, and how often the platform was asked recently.
alter table connections
  add column check_report jsonb,
  add column history_requests jsonb,
  -- Start of the time in which `check_count` checks and steps of the setup were made; null: none yet.
  add column checks_since timestamptz(3),
  add column check_count integer;
