-- How far the changes of a workspace were counted; see reports/.
create table report_queues (
  workspace_id uuid primary key references workspaces (id),
  -- Counts what was stored: a process that read an earlier state stores nothing.
  version bigint not null default 0,
  -- Position in the event feed, and the recorded change of a conversation up to which was counted.
  position bigint not null,
  activities_to uuid not null,
  -- Time zone of the days.
  time_zone text not null,
  -- What is counted again, and up to which conversation, lead or day; null: nothing.
  rebuilding text,
  rebuilt_to text,
  -- When costs are summed again; null: nothing has changed. `costs_all`: those of all days.
  costs_due_at timestamptz(3),
  costs_all boolean not null default true,
  counted_at timestamptz(3)
);
alter table report_queues
add constraint report_queues_rebuilding_check check (rebuilding in ('conversations', 'leads', 'days'));

-- What reports count, one row each: a pure function of the recorded changes of a conversation or lead. No text, name or number
-- of a customer. Rows of an erased conversation stay, with an id that belongs to nobody.
create table report_facts (
  workspace_id uuid not null,
  kind text not null,
  -- Of the message, activity, conversation or lead that it was made of.
  id uuid not null,
  -- The conversation or lead.
  subject_id uuid not null,
  at timestamptz(3) not null,
  day date not null,
  outcome text not null,
  connection_id uuid,
  team_id uuid,
  user_id uuid,
  key_id uuid,
  source text,
  campaign_id uuid,
  label_ids uuid[] not null,
  -- Milliseconds, or hundredths of the currency; null: none.
  value bigint,
  primary key (workspace_id, kind, id)
);
alter table report_facts
add constraint report_facts_kind_check
check (kind in ('new', 'closed', 'reopened', 'answer', 'case', 'lead', 'rating'));
create index report_facts_subject on report_facts (workspace_id, subject_id);
create index report_facts_day on report_facts (workspace_id, kind, day, id);

-- Campaigns of leads; a digest of the name is the id, so that it is the same however often it is counted.
create table report_campaigns (
  workspace_id uuid not null,
  id uuid not null,
  -- Encrypted: strangers write what is in an address.
  name bytea not null,
  primary key (workspace_id, id)
);

-- Leads to count again after a change that is no event: of labels, or an ad that brought them.
create table report_leads (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  primary key (workspace_id, id)
);

-- Sums of the facts of a day by one dimension: `all`, or the connection, team, person, agent key, label, source or campaign. Costs, which come
-- from the ledger of messages, are of the kind `cost`.
create table report_rollups (
  workspace_id uuid not null,
  dimension text not null,
  day date not null,
  -- '' with `all`.
  dimension_id text not null,
  kind text not null,
  outcome text not null,
  -- Of times: the power of 1.1 seconds that it is between; -1 for what is no time.
  bucket smallint not null,
  count bigint not null,
  total numeric not null,
  primary key (workspace_id, dimension, day, dimension_id, kind, outcome, bucket)
) with (fillfactor = 75);

-- Saved reports that people get by mail every week.
create table report_mails (
  workspace_id uuid not null,
  user_id uuid not null,
  filter_id uuid not null,
  next_at timestamptz(3) not null,
  primary key (workspace_id, user_id, filter_id),
  foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade,
  foreign key (workspace_id, filter_id) references saved_filters (workspace_id, id) on delete cascade
);
create index report_mails_next on report_mails (next_at);

-- Database roles of other programs, and whose reports they read through the views below.
create table report_readers (
  workspace_id uuid not null references workspaces (id),
  role_name text not null,
  primary key (workspace_id, role_name)
);

create view report_daily with (security_barrier) as
select r.workspace_id, r.day, r.dimension, r.dimension_id, r.kind, r.outcome, sum(r.count)::bigint as count,
  case when r.kind in ('answer', 'closed') then round(sum(r.total) / 1000, 3) end as seconds,
  case when r.kind = 'lead' then round(sum(r.total) / 100, 2) when r.kind = 'cost' then sum(r.total) end as amount
from report_rollups r
join report_readers a on a.workspace_id = r.workspace_id and a.role_name = current_user
where r.count > 0
group by r.workspace_id, r.day, r.dimension, r.dimension_id, r.kind, r.outcome;

create view report_records with (security_barrier) as
select f.workspace_id, f.kind, f.id, f.subject_id, f.at, f.day, f.outcome, f.connection_id, f.team_id, f.user_id, f.key_id,
  f.source, f.campaign_id, f.label_ids,
  case when f.kind in ('answer', 'closed') then round(f.value / 1000.0, 3) end as seconds,
  case when f.kind = 'lead' then round(f.value / 100.0, 2) end as amount
from report_facts f
join report_readers a on a.workspace_id = f.workspace_id and a.role_name = current_user;

-- Names of what the team has named itself. Those of people are encrypted.
create view report_names with (security_barrier) as
select n.workspace_id, n.dimension, n.id, n.name
from (
  select workspace_id, 'connection' as dimension, id, name
  from connections
  union all
  select workspace_id, 'team', id, name
  from teams
  union all
  select workspace_id, 'label', id, name
  from labels
  union all
  select workspace_id, 'key', id, name
  from api_keys
) n
join report_readers a on a.workspace_id = n.workspace_id and a.role_name = current_user;

-- Not validated: older rows have one of the former values anyway.
alter table saved_filters drop constraint saved_filters_page_check;
alter table saved_filters
add constraint saved_filters_page_check check (page in ('inbox', 'leads', 'reports')) not valid;
alter table saved_filter_orders drop constraint saved_filter_orders_page_check;
alter table saved_filter_orders
add constraint saved_filter_orders_page_check check (page in ('inbox', 'leads', 'reports')) not valid;

alter table mails drop constraint mails_kind_check;
alter table mails
add constraint mails_kind_check
check (kind in ('invitation', 'sign-in', 'reset', 'notifications', 'digest', 'report')) not valid;
