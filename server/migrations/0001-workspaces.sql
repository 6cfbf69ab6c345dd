-- A workspace is the tenant: every other table's key begins with its id.

create table workspaces (
  id uuid primary key,
  name text not null,
  -- ISO 3166-1 alpha-2: national phone numbers are read as numbers of this country.
  default_country text check (default_country ~ '^[A-Z]{2}$'),
  -- New leads per UTC day; 0 is unlimited.
  daily_lead_quota integer not null default 100000 check (daily_lead_quota >= 0),
  -- The two plan switches, and whether the inbox can be used at the moment.
  leads_enabled boolean not null default true,
  inbox_enabled boolean not null default true,
  inbox_available boolean not null default true,
  -- The statuses that the web app offers; the API takes any token of the form.
  lead_statuses text[] not null default array['new', 'contacted', 'qualified', 'proposal', 'won', 'lost', 'unqualified'],
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- Random 32-byte secrets wrapped by the master key. Data and index secrets have versions of their own, so that
-- sealing anew does not force indexing anew; the stable one keys what nobody is found by, and stays. The nil UUID is
-- the scope of the instance itself (its users).
create table secrets (
  scope_id uuid not null,
  purpose text not null check (purpose in ('data', 'index', 'stable')),
  version integer not null check (version > 0),
  master_key_id text not null,
  wrapped bytea not null,
  current boolean not null,
  created_at timestamptz(3) not null,
  -- When no row named it any more: an index secret is not looked by from then on.
  retired_at timestamptz(3),
  primary key (scope_id, purpose, version)
);

create unique index secrets_current_key on secrets (scope_id, purpose) where current;
