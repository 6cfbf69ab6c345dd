-- A chat widget on a website as a channel; see channels/website/. Not validated here: the rows have one of the older values anyway.
alter table connections drop constraint connections_channel_check;
alter table connections
add constraint connections_channel_check
check (channel in ('waba', 'unofficial', 'partner', 'website')) not valid;

-- People who chat on a website: one row for an anonymous device, or for a person whom the site identifies on several devices.
create table website_visitors (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  -- Digest of the site's id of the person; null: anonymous.
  identity_index bytea,
  index_version integer not null,
  -- Name, e-mail, phone and the site's id, encrypted.
  profile bytea not null,
  -- Number of the newest message of the chat.
  last_seq integer not null default 0,
  -- Number of the newest message that the team has read.
  read_seq integer not null default 0,
  -- Until when the visitor sees that an answer is being written.
  typing_until timestamptz(3),
  -- Counts everything that the visitor sees change.
  version integer not null default 0,
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create index website_visitors_identity on website_visitors (workspace_id, connection_id, identity_index)
where identity_index is not null;
create index website_visitors_seen on website_visitors (workspace_id, last_seen_at);

-- Devices that may read and write the chat of a visitor.
create table website_sessions (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  visitor_id uuid not null,
  token_hash bytea not null,
  -- The challenge that was solved for it, which is spent with that; null: the site identified the visitor.
  nonce uuid,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index website_sessions_token on website_sessions (workspace_id, token_hash);
create unique index website_sessions_nonce on website_sessions (workspace_id, nonce)
where nonce is not null;
create index website_sessions_visitor on website_sessions (workspace_id, visitor_id);
create index website_sessions_expiry on website_sessions (workspace_id, expires_at);

-- What a visitor sees: the chat as the widget shows it, in order. The inbox has its own messages.
create table website_messages (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  visitor_id uuid not null,
  seq integer not null,
  direction text not null check (direction in ('inbound', 'outbound')),
  status text not null check (status in ('sent', 'delivered', 'read')),
  -- Text, choices, file and what the message refers to, encrypted.
  content bytea not null,
  -- A file of the team that the visitor may download.
  file_id uuid,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index website_messages_seq on website_messages (workspace_id, visitor_id, seq);
create index website_messages_open on website_messages (workspace_id, visitor_id, seq)
where direction = 'outbound' and status <> 'read';
create index website_messages_time on website_messages (workspace_id, created_at);

-- Files from visitors until the inbox has fetched them.
create table website_files (
  workspace_id uuid not null,
  id uuid not null,
  visitor_id uuid not null,
  bytes bytea not null,
  size_bytes integer not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create index website_files_time on website_files (workspace_id, created_at);
create index website_files_visitor on website_files (workspace_id, visitor_id);
