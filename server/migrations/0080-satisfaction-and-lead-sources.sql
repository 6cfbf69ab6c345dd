-- Questions to customers after their conversation was closed; see inbox/satisfaction/. Only workspaces that have used it
-- have a row.
create table satisfaction_settings (
  workspace_id uuid primary key,
  is_enabled boolean not null,
  -- The team's own words and choices, none of a customer.
  settings jsonb not null,
  -- The recorded changes of conversations up to this id were looked at.
  position uuid not null,
  updated_at timestamptz(3) not null
);
create index satisfaction_settings_enabled on satisfaction_settings (workspace_id)
where is_enabled;

-- A question, and what the customer answered. The comment is a message of the conversation.
create table satisfaction_ratings (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  connection_id uuid not null,
  -- The change that closed the conversation.
  closing_id uuid not null,
  status text not null check (status in ('waiting', 'asked', 'rated', 'cancelled', 'skipped')),
  -- Why it was cancelled or skipped.
  reason text,
  -- Who had answered last: a key, a person or team token, or an automation rule. A phone has no id.
  answered_by text not null check (answered_by in ('agent', 'user', 'token', 'system')),
  answerer_id uuid,
  scale smallint not null check (scale in (3, 5)),
  score smallint,
  -- The question, and the message with the score.
  message_id uuid,
  answer_id uuid,
  created_at timestamptz(3) not null,
  -- When a process works on it next: then the end of its lease; null: never.
  next_at timestamptz(3),
  asked_at timestamptz(3),
  rated_at timestamptz(3),
  primary key (workspace_id, id)
);
create unique index satisfaction_ratings_closing on satisfaction_ratings (workspace_id, closing_id);
create index satisfaction_ratings_conversation on satisfaction_ratings (workspace_id, conversation_id, created_at);
create index satisfaction_ratings_created on satisfaction_ratings (workspace_id, created_at);
create index satisfaction_ratings_next on satisfaction_ratings (workspace_id, next_at)
where next_at is not null;
create index satisfaction_ratings_rated on satisfaction_ratings (workspace_id, id)
where status = 'rated';

-- Where leads come from besides forms and chats; see leads/sources/.
create table lead_sources (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('webhook', 'lead_ads')),
  name text not null,
  is_enabled boolean not null,
  -- Secret, mapping and what else it consists of, encrypted.
  settings bytea not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

-- What a source has sent: until it is a lead, and then for the test page.
create table lead_source_requests (
  workspace_id uuid not null,
  id uuid not null,
  source_id uuid not null,
  -- Digest of the sender's id, or of the body: what was received once is not processed twice.
  digest bytea not null,
  status text not null check (status in ('waiting', 'done', 'failed')),
  -- What was received, encrypted.
  content bytea not null,
  -- What it was mapped to, or why that failed, encrypted.
  result bytea,
  lead_id uuid,
  attempts smallint not null default 0,
  received_at timestamptz(3) not null,
  -- When a process works on it next: then the end of its lease; null: it is done.
  next_at timestamptz(3),
  primary key (workspace_id, id)
);
create unique index lead_source_requests_digest on lead_source_requests (workspace_id, source_id, digest);
create index lead_source_requests_source on lead_source_requests (workspace_id, source_id, id);
create index lead_source_requests_next on lead_source_requests (workspace_id, next_at)
where next_at is not null;
create index lead_source_requests_lead on lead_source_requests (workspace_id, lead_id)
where lead_id is not null;
create index lead_source_requests_time on lead_source_requests (workspace_id, received_at);
-- For erasing a customer: those that are no lead.
create index lead_source_requests_open on lead_source_requests (workspace_id, id)
where lead_id is null;

-- How a lead came: the first time and the last time; see leads/sources/attribution.ts.
create table lead_attributions (
  workspace_id uuid not null,
  lead_id uuid not null,
  -- Channel, campaign and click ids, encrypted.
  first_touch bytea not null,
  last_touch bytea not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  primary key (workspace_id, lead_id)
);
