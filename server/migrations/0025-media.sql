-- What a message carries beside its words: a picture, a voice note, a document. The bytes are sealed in the media store, under a key
-- that is sealed here. An upload of the team is a row without a message until a send takes it.
create table media (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  connection_id uuid not null,
  message_id uuid,
  direction text not null check (direction in ('inbound', 'outbound')),
  kind text not null check (kind in ('image', 'video', 'audio', 'voice', 'document', 'sticker')),
  -- `coming`: a worker is to fetch it. `here`. `gone`: the platform has it no more. `refused`: not what was told, or not allowed.
  state text not null check (state in ('coming', 'here', 'too_large', 'gone', 'refused', 'failed')),
  -- Sealed: where the platform has it, its name, types, sizes, seconds, waveform, and what was told of it.
  details bytea not null,
  -- Sealed: the key of the file, and of the preview with its size.
  file_key bytea,
  -- Names in the media store.
  stored_as uuid,
  preview_stored_as uuid,
  size_bytes bigint,
  -- Sealed: the platform's id of an upload, and until when it lives.
  platform_id bytea,
  -- Why it is not here, in a word of ours.
  failure text,
  tries integer not null default 0,
  -- When it is to be fetched; while somebody does, when others may take it over.
  due_at timestamptz(3),
  lease_until timestamptz(3),
  created_by_type text check (created_by_type in ('agent', 'user', 'token', 'system')),
  created_by uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, conversation_id) references conversations (workspace_id, id) on delete cascade
);

create unique index media_message_key on media (workspace_id, message_id)
where message_id is not null;

create index media_gallery on media (workspace_id, conversation_id, created_at desc, id desc);

-- Uploads that no message has taken: few at a time.
create index media_uploads on media (workspace_id, created_at)
where message_id is null;

-- A worker goes from one workspace to the next in it.
create index media_due on media (workspace_id, due_at)
where due_at is not null;

-- What the store's sweep asks.
create index media_stored on media (stored_as)
where stored_as is not null;

create index media_preview_stored on media (preview_stored_as)
where preview_stored_as is not null;

-- Whether the team still sees what a customer wrote before an edit, and what they withdrew.
alter table workspaces
add column keep_former_texts boolean not null default true;

-- The file that a template's header needs, where sending it needs that and body parameters, and nothing else.
alter table templates
add column header text check (header in ('image', 'video', 'document'));

-- `file`: the network is given a file, before the message that shows it.
alter table session_sends
drop constraint session_sends_kind_check,
add constraint session_sends_kind_check check (kind in ('message', 'read', 'file'));

-- Which message a reaction is about, by the digest of its platform id: to find a reaction that is taken back, and those of
-- the messages on a page.
create table message_reactions (
  workspace_id uuid not null,
  message_id uuid not null,
  about_index bytea not null,
  primary key (workspace_id, message_id),
  foreign key (workspace_id, message_id) references messages (workspace_id, id) on delete cascade
);

create index message_reactions_about on message_reactions (workspace_id, about_index);
