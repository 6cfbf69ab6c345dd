-- Events are kept for some weeks: parts by time, which a worker makes ahead and drops whole, in place of rows that are deleted
-- one by one. No row moves, and nothing is read through: the table that was becomes the part for all that has no period of its own.
-- Before the number is read from which it goes on: who writes meanwhile would take numbers that are then given again.
lock table events in access exclusive mode;
create sequence events_seq_by_time;
select setval('events_seq_by_time', last_value, is_called) from events_seq_seq;

alter table events rename to events_default;
alter index events_pkey rename to events_default_pkey;
alter index events_position_key rename to events_default_position_key;
alter index events_subject rename to events_default_subject;
alter index events_unplaced rename to events_default_unplaced;

-- Before PostgreSQL 17 a part can have no identity column.
alter table events_default alter column seq drop identity;
alter sequence events_seq_by_time rename to events_seq_seq;
alter table events_default alter column seq set default nextval('events_seq_seq');

create table events (
  like events_default including defaults including constraints including storage,
  primary key (workspace_id, id)
) partition by range (id);
alter sequence events_seq_seq owned by events.seq;

create index events_subject on events (workspace_id, subject_id, id)
where subject_id is not null;
create index events_unplaced on events (workspace_id, seq)
where position is null;
-- The key of positions is of each part: a key of all would need the id. Positions are given under the lock of the feed's row, so
-- none is given twice.

alter table events attach partition events_default default;
