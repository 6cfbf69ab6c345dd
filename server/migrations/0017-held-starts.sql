-- A change of owner that has to wait for calls under way: until then no further call of the owner before may start. By the
-- clock of the database.
alter table conversations add column starts_held_until timestamptz(3);
