-- QR sessions: our end of a phone's linked device. One process at a time speaks for it; any may ask it to.

create table channel_sessions (
  workspace_id uuid not null,
  connection_id uuid not null,
  state text not null check (state in ('unpaired', 'pairing', 'connecting', 'open', 'waiting', 'stopped')),
  -- Why it is not open; null when it is.
  reason text,
  state_changed_at timestamptz(3) not null,
  -- A phone has linked it: the keys are those of a device of its number.
  is_paired boolean not null default false,
  -- What a member has asked for, until the holder takes it up.
  wish text check (wish in ('pair', 'unpair', 'open')),
  -- How it is being paired, and the QR code or the letters to show: sealed as one, whoever has them has the number.
  pairing bytea,
  -- When the network replaces what is shown.
  shown_until timestamptz(3),
  -- How often in a row the socket has closed, and when the next one is opened.
  attempt integer not null default 0,
  next_attempt_at timestamptz(3),
  -- The process that holds the socket, by the clock of the database.
  holder uuid,
  -- Raised by each claim. A write under an older one is refused: two writers would break the keys for good.
  fence bigint not null default 0,
  lease_until timestamptz,
  -- The role and the name of that process's database sessions: when it has none left, it is dead, and its lease ends.
  lease_session text,
  primary key (workspace_id, connection_id),
  foreign key (workspace_id, connection_id) references connections (workspace_id, id) on delete cascade
)
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- Those that somebody has to hold. Without the lease, which changes every few seconds.
create index channel_sessions_wanted on channel_sessions (workspace_id, connection_id)
where wish is not null or state in ('pairing', 'connecting', 'open', 'waiting');

-- What the device has to know tomorrow: its credentials, and the ratchets of its chats. They change with each message.
create table session_keys (
  workspace_id uuid not null,
  connection_id uuid not null,
  type text not null,
  -- Digest of the key's name, which holds customers' phones.
  digest text not null,
  value bytea not null,
  primary key (workspace_id, connection_id, type, digest),
  foreign key (workspace_id, connection_id)
    references channel_sessions (workspace_id, connection_id) on delete cascade
)
with (fillfactor = 80);

-- What the holder is asked to hand to the network. Kept for three days: phones ask again for what they could not read,
-- and what comes back under one of these ids is ours and nobody's echo.
create table session_sends (
  workspace_id uuid not null,
  connection_id uuid not null,
  -- Of a message its id at the network, chosen beforehand.
  id text not null,
  kind text not null check (kind in ('message', 'read')),
  -- The message and part of the inbox that it carries.
  correlator text,
  -- Where to, and what: sealed.
  content bytea not null,
  -- Nothing is claimed after it, by the clock of the database.
  deadline timestamptz not null,
  -- `claimed` by one fence and never by another; `sent` has left; the network has accepted or refused it;
  -- `cancelled` has surely not left.
  state text not null check (state in ('waiting', 'claimed', 'sent', 'accepted', 'refused', 'cancelled')),
  fence bigint,
  error_code text,
  created_at timestamptz(3) not null,
  primary key (workspace_id, connection_id, id),
  foreign key (workspace_id, connection_id)
    references channel_sessions (workspace_id, connection_id) on delete cascade
);

create index session_sends_waiting on session_sends (workspace_id, connection_id, created_at)
where state = 'waiting';

create index session_sends_created on session_sends (created_at);
