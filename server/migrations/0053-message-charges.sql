-- What the platform reports about the price of each of its messages: one row per platform message, thus one per part of a split
-- text. Holds no address of the customer, so that sums outlive an erasure; see inbox/costs/record-charges.ts.
create table message_charges (
  workspace_id uuid not null,
  connection_id uuid not null,
  external_index bytea not null,
  -- Null for messages of other apps on the number, and after an erasure.
  conversation_id uuid,
  actor_type text check (actor_type in ('agent', 'user', 'token', 'system')),
  actor_id uuid,
  -- Name of the template; null for other messages.
  template text,
  -- ISO 3166-1 alpha-2; null if the recipient's is unknown.
  country text,
  type text not null,
  category text not null,
  is_billable boolean,
  -- End of the free entry point window.
  free_until timestamptz (3),
  -- Which status reported it: 1 sent, 2 delivered, 3 read.
  step smallint not null check (step between 1 and 3),
  -- True once a status of a delivered message reported it, false after a failure, null between.
  delivered boolean,
  charged_at timestamptz (3) not null,
  primary key (workspace_id, connection_id, external_index)
);
create index message_charges_time on message_charges (workspace_id, charged_at);
create index message_charges_conversation on message_charges (workspace_id, conversation_id)
where conversation_id is not null;

-- Prices that the operator imported, of one currency from one day on; none is built in.
create table rate_cards (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- A day in the account's time zone.
  valid_from date not null,
  imported_at timestamptz (3) not null,
  actor_type text not null check (actor_type in ('user', 'token')),
  actor_id uuid not null,
  primary key (workspace_id, id),
  unique (workspace_id, currency, valid_from)
);
create table rates (
  workspace_id uuid not null,
  rate_card_id uuid not null,
  market text not null,
  category text not null,
  -- The first charged message of the month, market and category that has this price.
  from_message bigint not null check (from_message >= 1),
  price numeric(20, 8) not null check (price >= 0),
  primary key (workspace_id, rate_card_id, market, category, from_message),
  foreign key (workspace_id, rate_card_id) references rate_cards (workspace_id, id) on delete cascade
);

-- How the platform bills the business accounts of a workspace; without a row, the defaults of inbox/costs/billing-settings.ts.
create table billing_settings (
  workspace_id uuid primary key references workspaces (id),
  currency text check (currency ~ '^[A-Z]{3}$'),
  time_zone text not null,
  free_service_messages integer not null check (free_service_messages between 0 and 1000000)
);
