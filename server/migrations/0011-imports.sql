-- Imports of leads. The file waits in sealed pieces, so that any node may take the upload and any other do the work.

create table lead_imports (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  state text not null check (
    state in ('uploading', 'ready', 'running', 'paused', 'checked', 'done', 'failed', 'cancelled')
  ),
  format text not null check (format in ('csv', 'ndjson')),
  -- File name, options, columns and the summary of what was refused: sealed JSON.
  settings bytea not null,
  report bytea,
  actor_type text not null,
  actor_id uuid not null,
  dry_run boolean not null default false,
  size bigint not null,
  uploaded bigint not null default 0,
  -- How far the work has come: this many bytes of the file and rows of data. Moved in the transaction of the rows.
  position bigint not null default 0,
  rows integer not null default 0,
  created integer not null default 0,
  updated integer not null default 0,
  unchanged integer not null default 0,
  refused integer not null default 0,
  refused_bytes bigint not null default 0,
  -- Why it failed, in words without values.
  problem text,
  -- Nobody else takes it before; when paused, nobody at all.
  due_at timestamptz(3) not null,
  -- Runs since the last progress.
  attempts integer not null default 0,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  -- When the file and the refused rows are removed.
  expires_at timestamptz(3),
  primary key (workspace_id, id)
);

create index lead_imports_due on lead_imports (due_at)
where state in ('running', 'paused');

create index lead_imports_to_expire on lead_imports (expires_at)
where expires_at is not null;

create table lead_import_pieces (
  workspace_id uuid not null,
  import_id uuid not null,
  kind text not null check (kind in ('file', 'refused')),
  -- Where the piece begins in the file or in the file of refused rows, in bytes.
  start bigint not null,
  bytes bytea not null,
  primary key (workspace_id, import_id, kind, start),
  foreign key (workspace_id, import_id) references lead_imports (workspace_id, id) on delete cascade
);

-- What a dry run would have created so far: later rows with the same matcher would find it.
create table lead_import_dry_names (
  workspace_id uuid not null,
  import_id uuid not null,
  name bytea not null,
  primary key (workspace_id, import_id, name),
  foreign key (workspace_id, import_id) references lead_imports (workspace_id, id) on delete cascade
);
