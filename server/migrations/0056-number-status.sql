-- What the platform reports about a number: quality, limits, display name, whether it can send; and when to read it again
-- (null: at the next sync).
alter table connections
  add column number_status jsonb,
  add column number_status_due_at timestamptz;
