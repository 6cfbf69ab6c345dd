-- Chores that are done once in a while, however many workers there are: who moves `next_at` on does it.

create table chores (
  name text primary key,
  next_at timestamptz(3) not null
);
