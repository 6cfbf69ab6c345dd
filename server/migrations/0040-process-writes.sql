-- What each process writes to find out whether writes get through, and when it last did.
create table process_writes (
  process_id uuid primary key,
  written_at timestamptz(3) not null
);
