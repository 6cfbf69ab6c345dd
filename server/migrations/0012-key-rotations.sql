-- A new data or index secret for a scope, on its way into every row. Whoever locks the row takes the next step; the
-- place that was reached is stored with the rows that were rewritten, so that a killed process loses nothing.

create table key_rotations (
  id uuid primary key,
  scope_id uuid not null,
  purpose text not null check (purpose in ('data', 'index')),
  to_version integer not null,
  -- `announced`: nodes learn of the secret. `current`: nodes begin to write with it. Then rows are rewritten.
  phase text not null check (phase in ('announced', 'current', 'rewriting', 'done')),
  -- Not before: every node has noticed the phase by then.
  due_at timestamptz(3) not null,
  -- The table that is being rewritten, and the key of its last row that was looked at, as texts.
  at_table text,
  at_key text[],
  rows_total bigint not null default 0,
  rows_done bigint not null default 0,
  -- Of this pass: rows with a value that does not open. They stay as they are.
  rows_broken bigint not null default 0,
  started_at timestamptz(3) not null,
  rewriting_at timestamptz(3),
  finished_at timestamptz(3)
);

-- One at a time: the database decides who came first.
create unique index key_rotations_running_key on key_rotations (scope_id)
where finished_at is null;

create index key_rotations_due on key_rotations (due_at)
where finished_at is null;
