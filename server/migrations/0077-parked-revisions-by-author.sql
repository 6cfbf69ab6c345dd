-- Who has revised is part of what a parked revision is: one of the other side at the same time is no repeat.
alter table parked_revisions add column direction text not null default 'inbound';
alter table parked_revisions
add constraint parked_revisions_direction_check
check (direction in ('inbound', 'outbound'));
create unique index parked_revisions_author on parked_revisions (
  workspace_id, connection_id, about_index, type, occurred_at, direction
);
drop index parked_revisions_about;
