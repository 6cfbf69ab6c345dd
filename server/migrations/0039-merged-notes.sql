-- Notes that a merge gave to the kept lead, for its undo.
alter table lead_merges add column moved_notes uuid[];
