-- The one store that the files of this installation are in: its mark says the same id. A process that finds another
-- mark there, or none, has not got that store before it.
create table media_store (
  id uuid primary key,
  single boolean not null default true unique check (single),
  created_at timestamptz(3) not null
);
