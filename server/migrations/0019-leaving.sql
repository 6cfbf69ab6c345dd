-- What a person made stays with their name, so that whoever removes them can decide about it; places and devices that a
-- person signs in from; lines of the audit log that stand for many; and a quota that only an operator lifts.

-- The member who answers for the endpoint; null when the operator's token made it, and for those made before.
alter table webhook_endpoints add column created_by uuid;

-- A keyed hash of an account together with a browser's token or a group of addresses from which its right password came.
create table known_sign_ins (
  mark bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  last_at timestamptz(3) not null
);

create index known_sign_ins_user on known_sign_ins (user_id);
create index known_sign_ins_last_at on known_sign_ins (last_at);

-- How often it happened within the hour that begins with the line, where one line stands for many.
alter table audit_log add column count integer not null default 1 check (count > 0);

-- The most that the workspace's own admins may set as its daily quota; 0 is unlimited.
alter table workspaces
  add column daily_lead_quota_ceiling integer not null default 100000 check (daily_lead_quota_ceiling >= 0);

-- Nobody loses what they have.
update workspaces
set daily_lead_quota_ceiling = daily_lead_quota
where daily_lead_quota = 0
  or daily_lead_quota > 100000;
