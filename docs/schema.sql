-- The schema after all migrations, on every PostgreSQL alike. Written by the tests: UPDATE_SCHEMA=1 npm test

create table api_keys (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  key_hash bytea not null,
  last_four text not null,
  previous_key_hash bytea,
  previous_valid_until timestamp(3) with time zone,
  scopes text[] not null,
  connection_ids uuid[] not null,
  phone_visibility text not null,
  allowlist text[] not null,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  created_by uuid,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone,
  answers_new_conversations boolean not null default true,
  unanswered_sends smallint,
  daily_sends integer,
  paused_at timestamp(3) with time zone,
  paused_why text,
  quiet_seconds smallint,
  max_parts smallint,
  show_typing boolean not null default false,
  approval jsonb,
  oauth_client text,
  oauth_redirect text,
  instructions_version integer not null default 0,
  tools_off text[] not null default '{}'::text[],
  capacity integer,
  constraint api_keys_answers_check CHECK (((NOT answers_new_conversations) OR ('inbox.write'::text = ANY (scopes)))),
  constraint api_keys_capacity_check CHECK (((capacity >= 1) AND (capacity <= 100000))),
  constraint api_keys_check CHECK (((previous_key_hash IS NULL) = (previous_valid_until IS NULL))),
  constraint api_keys_daily_sends_check CHECK (((daily_sends >= 1) AND (daily_sends <= 100000))),
  constraint api_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  constraint api_keys_last_four_check CHECK ((char_length(last_four) = 4)),
  constraint api_keys_max_parts_check CHECK (((max_parts >= 1) AND (max_parts <= 10))),
  constraint api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint api_keys_oauth_check CHECK (((oauth_client IS NULL) = (oauth_redirect IS NULL))) NOT VALID,
  constraint api_keys_paused_check CHECK (((paused_at IS NULL) = (paused_why IS NULL))),
  constraint api_keys_paused_why_check CHECK ((paused_why = ANY (ARRAY['same_call'::text, 'same_text'::text]))),
  constraint api_keys_phone_visibility_check CHECK ((phone_visibility = ANY (ARRAY['full'::text, 'masked'::text]))),
  constraint api_keys_previous_key_hash_check CHECK ((octet_length(previous_key_hash) = 32)),
  constraint api_keys_quiet_seconds_check CHECK (((quiet_seconds >= 0) AND (quiet_seconds <= 30))),
  constraint api_keys_scopes_check CHECK ((cardinality(scopes) > 0)),
  constraint api_keys_unanswered_sends_check CHECK (((unanswered_sends >= 1) AND (unanswered_sends <= 50))),
  constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint api_keys_pkey PRIMARY KEY (workspace_id, id)
) with (fillfactor=80);

CREATE INDEX api_keys_expiring ON api_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE UNIQUE INDEX api_keys_hash_key ON api_keys USING btree (key_hash);
CREATE UNIQUE INDEX api_keys_previous_hash_key ON api_keys USING btree (previous_key_hash) WHERE (previous_key_hash IS NOT NULL);

create table audit_log (
  scope_id uuid not null,
  id uuid not null,
  at timestamp(3) with time zone not null,
  actor_type text not null,
  actor_id uuid,
  action text not null,
  target text,
  count integer not null default 1,
  details jsonb,
  constraint audit_log_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text, 'agent'::text, 'system'::text]))),
  constraint audit_log_count_check CHECK ((count > 0)),
  constraint audit_log_pkey PRIMARY KEY (scope_id, id)
);

create table automation_macros (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  actions jsonb not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint automation_macros_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint automation_macros_pkey PRIMARY KEY (workspace_id, id)
);

create table automation_queues (
  workspace_id uuid not null,
  rules_version integer not null default 1,
  active boolean not null default false,
  "position" bigint not null,
  activities_at timestamp(3) with time zone not null,
  timers_at timestamp(3) with time zone not null,
  lease_until timestamp(3) with time zone,
  constraint automation_queues_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint automation_queues_pkey PRIMARY KEY (workspace_id)
);

CREATE INDEX automation_queues_active ON automation_queues USING btree (workspace_id) WHERE active;

create table automation_rules (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  "position" integer not null,
  enabled boolean not null,
  trigger text not null,
  after_minutes integer,
  conditions jsonb not null,
  actions jsonb not null,
  stops boolean not null,
  follows_rules boolean not null,
  version integer not null,
  enabled_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint automation_rules_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint automation_rules_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX automation_rules_position ON automation_rules USING btree (workspace_id, "position");

create table automation_runs (
  workspace_id uuid not null,
  id uuid not null,
  rule_id uuid not null,
  rule_version integer not null,
  event_key uuid not null,
  conversation_id uuid,
  lead_id uuid,
  inbound_id uuid,
  event_id uuid,
  depth smallint not null,
  state text not null,
  step smallint not null default 0,
  attempts smallint not null default 0,
  code text,
  condition smallint,
  due_at timestamp(3) with time zone,
  claimed_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  constraint automation_runs_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text, 'skipped'::text]))),
  constraint automation_runs_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX automation_runs_conversation ON automation_runs USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX automation_runs_due ON automation_runs USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX automation_runs_event ON automation_runs USING btree (workspace_id, rule_id, event_key);
CREATE INDEX automation_runs_lead ON automation_runs USING btree (workspace_id, lead_id) WHERE (lead_id IS NOT NULL);
CREATE INDEX automation_runs_rule ON automation_runs USING btree (workspace_id, rule_id, id);

create table billing_settings (
  workspace_id uuid not null,
  currency text,
  time_zone text not null,
  free_service_messages integer not null,
  constraint billing_settings_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint billing_settings_free_service_messages_check CHECK (((free_service_messages >= 0) AND (free_service_messages <= 1000000))),
  constraint billing_settings_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint billing_settings_pkey PRIMARY KEY (workspace_id)
);

create table broadcast_recipients (
  workspace_id uuid not null,
  id uuid not null,
  broadcast_id uuid not null,
  lead_id uuid not null,
  variant smallint not null,
  status text not null,
  reason text,
  phone_key uuid,
  country text,
  due_at timestamp(3) with time zone,
  claimed_at timestamp(3) with time zone,
  claimed_until timestamp(3) with time zone,
  conversation_id uuid,
  message_id uuid,
  sent_at timestamp(3) with time zone,
  answered_at timestamp(3) with time zone,
  opted_out_at timestamp(3) with time zone,
  charge text,
  cost numeric,
  created_at timestamp(3) with time zone not null,
  constraint broadcast_recipients_charge_check CHECK ((charge = ANY (ARRAY['charged'::text, 'free'::text, 'unknown'::text]))),
  constraint broadcast_recipients_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'excluded'::text, 'skipped'::text]))),
  constraint broadcast_recipients_workspace_id_broadcast_id_fkey FOREIGN KEY (workspace_id, broadcast_id) REFERENCES broadcasts(workspace_id, id) ON DELETE CASCADE,
  constraint broadcast_recipients_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX broadcast_recipients_claimed ON broadcast_recipients USING btree (workspace_id, claimed_at) WHERE (claimed_at IS NOT NULL);
CREATE INDEX broadcast_recipients_conversation ON broadcast_recipients USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX broadcast_recipients_lead ON broadcast_recipients USING btree (workspace_id, lead_id);
CREATE INDEX broadcast_recipients_list ON broadcast_recipients USING btree (workspace_id, broadcast_id, id);
CREATE INDEX broadcast_recipients_message ON broadcast_recipients USING btree (workspace_id, message_id) WHERE (message_id IS NOT NULL);
CREATE INDEX broadcast_recipients_pending ON broadcast_recipients USING btree (workspace_id, broadcast_id, due_at) WHERE (status = 'pending'::text);
CREATE UNIQUE INDEX broadcast_recipients_phone ON broadcast_recipients USING btree (workspace_id, broadcast_id, phone_key) WHERE (phone_key IS NOT NULL);

create table broadcasts (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  state text not null,
  reason text,
  connection_id uuid not null,
  content bytea not null,
  options jsonb not null,
  cursor text,
  counts jsonb,
  results jsonb,
  results_at timestamp(3) with time zone,
  quality text,
  start_at timestamp(3) with time zone,
  local_at text,
  time_zone text,
  next_at timestamp(3) with time zone,
  actor_type text not null,
  actor_id uuid not null,
  started_by uuid,
  approved_by uuid,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  constraint broadcasts_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text, 'agent'::text]))),
  constraint broadcasts_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'collecting'::text, 'ready'::text, 'awaiting_approval'::text, 'scheduled'::text, 'running'::text, 'paused'::text, 'done'::text, 'cancelled'::text]))),
  constraint broadcasts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint broadcasts_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX broadcasts_due ON broadcasts USING btree (next_at) WHERE (next_at IS NOT NULL);

create table budget_counts (
  workspace_id uuid not null,
  version bigint not null default 0,
  counted_at timestamp(3) with time zone,
  count_ms integer not null default 0,
  month_from timestamp(3) with time zone not null,
  free_used jsonb not null default '{}'::jsonb,
  charged jsonb not null default '{}'::jsonb,
  highest_prices jsonb not null default '{}'::jsonb,
  constraint budget_counts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint budget_counts_pkey PRIMARY KEY (workspace_id)
);

CREATE INDEX budget_counts_time ON budget_counts USING btree (counted_at);

create table budget_reservations (
  workspace_id uuid not null,
  message_id uuid not null,
  part integer not null,
  connection_id uuid not null,
  number_id text not null,
  key_id uuid,
  is_free boolean not null,
  price numeric(20,8),
  reserved_at timestamp(3) with time zone not null,
  constraint budget_reservations_pkey PRIMARY KEY (workspace_id, message_id, part)
);

CREATE INDEX budget_reservations_free ON budget_reservations USING btree (workspace_id, number_id, reserved_at) WHERE is_free;

create table budgets (
  workspace_id uuid not null,
  id uuid not null,
  scope text not null,
  scope_id uuid not null,
  unit text not null,
  currency text,
  period text not null,
  max_amount numeric(20,8) not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  period_from timestamp(3) with time zone not null,
  period_until timestamp(3) with time zone not null,
  used numeric(28,8) not null default 0,
  reserved numeric(28,8) not null default 0,
  warned_at timestamp(3) with time zone,
  reached_at timestamp(3) with time zone,
  constraint budgets_check CHECK (((unit = 'money'::text) = (currency IS NOT NULL))),
  constraint budgets_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint budgets_max_amount_check CHECK ((max_amount > (0)::numeric)),
  constraint budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text]))),
  constraint budgets_scope_check CHECK ((scope = ANY (ARRAY['workspace'::text, 'connection'::text, 'key'::text]))),
  constraint budgets_unit_check CHECK ((unit = ANY (ARRAY['money'::text, 'messages'::text]))),
  constraint budgets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint budgets_pkey PRIMARY KEY (workspace_id, id),
  constraint budgets_workspace_id_scope_scope_id_unit_period_key UNIQUE (workspace_id, scope, scope_id, unit, period)
);

create table canned_replies (
  workspace_id uuid not null,
  id uuid not null,
  shortcut text not null,
  text text not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint canned_replies_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint canned_replies_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX canned_replies_shortcut_key ON canned_replies USING btree (workspace_id, shortcut);

create table channel_sessions (
  workspace_id uuid not null,
  connection_id uuid not null,
  state text not null,
  reason text,
  state_changed_at timestamp(3) with time zone not null,
  is_paired boolean not null default false,
  wish text,
  pairing bytea,
  shown_until timestamp(3) with time zone,
  attempt integer not null default 0,
  next_attempt_at timestamp(3) with time zone,
  holder uuid,
  fence bigint not null default 0,
  lease_until timestamp with time zone,
  lease_session text,
  constraint channel_sessions_state_check CHECK ((state = ANY (ARRAY['unpaired'::text, 'pairing'::text, 'connecting'::text, 'open'::text, 'waiting'::text, 'stopped'::text]))),
  constraint channel_sessions_wish_check CHECK ((wish = ANY (ARRAY['pair'::text, 'unpair'::text, 'open'::text]))),
  constraint channel_sessions_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES connections(workspace_id, id) ON DELETE CASCADE,
  constraint channel_sessions_pkey PRIMARY KEY (workspace_id, connection_id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.01);

CREATE INDEX channel_sessions_wanted ON channel_sessions USING btree (workspace_id, connection_id) WHERE ((wish IS NOT NULL) OR (state = ANY (ARRAY['pairing'::text, 'connecting'::text, 'open'::text, 'waiting'::text])));

create table chores (
  name text not null,
  next_at timestamp(3) with time zone not null,
  constraint chores_pkey PRIMARY KEY (name)
);

create table connection_billing (
  workspace_id uuid not null,
  connection_id uuid not null,
  currency text not null,
  constraint connection_billing_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint connection_billing_pkey PRIMARY KEY (workspace_id, connection_id)
);

create table connections (
  workspace_id uuid not null,
  id uuid not null,
  channel text not null,
  name text not null,
  number_id text not null,
  account_id text,
  settings bytea not null,
  state text not null,
  state_reason text,
  state_changed_at timestamp(3) with time zone not null,
  acknowledged_at timestamp(3) with time zone,
  acknowledged_by uuid,
  is_on_phone boolean not null default false,
  last_event_in_at timestamp(3) with time zone,
  last_event_out_at timestamp(3) with time zone,
  lag_ms integer,
  worst_lag_ms integer,
  worst_lag_at timestamp(3) with time zone,
  templates_synced_at timestamp(3) with time zone,
  templates_due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  removed_at timestamp(3) with time zone,
  reserved_as text,
  phone text,
  holds jsonb not null default '[]'::jsonb,
  sends_marketing boolean not null default false,
  number_status jsonb,
  number_status_due_at timestamp with time zone,
  check_report jsonb,
  history_requests jsonb,
  checks_since timestamp(3) with time zone,
  check_count integer,
  constraint connections_channel_check CHECK ((channel = ANY (ARRAY['waba'::text, 'unofficial'::text, 'partner'::text, 'website'::text]))) NOT VALID,
  constraint connections_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'unavailable'::text]))),
  constraint connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint connections_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX connections_id_key ON connections USING btree (id);
CREATE UNIQUE INDEX connections_number_key ON connections USING btree (channel, reserved_as) WHERE (removed_at IS NULL);
CREATE UNIQUE INDEX connections_own_number_key ON connections USING btree (workspace_id, channel, number_id) WHERE (removed_at IS NULL);
CREATE INDEX connections_templates_due ON connections USING btree (templates_due_at) WHERE (templates_due_at IS NOT NULL);

create table consents (
  workspace_id uuid not null,
  id uuid not null,
  channel text not null,
  purpose text not null,
  decision text not null,
  source text not null,
  customer bytea not null,
  phone_index bytea,
  user_index bytea,
  index_version integer not null,
  connection_id uuid,
  actor_type text not null,
  actor_id uuid,
  reported_at timestamp(3) with time zone,
  decided_at timestamp(3) with time zone not null,
  is_late boolean not null,
  constraint consents_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'form'::text, 'system'::text]))),
  constraint consents_channel_check CHECK ((channel = 'whatsapp'::text)),
  constraint consents_decision_check CHECK ((decision = ANY (ARRAY['opted_in'::text, 'opted_out'::text]))),
  constraint consents_purpose_check CHECK ((purpose = ANY (ARRAY['marketing'::text, 'utility'::text]))) NOT VALID,
  constraint consents_source_check CHECK ((source = ANY (ARRAY['platform'::text, 'platform_error'::text, 'keyword'::text, 'form'::text, 'member'::text, 'agent'::text]))),
  constraint consents_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX consents_phone ON consents USING btree (workspace_id, phone_index) WHERE (phone_index IS NOT NULL);
CREATE INDEX consents_user ON consents USING btree (workspace_id, user_index) WHERE (user_index IS NOT NULL);

create table conversation_activities (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  kind text not null,
  detail jsonb not null,
  reason text,
  actor_type text not null,
  actor_id uuid,
  created_at timestamp(3) with time zone not null,
  constraint conversation_activities_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'system'::text]))),
  constraint conversation_activities_kind_check CHECK ((kind = ANY (ARRAY['owner'::text, 'status'::text, 'assignee'::text, 'team'::text, 'labels'::text, 'priority'::text, 'goal'::text, 'consent'::text, 'over_budget'::text, 'standby'::text, 'draft'::text, 'task'::text]))) NOT VALID,
  constraint conversation_activities_reason_check CHECK ((reason = ANY (ARRAY['began'::text, 'customer_wrote'::text, 'sent'::text, 'phone'::text, 'timer'::text, 'watchdog'::text, 'agents_stopped'::text, 'key_ended'::text, 'merged'::text, 'round_robin'::text, 'least_busy'::text, 'capacity'::text, 'no_answer'::text, 'took_next'::text]))) NOT VALID,
  constraint conversation_activities_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint conversation_activities_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX conversation_activities_time ON conversation_activities USING btree (workspace_id, conversation_id, created_at, id);

create table conversation_aliases (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  constraint conversation_aliases_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint conversation_aliases_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX conversation_aliases_conversation ON conversation_aliases USING btree (workspace_id, conversation_id);

create table conversation_handovers (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  from_key_id uuid,
  to_type text not null,
  to_key_id uuid,
  to_user_id uuid,
  urgency text not null,
  words bytea not null,
  actor_type text not null,
  actor_id uuid not null,
  created_at timestamp(3) with time zone not null,
  constraint conversation_handovers_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text]))),
  constraint conversation_handovers_check CHECK (((to_type = 'agent'::text) = (to_key_id IS NOT NULL))),
  constraint conversation_handovers_check1 CHECK (((to_type = 'people'::text) OR (to_user_id IS NULL))),
  constraint conversation_handovers_to_type_check CHECK ((to_type = ANY (ARRAY['people'::text, 'agent'::text, 'agents'::text]))),
  constraint conversation_handovers_urgency_check CHECK ((urgency = ANY (ARRAY['low'::text, 'normal'::text, 'high'::text]))),
  constraint conversation_handovers_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint conversation_handovers_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX conversation_handovers_time ON conversation_handovers USING btree (workspace_id, conversation_id, created_at, id);

create table conversation_notes (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  text bytea not null,
  actor_type text not null,
  actor_id uuid,
  idempotency_key text,
  created_at timestamp(3) with time zone not null,
  constraint conversation_notes_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint conversation_notes_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX conversation_notes_conversation ON conversation_notes USING btree (workspace_id, conversation_id, id);
CREATE UNIQUE INDEX conversation_notes_key ON conversation_notes USING btree (workspace_id, actor_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX conversation_notes_time ON conversation_notes USING btree (workspace_id, conversation_id, created_at, id);

create table conversation_search (
  workspace_id uuid not null,
  conversation_id uuid not null,
  index_version integer not null,
  tokens integer[] not null,
  constraint conversation_search_pkey PRIMARY KEY (workspace_id, conversation_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02);

CREATE INDEX conversation_search_tokens ON conversation_search USING gin (tokens) WITH (fastupdate='on', gin_pending_list_limit='1024');

create table conversations (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  channel text not null,
  contact bytea not null,
  user_index bytea,
  phone_index bytea,
  phone_exact_index bytea,
  index_version integer not null,
  owner_key_id uuid,
  owner_epoch integer not null default 0,
  owner_since timestamp(3) with time zone not null,
  status text not null,
  snoozed_until timestamp(3) with time zone,
  assigned_to uuid,
  label_ids uuid[] not null default '{}'::uuid[],
  unread_count integer not null default 0,
  window_expires_at timestamp(3) with time zone,
  last_message_at timestamp(3) with time zone not null,
  unanswered_since timestamp(3) with time zone,
  last_message bytea,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  starts_held_until timestamp(3) with time zone,
  held boolean not null default false,
  handover bytea,
  is_moving boolean not null default false,
  now_unread_count integer,
  now_last_message_at timestamp(3) with time zone,
  now_unanswered_since timestamp(3) with time zone,
  now_updated_at timestamp(3) with time zone,
  newest_inbound_id uuid,
  seen_inbound_id uuid,
  answered_inbound_id uuid,
  thread_owner text,
  thread_at timestamp(3) with time zone,
  team_id uuid,
  priority smallint,
  goal jsonb,
  goal_due_at timestamp(3) with time zone,
  now_goal_due_at timestamp(3) with time zone,
  goal_missed_at timestamp(3) with time zone,
  constraint conversations_priority_check CHECK (((priority >= 1) AND (priority <= 4))) NOT VALID,
  constraint conversations_status_check CHECK ((status = ANY (ARRAY['open'::text, 'pending'::text, 'snoozed'::text, 'resolved'::text, 'closed'::text]))),
  constraint conversations_unread_count_check CHECK ((unread_count >= 0)),
  constraint conversations_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES connections(workspace_id, id),
  constraint conversations_pkey PRIMARY KEY (workspace_id, id)
) with (fillfactor=75, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05);

CREATE INDEX conversations_connection ON conversations USING btree (workspace_id, connection_id, updated_at);
CREATE INDEX conversations_counted ON conversations USING btree (workspace_id, ((unread_count > 0)), ((owner_key_id IS NULL)), assigned_to, owner_key_id, unread_count) WHERE (status = 'open'::text);
CREATE INDEX conversations_goal_due ON conversations USING btree (workspace_id, goal_due_at) WHERE (goal_due_at IS NOT NULL);
CREATE INDEX conversations_goal_missed ON conversations USING btree (workspace_id, goal_missed_at) WHERE (goal_missed_at IS NOT NULL);
CREATE INDEX conversations_handed_over ON conversations USING btree (workspace_id, last_message_at) WHERE (handover IS NOT NULL);
CREATE INDEX conversations_labelled ON conversations USING gin (label_ids) WHERE (label_ids <> '{}'::uuid[]);
CREATE INDEX conversations_owner ON conversations USING btree (workspace_id, owner_key_id, updated_at);
CREATE UNIQUE INDEX conversations_phone_key ON conversations USING btree (workspace_id, phone_index, connection_id) WHERE (phone_index IS NOT NULL);
CREATE INDEX conversations_priority ON conversations USING btree (workspace_id, priority, id) WHERE (priority IS NOT NULL);
CREATE INDEX conversations_recent ON conversations USING btree (workspace_id, last_message_at);
CREATE INDEX conversations_recent_agents ON conversations USING btree (workspace_id, status, last_message_at) WHERE (owner_key_id IS NOT NULL);
CREATE INDEX conversations_recent_assigned ON conversations USING btree (workspace_id, assigned_to, last_message_at) WHERE (assigned_to IS NOT NULL);
CREATE INDEX conversations_recent_connection ON conversations USING btree (workspace_id, connection_id, last_message_at);
CREATE INDEX conversations_recent_status ON conversations USING btree (workspace_id, status, last_message_at);
CREATE INDEX conversations_recent_team ON conversations USING btree (workspace_id, team_id, last_message_at) WHERE (team_id IS NOT NULL);
CREATE INDEX conversations_recent_unassigned ON conversations USING btree (workspace_id, status, last_message_at) WHERE ((owner_key_id IS NULL) AND (assigned_to IS NULL));
CREATE INDEX conversations_snoozed ON conversations USING btree (snoozed_until) WHERE (snoozed_until IS NOT NULL);
CREATE INDEX conversations_status ON conversations USING btree (workspace_id, status, updated_at);
CREATE INDEX conversations_unread ON conversations USING btree (workspace_id, last_message_at) WHERE (unread_count > 0);
CREATE INDEX conversations_updated ON conversations USING btree (workspace_id, updated_at);
CREATE UNIQUE INDEX conversations_user_key ON conversations USING btree (workspace_id, connection_id, user_index) WHERE (user_index IS NOT NULL);
CREATE INDEX conversations_waiting ON conversations USING btree (workspace_id, unanswered_since) WHERE (unanswered_since IS NOT NULL);

create table dispatches (
  workspace_id uuid not null,
  message_id uuid not null,
  conversation_id uuid not null,
  turn integer not null,
  owner_epoch integer,
  alive_until timestamp(3) with time zone not null,
  starting_until timestamp(3) with time zone,
  verdict text,
  external_id bytea,
  constraint dispatches_verdict_check CHECK ((verdict = ANY (ARRAY['accepted'::text, 'refused'::text, 'undelivered'::text, 'stopped'::text]))),
  constraint dispatches_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES messages(workspace_id, id) ON DELETE CASCADE,
  constraint dispatches_pkey PRIMARY KEY (workspace_id, message_id)
);

CREATE INDEX dispatches_abandoned ON dispatches USING btree (alive_until);
CREATE UNIQUE INDEX dispatches_turn_key ON dispatches USING btree (workspace_id, conversation_id, turn);

create table drafts (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  key_id uuid not null,
  status text not null,
  why text not null,
  content bytea not null,
  inbound_id uuid,
  owner_epoch integer not null,
  created_at timestamp(3) with time zone not null,
  decided_at timestamp(3) with time zone,
  actor_type text,
  actor_id uuid,
  decision bytea,
  distance real,
  message_id uuid,
  constraint drafts_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint drafts_distance_check CHECK (((distance >= (0)::double precision) AND (distance <= (1)::double precision))),
  constraint drafts_status_check CHECK ((status = ANY (ARRAY['open'::text, 'sent'::text, 'edited'::text, 'rejected'::text, 'replaced'::text, 'stale'::text]))),
  constraint drafts_why_check CHECK ((why = ANY (ARRAY['always'::text, 'outside_hours'::text, 'first_answer'::text, 'label'::text, 'amount'::text]))),
  constraint drafts_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX drafts_conversation ON drafts USING btree (workspace_id, conversation_id, created_at DESC);
CREATE UNIQUE INDEX drafts_open ON drafts USING btree (workspace_id, conversation_id) WHERE (status = 'open'::text);

create table erasures (
  workspace_id uuid not null,
  id uuid not null,
  state text not null,
  named_by text not null,
  subject bytea,
  part integer not null default 0,
  place text,
  removed jsonb not null default '{}'::jsonb,
  actor_type text not null,
  actor_id uuid not null,
  due_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  constraint erasures_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint erasures_check CHECK (((state = 'done'::text) = (finished_at IS NOT NULL))),
  constraint erasures_check1 CHECK (((state = 'done'::text) = (subject IS NULL))),
  constraint erasures_named_by_check CHECK ((named_by = ANY (ARRAY['phone'::text, 'email'::text, 'lead'::text, 'conversation'::text]))),
  constraint erasures_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text]))),
  constraint erasures_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint erasures_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX erasures_due ON erasures USING btree (due_at) WHERE (state = 'running'::text);

create table event_feeds (
  workspace_id uuid not null,
  last_position bigint not null default 0,
  removed_to bigint not null default 0,
  constraint event_feeds_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint event_feeds_pkey PRIMARY KEY (workspace_id)
);

create table events (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  subject_id uuid not null,
  connection_id uuid,
  payload bytea not null,
  occurred_at timestamp(3) with time zone not null,
  seq bigint not null default nextval('events_seq_seq'::regclass),
  "position" bigint,
  test_endpoint_id uuid,
  actor_type text,
  actor_id uuid,
  part_of text,
  changes bytea,
  trace bytea,
  constraint events_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'form'::text, 'system'::text]))),
  constraint events_pkey PRIMARY KEY (workspace_id, id)
) partition by RANGE (id);

CREATE INDEX events_subject ON ONLY events USING btree (workspace_id, subject_id, id) WHERE (subject_id IS NOT NULL);
CREATE INDEX events_unplaced ON ONLY events USING btree (workspace_id, seq) WHERE ("position" IS NULL);

create table events_default (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  subject_id uuid not null,
  connection_id uuid,
  payload bytea not null,
  occurred_at timestamp(3) with time zone not null,
  seq bigint not null default nextval('events_seq_seq'::regclass),
  "position" bigint,
  test_endpoint_id uuid,
  actor_type text,
  actor_id uuid,
  part_of text,
  changes bytea,
  trace bytea,
  constraint events_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'form'::text, 'system'::text]))),
  constraint events_default_pkey PRIMARY KEY (workspace_id, id)
) as the partition of events for the rest;

CREATE UNIQUE INDEX events_default_position_key ON events_default USING btree (workspace_id, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX events_default_subject ON events_default USING btree (workspace_id, subject_id, id) WHERE (subject_id IS NOT NULL);
CREATE INDEX events_default_unplaced ON events_default USING btree (workspace_id, seq) WHERE ("position" IS NULL);

create table form_quota (
  workspace_id uuid not null,
  day date not null,
  form_id uuid not null,
  taken integer not null,
  constraint form_quota_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint form_quota_pkey PRIMARY KEY (workspace_id, day, form_id)
);

create table form_slugs (
  workspace_id uuid not null,
  slug text not null,
  form_id uuid not null,
  constraint form_slugs_slug_check CHECK ((slug ~ '^[a-z0-9-]{3,60}$'::text)),
  constraint form_slugs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint form_slugs_pkey PRIMARY KEY (workspace_id, slug)
);

CREATE UNIQUE INDEX form_slugs_slug_key ON form_slugs USING btree (slug);

create table form_submissions (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  lead_id uuid not null,
  nonce uuid not null,
  submitted_at timestamp(3) with time zone not null,
  answers bytea,
  constraint form_submissions_form_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE,
  constraint form_submissions_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  constraint form_submissions_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX form_submissions_form ON form_submissions USING btree (workspace_id, form_id, id);
CREATE INDEX form_submissions_lead ON form_submissions USING btree (workspace_id, lead_id, id);
CREATE UNIQUE INDEX form_submissions_nonce_key ON form_submissions USING btree (workspace_id, form_id, nonce);

create table forms (
  workspace_id uuid not null,
  id uuid not null,
  slug text not null,
  name text not null,
  title text not null,
  description text,
  fields jsonb not null,
  submit_label text not null,
  thank_you text not null,
  redirect_url text,
  allowed_origins text[] not null,
  source text not null,
  status text not null,
  active boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint forms_slug_check CHECK ((slug ~ '^[a-z0-9-]{3,60}$'::text)),
  constraint forms_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint forms_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX forms_slug_key ON forms USING btree (slug);

create table goal_updates (
  workspace_id uuid not null,
  after_id uuid not null,
  requested_at timestamp(3) with time zone not null,
  constraint goal_updates_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint goal_updates_pkey PRIMARY KEY (workspace_id)
);

create table inbox_search_progress (
  workspace_id uuid not null,
  messages_to uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  epoch integer not null default 0,
  in_epoch integer not null default 0,
  conversations_to timestamp(3) with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone,
  conversation_to uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  constraint inbox_search_progress_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint inbox_search_progress_pkey PRIMARY KEY (workspace_id)
) with (fillfactor=50);

create table instruction_versions (
  workspace_id uuid not null,
  id uuid not null,
  key_id uuid,
  connection_id uuid,
  version integer,
  text text,
  note text,
  based_on integer not null default 0,
  revision integer not null default 1,
  restores integer,
  actor_type text,
  actor_id uuid,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  published_at timestamp(3) with time zone,
  constraint instruction_versions_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint instruction_versions_check CHECK (((key_id IS NULL) OR (connection_id IS NULL))),
  constraint instruction_versions_check1 CHECK (((version IS NULL) = (published_at IS NULL))),
  constraint instruction_versions_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX instruction_versions_draft ON instruction_versions USING btree (workspace_id, key_id, connection_id) NULLS NOT DISTINCT WHERE (published_at IS NULL);
CREATE INDEX instruction_versions_time ON instruction_versions USING btree (workspace_id, key_id, connection_id, published_at DESC) WHERE (published_at IS NOT NULL);
CREATE UNIQUE INDEX instruction_versions_version ON instruction_versions USING btree (workspace_id, key_id, connection_id, version) NULLS NOT DISTINCT WHERE (published_at IS NOT NULL);

create table invitations (
  workspace_id uuid not null,
  id uuid not null,
  token_hash bytea not null,
  email bytea not null,
  role text not null,
  created_by uuid,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  accepted_at timestamp(3) with time zone,
  token bytea,
  constraint invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text]))),
  constraint invitations_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id),
  constraint invitations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint invitations_pkey PRIMARY KEY (workspace_id, id),
  constraint invitations_token_hash_key UNIQUE (token_hash)
);

create table key_calls (
  workspace_id uuid not null,
  key_id uuid not null,
  calls jsonb not null,
  constraint key_calls_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint key_calls_pkey PRIMARY KEY (workspace_id, key_id)
) with (fillfactor=50);

create table key_rotations (
  id uuid not null,
  scope_id uuid not null,
  purpose text not null,
  to_version integer not null,
  phase text not null,
  due_at timestamp(3) with time zone not null,
  at_table text,
  at_key text[],
  rows_total bigint not null default 0,
  rows_done bigint not null default 0,
  rows_broken bigint not null default 0,
  started_at timestamp(3) with time zone not null,
  rewriting_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  constraint key_rotations_phase_check CHECK ((phase = ANY (ARRAY['announced'::text, 'current'::text, 'rewriting'::text, 'done'::text]))),
  constraint key_rotations_purpose_check CHECK ((purpose = ANY (ARRAY['data'::text, 'index'::text]))),
  constraint key_rotations_pkey PRIMARY KEY (id)
);

CREATE INDEX key_rotations_due ON key_rotations USING btree (due_at) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX key_rotations_running_key ON key_rotations USING btree (scope_id) WHERE (finished_at IS NULL);

create table key_sends (
  workspace_id uuid not null,
  key_id uuid not null,
  day date not null,
  sends integer not null,
  constraint key_sends_sends_check CHECK ((sends >= 0)),
  constraint key_sends_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint key_sends_pkey PRIMARY KEY (workspace_id, key_id)
) with (fillfactor=50);

create table knowledge_articles (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  status text not null,
  language text not null,
  title text not null,
  body text not null,
  tags text[] not null,
  key_ids uuid[],
  valid_from timestamp(3) with time zone,
  valid_until timestamp(3) with time zone,
  source text not null,
  source_address text,
  version integer not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  published_at timestamp(3) with time zone,
  actor_type text not null,
  actor_id uuid not null,
  search tsvector not null,
  title_search tsvector not null,
  constraint knowledge_articles_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text, 'agent'::text]))),
  constraint knowledge_articles_kind_check CHECK ((kind = ANY (ARRAY['article'::text, 'answer'::text]))),
  constraint knowledge_articles_language_check CHECK ((language ~ '^[a-z]{2,3}$'::text)),
  constraint knowledge_articles_source_check CHECK ((source = ANY (ARRAY['app'::text, 'api'::text, 'import'::text, 'site'::text, 'conversation'::text]))),
  constraint knowledge_articles_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'archived'::text]))),
  constraint knowledge_articles_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint knowledge_articles_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX knowledge_articles_language ON knowledge_articles USING btree (workspace_id, language);
CREATE INDEX knowledge_articles_search ON knowledge_articles USING gin (search, title_search) WITH (fastupdate=off);
CREATE UNIQUE INDEX knowledge_articles_source ON knowledge_articles USING btree (workspace_id, source_address) WHERE (source_address IS NOT NULL);
CREATE INDEX knowledge_articles_updated ON knowledge_articles USING btree (workspace_id, updated_at DESC, id DESC);

create table knowledge_drafts (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  content bytea not null,
  created_at timestamp(3) with time zone not null,
  actor_type text not null,
  actor_id uuid not null,
  constraint knowledge_drafts_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint knowledge_drafts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint knowledge_drafts_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX knowledge_drafts_conversation ON knowledge_drafts USING btree (workspace_id, conversation_id);

create table knowledge_embeddings (
  workspace_id uuid not null,
  article_id uuid not null,
  version integer not null,
  model text not null,
  embedding real[] not null,
  constraint knowledge_embeddings_workspace_id_article_id_fkey FOREIGN KEY (workspace_id, article_id) REFERENCES knowledge_articles(workspace_id, id) ON DELETE CASCADE,
  constraint knowledge_embeddings_pkey PRIMARY KEY (workspace_id, article_id)
);

create table knowledge_versions (
  workspace_id uuid not null,
  article_id uuid not null,
  version integer not null,
  language text not null,
  title text not null,
  body text not null,
  tags text[] not null,
  created_at timestamp(3) with time zone not null,
  actor_type text not null,
  actor_id uuid not null,
  constraint knowledge_versions_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text, 'agent'::text]))),
  constraint knowledge_versions_workspace_id_article_id_fkey FOREIGN KEY (workspace_id, article_id) REFERENCES knowledge_articles(workspace_id, id) ON DELETE CASCADE,
  constraint knowledge_versions_pkey PRIMARY KEY (workspace_id, article_id, version)
);

create table known_sign_ins (
  mark bytea not null,
  user_id uuid not null,
  last_at timestamp(3) with time zone not null,
  constraint known_sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint known_sign_ins_pkey PRIMARY KEY (mark)
);

CREATE INDEX known_sign_ins_last_at ON known_sign_ins USING btree (last_at);
CREATE INDEX known_sign_ins_user ON known_sign_ins USING btree (user_id);

create table labels (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  color text not null,
  created_at timestamp(3) with time zone not null,
  constraint labels_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint labels_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX labels_name_key ON labels USING btree (workspace_id, lower(name));

create table lead_attributions (
  workspace_id uuid not null,
  lead_id uuid not null,
  first_touch bytea not null,
  last_touch bytea not null,
  first_at timestamp(3) with time zone not null,
  last_at timestamp(3) with time zone not null,
  constraint lead_attributions_pkey PRIMARY KEY (workspace_id, lead_id)
);

create table lead_bulk_changes (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  state text not null,
  changes jsonb,
  filter bytea,
  cursor text,
  actor_type text not null,
  actor_id uuid not null,
  total integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  failed integer not null default 0,
  undo_actor_type text,
  undo_actor_id uuid,
  undone integer not null default 0,
  kept integer not null default 0,
  "position" uuid,
  due_at timestamp(3) with time zone,
  attempts integer not null default 0,
  created_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  undo_until timestamp(3) with time zone,
  constraint lead_bulk_changes_kind_check CHECK ((kind = ANY (ARRAY['change'::text, 'delete'::text, 'import'::text, 'labels'::text, 'sequence'::text]))) NOT VALID,
  constraint lead_bulk_changes_state_check CHECK ((state = ANY (ARRAY['collecting'::text, 'running'::text, 'done'::text, 'cancelled'::text, 'failed'::text, 'undoing'::text, 'undone'::text]))),
  constraint lead_bulk_changes_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint lead_bulk_changes_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX lead_bulk_changes_due ON lead_bulk_changes USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX lead_bulk_changes_to_forget ON lead_bulk_changes USING btree (undo_until) WHERE (undo_until IS NOT NULL);

create table lead_bulk_items (
  workspace_id uuid not null,
  change_id uuid not null,
  lead_id uuid not null,
  outcome text,
  before bytea,
  left_at timestamp(3) with time zone,
  constraint lead_bulk_items_outcome_check CHECK ((outcome = ANY (ARRAY['created'::text, 'changed'::text, 'unchanged'::text, 'deleted'::text, 'failed'::text]))),
  constraint lead_bulk_items_workspace_id_change_id_fkey FOREIGN KEY (workspace_id, change_id) REFERENCES lead_bulk_changes(workspace_id, id) ON DELETE CASCADE,
  constraint lead_bulk_items_pkey PRIMARY KEY (workspace_id, change_id, lead_id)
);

create table lead_contacts (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  merge_id uuid not null,
  kind text not null,
  value bytea not null,
  digest bytea not null,
  index_version integer not null,
  constraint lead_contacts_kind_check CHECK ((kind = ANY (ARRAY['phone'::text, 'email'::text]))),
  constraint lead_contacts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint lead_contacts_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_contacts_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX lead_contacts_digest ON lead_contacts USING btree (workspace_id, digest);
CREATE INDEX lead_contacts_lead ON lead_contacts USING btree (workspace_id, lead_id);

create table lead_fields (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  label text not null,
  type text not null,
  choices text[] not null,
  required boolean not null,
  shown_in text[] not null,
  place integer not null,
  archived_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  constraint lead_fields_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint lead_fields_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX lead_fields_key ON lead_fields USING btree (workspace_id, key);

create table lead_import_dry_names (
  workspace_id uuid not null,
  import_id uuid not null,
  name bytea not null,
  constraint lead_import_dry_names_workspace_id_import_id_fkey FOREIGN KEY (workspace_id, import_id) REFERENCES lead_imports(workspace_id, id) ON DELETE CASCADE,
  constraint lead_import_dry_names_pkey PRIMARY KEY (workspace_id, import_id, name)
);

create table lead_import_pieces (
  workspace_id uuid not null,
  import_id uuid not null,
  kind text not null,
  start bigint not null,
  bytes bytea not null,
  constraint lead_import_pieces_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'refused'::text]))),
  constraint lead_import_pieces_workspace_id_import_id_fkey FOREIGN KEY (workspace_id, import_id) REFERENCES lead_imports(workspace_id, id) ON DELETE CASCADE,
  constraint lead_import_pieces_pkey PRIMARY KEY (workspace_id, import_id, kind, start)
);

create table lead_imports (
  workspace_id uuid not null,
  id uuid not null,
  state text not null,
  format text not null,
  settings bytea not null,
  report bytea,
  actor_type text not null,
  actor_id uuid not null,
  dry_run boolean not null default false,
  size bigint not null,
  uploaded bigint not null default 0,
  "position" bigint not null default 0,
  rows integer not null default 0,
  created integer not null default 0,
  updated integer not null default 0,
  unchanged integer not null default 0,
  refused integer not null default 0,
  refused_bytes bigint not null default 0,
  problem text,
  due_at timestamp(3) with time zone not null,
  attempts integer not null default 0,
  created_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  constraint lead_imports_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'ndjson'::text]))),
  constraint lead_imports_state_check CHECK ((state = ANY (ARRAY['uploading'::text, 'ready'::text, 'running'::text, 'paused'::text, 'checked'::text, 'done'::text, 'failed'::text, 'cancelled'::text]))),
  constraint lead_imports_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint lead_imports_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX lead_imports_due ON lead_imports USING btree (due_at) WHERE (state = ANY (ARRAY['running'::text, 'paused'::text]));
CREATE INDEX lead_imports_kept ON lead_imports USING btree (workspace_id) WHERE ((expires_at IS NOT NULL) OR (state = ANY (ARRAY['running'::text, 'paused'::text])));
CREATE INDEX lead_imports_to_expire ON lead_imports USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table lead_label_changes (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  added uuid[] not null,
  removed uuid[] not null,
  actor_type text not null,
  actor_id uuid,
  changed_at timestamp(3) with time zone not null,
  constraint lead_label_changes_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_label_changes_pkey PRIMARY KEY (workspace_id, lead_id, id)
);

create table lead_labels (
  workspace_id uuid not null,
  lead_id uuid not null,
  label_id uuid not null,
  constraint lead_labels_workspace_id_label_id_fkey FOREIGN KEY (workspace_id, label_id) REFERENCES labels(workspace_id, id) ON DELETE CASCADE,
  constraint lead_labels_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_labels_pkey PRIMARY KEY (workspace_id, lead_id, label_id)
);

CREATE INDEX lead_labels_label ON lead_labels USING btree (workspace_id, label_id, lead_id);

create table lead_merges (
  workspace_id uuid not null,
  id uuid not null,
  kept_id uuid not null,
  merged_id uuid not null,
  former bytea,
  moved_changes uuid[],
  moved_submissions uuid[],
  moved_contacts uuid[],
  marked_imports uuid[],
  changes_count integer not null default 0,
  submissions_count integer not null default 0,
  actor_type text not null,
  actor_id uuid not null,
  merged_at timestamp(3) with time zone not null,
  undo_until timestamp(3) with time zone,
  undone_at timestamp(3) with time zone,
  undone_by_type text,
  undone_by_id uuid,
  left_fields text[],
  moved_notes uuid[],
  moved_tasks uuid[],
  constraint lead_merges_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint lead_merges_workspace_id_kept_id_fkey FOREIGN KEY (workspace_id, kept_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_merges_workspace_id_merged_id_fkey FOREIGN KEY (workspace_id, merged_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_merges_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX lead_merges_kept ON lead_merges USING btree (workspace_id, kept_id, id);
CREATE INDEX lead_merges_merged ON lead_merges USING btree (workspace_id, merged_id, id);
CREATE INDEX lead_merges_to_forget ON lead_merges USING btree (undo_until) WHERE (undo_until IS NOT NULL);

create table lead_notes (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  text bytea not null,
  actor_type text not null,
  actor_id uuid not null,
  idempotency_key text,
  created_at timestamp(3) with time zone not null,
  constraint lead_notes_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint lead_notes_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_notes_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX lead_notes_key ON lead_notes USING btree (workspace_id, actor_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX lead_notes_lead ON lead_notes USING btree (workspace_id, lead_id, id);

create table lead_quota (
  workspace_id uuid not null,
  day date not null,
  granted integer not null,
  constraint lead_quota_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint lead_quota_pkey PRIMARY KEY (workspace_id, day)
);

create table lead_quota_slots (
  workspace_id uuid not null,
  day date not null,
  slot smallint not null,
  room integer not null,
  quota integer not null,
  constraint lead_quota_slots_room_check CHECK ((room >= 0)),
  constraint lead_quota_slots_workspace_id_day_fkey FOREIGN KEY (workspace_id, day) REFERENCES lead_quota(workspace_id, day) ON DELETE CASCADE,
  constraint lead_quota_slots_pkey PRIMARY KEY (workspace_id, day, slot)
) with (fillfactor=50);

create table lead_search (
  workspace_id uuid not null,
  lead_id uuid not null,
  index_version integer not null,
  tokens integer[] not null,
  constraint lead_search_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_search_pkey PRIMARY KEY (workspace_id, lead_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02);

CREATE INDEX lead_search_tokens ON lead_search USING gin (tokens) WITH (fastupdate='on', gin_pending_list_limit='4096');

create table lead_search_feeds (
  workspace_id uuid not null,
  "position" bigint not null,
  rules smallint not null default 1,
  renewed_to uuid,
  constraint lead_search_feeds_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint lead_search_feeds_pkey PRIMARY KEY (workspace_id)
) with (fillfactor=50);

create table lead_source_requests (
  workspace_id uuid not null,
  id uuid not null,
  source_id uuid not null,
  digest bytea not null,
  status text not null,
  content bytea not null,
  result bytea,
  lead_id uuid,
  attempts smallint not null default 0,
  received_at timestamp(3) with time zone not null,
  next_at timestamp(3) with time zone,
  constraint lead_source_requests_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'done'::text, 'failed'::text]))),
  constraint lead_source_requests_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX lead_source_requests_digest ON lead_source_requests USING btree (workspace_id, source_id, digest);
CREATE INDEX lead_source_requests_lead ON lead_source_requests USING btree (workspace_id, lead_id) WHERE (lead_id IS NOT NULL);
CREATE INDEX lead_source_requests_next ON lead_source_requests USING btree (workspace_id, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX lead_source_requests_open ON lead_source_requests USING btree (workspace_id, id) WHERE (lead_id IS NULL);
CREATE INDEX lead_source_requests_source ON lead_source_requests USING btree (workspace_id, source_id, id);
CREATE INDEX lead_source_requests_time ON lead_source_requests USING btree (workspace_id, received_at);

create table lead_sources (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  name text not null,
  is_enabled boolean not null,
  settings bytea not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint lead_sources_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'lead_ads'::text]))),
  constraint lead_sources_pkey PRIMARY KEY (workspace_id, id)
);

create table lead_status_changes (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  from_status text not null,
  to_status text not null,
  actor_type text not null,
  actor_id uuid,
  changed_at timestamp(3) with time zone not null,
  constraint lead_status_changes_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint lead_status_changes_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX lead_status_changes_lead ON lead_status_changes USING btree (workspace_id, lead_id, id);

create table leads (
  workspace_id uuid not null,
  id uuid not null,
  unique_code text not null,
  external_ref text,
  status text not null,
  priority text not null,
  source text not null,
  ad_platform text,
  assigned_to uuid,
  estimated_value numeric(14,2),
  actual_value numeric(14,2),
  person bytea not null,
  notes bytea,
  custom_fields bytea,
  email_index bytea,
  phone_index bytea,
  index_version integer not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  deleted_at timestamp(3) with time zone,
  purged_at timestamp(3) with time zone,
  constraint leads_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint leads_pkey PRIMARY KEY (workspace_id, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

CREATE INDEX leads_assigned ON leads USING btree (workspace_id, assigned_to, created_at, id) WHERE ((deleted_at IS NULL) AND (assigned_to IS NOT NULL));
CREATE INDEX leads_created ON leads USING btree (workspace_id, created_at, id) INCLUDE (status, priority, source, ad_platform) WHERE (deleted_at IS NULL);
CREATE INDEX leads_deleted ON leads USING btree (workspace_id, deleted_at DESC, id DESC) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX leads_email ON leads USING btree (workspace_id, email_index, created_at, id) WHERE ((deleted_at IS NULL) AND (email_index IS NOT NULL));
CREATE UNIQUE INDEX leads_external_ref_key ON leads USING btree (workspace_id, external_ref) WHERE ((deleted_at IS NULL) AND (external_ref IS NOT NULL));
CREATE INDEX leads_phone ON leads USING btree (workspace_id, phone_index, created_at, id) WHERE ((deleted_at IS NULL) AND (phone_index IS NOT NULL));
CREATE INDEX leads_status ON leads USING btree (workspace_id, status, created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX leads_to_purge ON leads USING btree (deleted_at) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));
CREATE UNIQUE INDEX leads_unique_code_key ON leads USING btree (workspace_id, unique_code) WHERE (deleted_at IS NULL);
CREATE INDEX leads_updated ON leads USING btree (workspace_id, updated_at, id) WHERE (deleted_at IS NULL);

create table login_attempts (
  key bytea not null,
  failures integer not null,
  last_at timestamp(3) with time zone not null,
  blocked_until timestamp(3) with time zone not null,
  constraint login_attempts_pkey PRIMARY KEY (key)
);

CREATE INDEX login_attempts_last_at ON login_attempts USING btree (last_at);

create table mails (
  id uuid not null,
  kind text not null,
  cause text not null,
  workspace_id uuid,
  user_id uuid,
  priority smallint not null,
  status text not null,
  content bytea,
  answer bytea,
  attempts integer not null default 0,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  next_at timestamp(3) with time zone,
  lease_session text,
  finished_at timestamp(3) with time zone,
  constraint mails_check CHECK (((status = 'waiting'::text) = (next_at IS NOT NULL))),
  constraint mails_check1 CHECK (((status = 'waiting'::text) = (content IS NOT NULL))),
  constraint mails_kind_check CHECK ((kind = ANY (ARRAY['invitation'::text, 'sign-in'::text, 'reset'::text, 'notifications'::text, 'digest'::text, 'report'::text]))) NOT VALID,
  constraint mails_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'sent'::text, 'refused'::text, 'expired'::text]))),
  constraint mails_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX mails_cause ON mails USING btree (cause);
CREATE INDEX mails_due ON mails USING btree (priority, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX mails_finished ON mails USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX mails_user ON mails USING btree (user_id, finished_at DESC) WHERE (finished_at IS NOT NULL);
CREATE INDEX mails_waiting ON mails USING btree (workspace_id) WHERE (next_at IS NOT NULL);

create table media (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  connection_id uuid not null,
  message_id uuid,
  direction text not null,
  kind text not null,
  state text not null,
  details bytea not null,
  file_key bytea,
  stored_as uuid,
  preview_stored_as uuid,
  size_bytes bigint,
  platform_id bytea,
  failure text,
  tries integer not null default 0,
  due_at timestamp(3) with time zone,
  lease_until timestamp(3) with time zone,
  created_by_type text,
  created_by uuid,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint media_created_by_type_check CHECK ((created_by_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'system'::text]))),
  constraint media_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  constraint media_kind_check CHECK ((kind = ANY (ARRAY['image'::text, 'video'::text, 'audio'::text, 'voice'::text, 'document'::text, 'sticker'::text]))),
  constraint media_state_check CHECK ((state = ANY (ARRAY['coming'::text, 'here'::text, 'too_large'::text, 'gone'::text, 'refused'::text, 'failed'::text]))),
  constraint media_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint media_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX media_due ON media USING btree (workspace_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX media_gallery ON media USING btree (workspace_id, conversation_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX media_message_key ON media USING btree (workspace_id, message_id) WHERE (message_id IS NOT NULL);
CREATE INDEX media_preview_stored ON media USING btree (preview_stored_as) WHERE (preview_stored_as IS NOT NULL);
CREATE INDEX media_stored ON media USING btree (stored_as) WHERE (stored_as IS NOT NULL);
CREATE INDEX media_uploads ON media USING btree (workspace_id, created_at) WHERE (message_id IS NULL);

create table media_store (
  id uuid not null,
  single boolean not null default true,
  created_at timestamp(3) with time zone not null,
  constraint media_store_single_check CHECK (single),
  constraint media_store_pkey PRIMARY KEY (id),
  constraint media_store_single_key UNIQUE (single)
);

create table members (
  workspace_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamp(3) with time zone not null,
  away_since timestamp(3) with time zone,
  away_until timestamp(3) with time zone,
  capacity integer,
  constraint members_capacity_check CHECK (((capacity >= 1) AND (capacity <= 1000))),
  constraint members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text]))),
  constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint members_pkey PRIMARY KEY (workspace_id, user_id)
);

CREATE INDEX members_user ON members USING btree (user_id);

create table message_charges (
  workspace_id uuid not null,
  connection_id uuid not null,
  external_index bytea not null,
  conversation_id uuid,
  actor_type text,
  actor_id uuid,
  template text,
  country text,
  type text not null,
  category text not null,
  is_billable boolean,
  free_until timestamp(3) with time zone,
  step smallint not null,
  delivered boolean,
  charged_at timestamp(3) with time zone not null,
  constraint message_charges_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'system'::text]))),
  constraint message_charges_step_check CHECK (((step >= 1) AND (step <= 3))),
  constraint message_charges_pkey PRIMARY KEY (workspace_id, connection_id, external_index)
) with (fillfactor=75);

CREATE INDEX message_charges_conversation ON message_charges USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX message_charges_time ON message_charges USING btree (workspace_id, charged_at);

create table message_parts (
  workspace_id uuid not null,
  message_id uuid not null,
  part integer not null,
  connection_id uuid not null,
  external_index bytea,
  status text not null,
  error_code text,
  constraint message_parts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text]))),
  constraint message_parts_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES messages(workspace_id, id) ON DELETE CASCADE,
  constraint message_parts_pkey PRIMARY KEY (workspace_id, message_id, part)
);

CREATE UNIQUE INDEX message_parts_external_key ON message_parts USING btree (workspace_id, connection_id, external_index) WHERE (external_index IS NOT NULL);

create table message_reactions (
  workspace_id uuid not null,
  message_id uuid not null,
  about_index bytea not null,
  constraint message_reactions_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES messages(workspace_id, id) ON DELETE CASCADE,
  constraint message_reactions_pkey PRIMARY KEY (workspace_id, message_id)
);

CREATE INDEX message_reactions_about ON message_reactions USING btree (workspace_id, about_index);

create table message_search (
  workspace_id uuid not null,
  message_id uuid not null,
  index_version integer not null,
  epoch integer not null,
  tokens integer[] not null,
  constraint message_search_pkey PRIMARY KEY (workspace_id, message_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02);

CREATE INDEX message_search_tokens ON message_search USING gin (tokens) WITH (fastupdate='on', gin_pending_list_limit='1024');

create table messages (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  connection_id uuid not null,
  direction text not null,
  kind text not null,
  origin text not null,
  content bytea not null,
  has_referral boolean not null default false,
  external_id bytea,
  external_index bytea,
  status text not null,
  error_code text,
  actor_type text,
  actor_id uuid,
  occurred_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  settle_by timestamp(3) with time zone,
  constraint messages_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'system'::text]))),
  constraint messages_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  constraint messages_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'template'::text, 'image'::text, 'video'::text, 'audio'::text, 'document'::text, 'location'::text, 'system'::text]))),
  constraint messages_origin_check CHECK ((origin = ANY (ARRAY['live'::text, 'echo'::text, 'history'::text]))),
  constraint messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text]))),
  constraint messages_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint messages_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX messages_external_key ON messages USING btree (workspace_id, external_index) WHERE (external_index IS NOT NULL);
CREATE INDEX messages_failed ON messages USING btree (workspace_id, connection_id, occurred_at) WHERE (error_code IS NOT NULL);
CREATE UNIQUE INDEX messages_occurred_key ON messages USING btree (workspace_id, conversation_id, occurred_at);
CREATE INDEX messages_referral ON messages USING btree (workspace_id, conversation_id, occurred_at) WHERE has_referral;
CREATE INDEX messages_unsettled ON messages USING btree (settle_by) WHERE (settle_by IS NOT NULL);

create table migrations (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp(3) with time zone not null,
  constraint migrations_pkey PRIMARY KEY (number)
);

create table missed_goals (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  goal text not null,
  since timestamp(3) with time zone not null,
  due_at timestamp(3) with time zone not null,
  team_id uuid,
  assigned_to uuid,
  key_id uuid,
  created_at timestamp(3) with time zone not null,
  constraint missed_goals_goal_check CHECK ((goal = ANY (ARRAY['first_answer'::text, 'next_answer'::text, 'resolution'::text]))),
  constraint missed_goals_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX missed_goals_once ON missed_goals USING btree (workspace_id, conversation_id, goal, since);

create table moving_conversations (
  workspace_id uuid not null,
  conversation_id uuid not null,
  since timestamp(3) with time zone not null,
  constraint moving_conversations_pkey PRIMARY KEY (workspace_id, conversation_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

create table note_mentions (
  workspace_id uuid not null,
  note_id uuid not null,
  user_id uuid not null,
  created_at timestamp(3) with time zone not null,
  read_at timestamp(3) with time zone,
  constraint note_mentions_workspace_id_note_id_fkey FOREIGN KEY (workspace_id, note_id) REFERENCES conversation_notes(workspace_id, id) ON DELETE CASCADE,
  constraint note_mentions_pkey PRIMARY KEY (workspace_id, note_id, user_id)
);

CREATE INDEX note_mentions_unread ON note_mentions USING btree (workspace_id, user_id) WHERE (read_at IS NULL);
CREATE INDEX note_mentions_user ON note_mentions USING btree (workspace_id, user_id, created_at DESC, note_id DESC);

create table notice_settings (
  workspace_id uuid not null,
  user_id uuid not null,
  ways jsonb not null,
  quiet jsonb,
  push_names boolean not null,
  tone text,
  digest jsonb,
  digest_at timestamp(3) with time zone,
  constraint notice_settings_tone_check CHECK ((tone = ANY (ARRAY['chime'::text, 'drop'::text, 'knock'::text]))),
  constraint notice_settings_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members(workspace_id, user_id) ON DELETE CASCADE,
  constraint notice_settings_pkey PRIMARY KEY (workspace_id, user_id)
);

CREATE INDEX notice_settings_digest ON notice_settings USING btree (digest_at) WHERE (digest_at IS NOT NULL);

create table notices (
  workspace_id uuid not null,
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  kind text not null,
  cause text not null,
  conversation_id uuid,
  connection_id uuid,
  count integer not null default 1,
  actor_type text,
  actor_id uuid,
  created_at timestamp(3) with time zone not null,
  read_at timestamp(3) with time zone,
  push_at timestamp(3) with time zone,
  reason text,
  mail_at timestamp(3) with time zone,
  constraint notices_actor_type_check CHECK ((actor_type = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text]))),
  constraint notices_check CHECK (((actor_type IS NULL) = (actor_id IS NULL))),
  constraint notices_count_check CHECK ((count > 0)),
  constraint notices_kind_check CHECK ((kind = ANY (ARRAY['mention'::text, 'assigned'::text, 'handover'::text, 'draft'::text, 'waiting'::text, 'goal'::text, 'connection'::text, 'budget'::text, 'task'::text, 'scheduled'::text, 'silence'::text, 'broadcast'::text]))) NOT VALID,
  constraint notices_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint notices_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members(workspace_id, user_id) ON DELETE CASCADE,
  constraint notices_pkey PRIMARY KEY (workspace_id, user_id, id)
);

CREATE UNIQUE INDEX notices_cause_key ON notices USING btree (workspace_id, user_id, kind, cause);
CREATE INDEX notices_conversation ON notices USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX notices_mail ON notices USING btree (mail_at) WHERE (mail_at IS NOT NULL);
CREATE INDEX notices_push ON notices USING btree (push_at) WHERE (push_at IS NOT NULL);
CREATE INDEX notices_recent ON notices USING btree (workspace_id, user_id, created_at DESC, id DESC);
CREATE INDEX notices_unread ON notices USING btree (workspace_id, user_id) WHERE (read_at IS NULL);

create table oauth_codes (
  workspace_id uuid not null,
  code_hash bytea not null,
  client_id text not null,
  redirect_uri text not null,
  code_challenge text not null,
  settings jsonb not null,
  created_by uuid,
  actor_type text not null,
  actor_id uuid not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  key_id uuid,
  used_at timestamp(3) with time zone,
  constraint oauth_codes_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint oauth_codes_pkey PRIMARY KEY (workspace_id, code_hash)
);

CREATE INDEX oauth_codes_expiring ON oauth_codes USING btree (workspace_id, expires_at);
CREATE INDEX oauth_codes_hash ON oauth_codes USING btree (code_hash);

create table oauth_tokens (
  workspace_id uuid not null,
  token_hash bytea not null,
  key_id uuid not null,
  kind text not null,
  created_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone not null,
  constraint oauth_tokens_kind_check CHECK ((kind = ANY (ARRAY['access'::text, 'refresh'::text]))),
  constraint oauth_tokens_pkey PRIMARY KEY (workspace_id, token_hash)
);

CREATE INDEX oauth_tokens_expiring ON oauth_tokens USING btree (workspace_id, expires_at);
CREATE INDEX oauth_tokens_hash ON oauth_tokens USING btree (token_hash);
CREATE INDEX oauth_tokens_key ON oauth_tokens USING btree (workspace_id, key_id, created_at);

create table parked_revisions (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  about_index bytea not null,
  conversation_id uuid,
  type text not null,
  content bytea not null,
  occurred_at timestamp(3) with time zone not null,
  parked_at timestamp(3) with time zone not null,
  direction text not null default 'inbound'::text,
  constraint parked_revisions_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  constraint parked_revisions_type_check CHECK ((type = ANY (ARRAY['edited'::text, 'withdrawn'::text, 'reaction_lifted'::text]))),
  constraint parked_revisions_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX parked_revisions_age ON parked_revisions USING btree (parked_at);
CREATE UNIQUE INDEX parked_revisions_author ON parked_revisions USING btree (workspace_id, connection_id, about_index, type, occurred_at, direction);
CREATE INDEX parked_revisions_conversation ON parked_revisions USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);

create table parked_statuses (
  workspace_id uuid not null,
  connection_id uuid not null,
  external_index bytea not null,
  status text not null,
  error_code text,
  occurred_at timestamp(3) with time zone not null,
  parked_at timestamp(3) with time zone not null,
  constraint parked_statuses_status_check CHECK ((status = ANY (ARRAY['sent'::text, 'delivered'::text, 'read'::text, 'failed'::text]))),
  constraint parked_statuses_pkey PRIMARY KEY (workspace_id, connection_id, external_index, status)
);

CREATE INDEX parked_statuses_age ON parked_statuses USING btree (parked_at);

create table process_writes (
  process_id uuid not null,
  written_at timestamp(3) with time zone not null,
  constraint process_writes_pkey PRIMARY KEY (process_id)
);

create table push_keys (
  id uuid not null,
  public_key text not null,
  private_key bytea not null,
  created_at timestamp(3) with time zone not null,
  constraint push_keys_pkey PRIMARY KEY (id)
);

create table push_subscriptions (
  workspace_id uuid not null,
  user_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  endpoint_hash bytea not null,
  content bytea not null,
  language text not null,
  created_at timestamp(3) with time zone not null,
  constraint push_subscriptions_language_check CHECK ((language = ANY (ARRAY['en'::text, 'es'::text, 'pt'::text]))),
  constraint push_subscriptions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  constraint push_subscriptions_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members(workspace_id, user_id) ON DELETE CASCADE,
  constraint push_subscriptions_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX push_subscriptions_key ON push_subscriptions USING btree (workspace_id, user_id, endpoint_hash);
CREATE INDEX push_subscriptions_session ON push_subscriptions USING btree (session_id);

create table rate_cards (
  workspace_id uuid not null,
  id uuid not null,
  currency text not null,
  valid_from date not null,
  imported_at timestamp(3) with time zone not null,
  actor_type text not null,
  actor_id uuid not null,
  constraint rate_cards_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint rate_cards_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint rate_cards_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint rate_cards_pkey PRIMARY KEY (workspace_id, id),
  constraint rate_cards_workspace_id_currency_valid_from_key UNIQUE (workspace_id, currency, valid_from)
);

create unlogged table rate_limits (
  key text not null,
  slots bigint[] not null,
  units integer[] not null,
  touched_at timestamp(3) with time zone not null,
  constraint rate_limits_pkey PRIMARY KEY (key)
) with (fillfactor=50);

create table rates (
  workspace_id uuid not null,
  rate_card_id uuid not null,
  market text not null,
  category text not null,
  from_message bigint not null,
  price numeric(20,8) not null,
  constraint rates_from_message_check CHECK ((from_message >= 1)),
  constraint rates_price_check CHECK ((price >= (0)::numeric)),
  constraint rates_workspace_id_rate_card_id_fkey FOREIGN KEY (workspace_id, rate_card_id) REFERENCES rate_cards(workspace_id, id) ON DELETE CASCADE,
  constraint rates_pkey PRIMARY KEY (workspace_id, rate_card_id, market, category, from_message)
);

create table report_campaigns (
  workspace_id uuid not null,
  id uuid not null,
  name bytea not null,
  constraint report_campaigns_pkey PRIMARY KEY (workspace_id, id)
);

create table report_facts (
  workspace_id uuid not null,
  kind text not null,
  id uuid not null,
  subject_id uuid not null,
  at timestamp(3) with time zone not null,
  day date not null,
  outcome text not null,
  connection_id uuid,
  team_id uuid,
  user_id uuid,
  key_id uuid,
  source text,
  campaign_id uuid,
  label_ids uuid[] not null,
  value bigint,
  constraint report_facts_kind_check CHECK ((kind = ANY (ARRAY['new'::text, 'closed'::text, 'reopened'::text, 'answer'::text, 'case'::text, 'lead'::text, 'rating'::text]))),
  constraint report_facts_pkey PRIMARY KEY (workspace_id, kind, id)
);

CREATE INDEX report_facts_day ON report_facts USING btree (workspace_id, kind, day, id);
CREATE INDEX report_facts_subject ON report_facts USING btree (workspace_id, subject_id);

create table report_leads (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid not null,
  constraint report_leads_pkey PRIMARY KEY (workspace_id, id)
);

create table report_mails (
  workspace_id uuid not null,
  user_id uuid not null,
  filter_id uuid not null,
  next_at timestamp(3) with time zone not null,
  constraint report_mails_workspace_id_filter_id_fkey FOREIGN KEY (workspace_id, filter_id) REFERENCES saved_filters(workspace_id, id) ON DELETE CASCADE,
  constraint report_mails_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members(workspace_id, user_id) ON DELETE CASCADE,
  constraint report_mails_pkey PRIMARY KEY (workspace_id, user_id, filter_id)
);

CREATE INDEX report_mails_next ON report_mails USING btree (next_at);

create table report_queues (
  workspace_id uuid not null,
  version bigint not null default 0,
  "position" bigint not null,
  activities_to uuid not null,
  time_zone text not null,
  rebuilding text,
  rebuilt_to text,
  costs_due_at timestamp(3) with time zone,
  costs_all boolean not null default true,
  counted_at timestamp(3) with time zone,
  constraint report_queues_rebuilding_check CHECK ((rebuilding = ANY (ARRAY['conversations'::text, 'leads'::text, 'days'::text]))),
  constraint report_queues_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint report_queues_pkey PRIMARY KEY (workspace_id)
);

create table report_readers (
  workspace_id uuid not null,
  role_name text not null,
  constraint report_readers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint report_readers_pkey PRIMARY KEY (workspace_id, role_name)
);

create table report_rollups (
  workspace_id uuid not null,
  dimension text not null,
  day date not null,
  dimension_id text not null,
  kind text not null,
  outcome text not null,
  bucket smallint not null,
  count bigint not null,
  total numeric not null,
  constraint report_rollups_pkey PRIMARY KEY (workspace_id, dimension, day, dimension_id, kind, outcome, bucket)
) with (fillfactor=75);

create table review_rules (
  workspace_id uuid not null,
  key_id uuid not null,
  random_per_mille integer not null,
  takeover_minutes integer,
  long_messages integer,
  reopened boolean not null,
  low_score boolean not null,
  constraint review_rules_long_messages_check CHECK (((long_messages >= 2) AND (long_messages <= 1000))),
  constraint review_rules_random_per_mille_check CHECK (((random_per_mille >= 0) AND (random_per_mille <= 1000))),
  constraint review_rules_takeover_minutes_check CHECK (((takeover_minutes >= 1) AND (takeover_minutes <= 1440))),
  constraint review_rules_pkey PRIMARY KEY (workspace_id, key_id)
);

create table review_settings (
  workspace_id uuid not null,
  criteria jsonb not null,
  daily_limit integer not null,
  selected_until timestamp(3) with time zone,
  updated_at timestamp(3) with time zone not null,
  constraint review_settings_daily_limit_check CHECK (((daily_limit >= 1) AND (daily_limit <= 200))),
  constraint review_settings_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint review_settings_pkey PRIMARY KEY (workspace_id)
);

CREATE INDEX review_settings_due ON review_settings USING btree (selected_until) WHERE (selected_until IS NOT NULL);

create table reviews (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  key_id uuid not null,
  case_id uuid not null,
  outcome text not null,
  reasons text[] not null,
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone not null,
  instructions_id uuid,
  status text not null,
  claimed_by uuid,
  claimed_until timestamp(3) with time zone,
  scores jsonb not null default '{}'::jsonb,
  score real,
  flags text[] not null default '{}'::text[],
  comment bytea,
  actor_type text,
  actor_id uuid,
  created_at timestamp(3) with time zone not null,
  closed_at timestamp(3) with time zone,
  constraint reviews_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint reviews_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
  constraint reviews_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'reviewed'::text, 'skipped'::text]))),
  constraint reviews_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX reviews_case ON reviews USING btree (workspace_id, case_id);
CREATE INDEX reviews_conversation ON reviews USING btree (workspace_id, conversation_id, created_at);
CREATE INDEX reviews_waiting ON reviews USING btree (workspace_id, id) WHERE (status = 'waiting'::text);

create table routing_rules (
  workspace_id uuid not null,
  connection_id uuid not null,
  agent text not null,
  key_id uuid,
  team_id uuid,
  constraint routing_rules_agent_check CHECK ((agent = ANY (ARRAY['default'::text, 'key'::text, 'none'::text]))),
  constraint routing_rules_check CHECK (((agent = 'key'::text) = (key_id IS NOT NULL))),
  constraint routing_rules_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint routing_rules_pkey PRIMARY KEY (workspace_id, connection_id)
);

create table routing_waits (
  workspace_id uuid not null,
  conversation_id uuid not null,
  team_id uuid not null,
  user_id uuid,
  attempts smallint not null default 0,
  due_at timestamp(3) with time zone not null,
  constraint routing_waits_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint routing_waits_pkey PRIMARY KEY (workspace_id, conversation_id)
);

CREATE INDEX routing_waits_due ON routing_waits USING btree (due_at);

create table sandbox_calls (
  workspace_id uuid not null,
  id uuid not null,
  tool text not null,
  code text,
  content bytea not null,
  called_at timestamp(3) with time zone not null,
  constraint sandbox_calls_pkey PRIMARY KEY (workspace_id, id)
);

create table satisfaction_ratings (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  connection_id uuid not null,
  closing_id uuid not null,
  status text not null,
  reason text,
  answered_by text not null,
  answerer_id uuid,
  scale smallint not null,
  score smallint,
  message_id uuid,
  answer_id uuid,
  created_at timestamp(3) with time zone not null,
  next_at timestamp(3) with time zone,
  asked_at timestamp(3) with time zone,
  rated_at timestamp(3) with time zone,
  constraint satisfaction_ratings_answered_by_check CHECK ((answered_by = ANY (ARRAY['agent'::text, 'user'::text, 'token'::text, 'system'::text]))),
  constraint satisfaction_ratings_scale_check CHECK ((scale = ANY (ARRAY[3, 5]))),
  constraint satisfaction_ratings_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'asked'::text, 'rated'::text, 'cancelled'::text, 'skipped'::text]))),
  constraint satisfaction_ratings_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX satisfaction_ratings_closing ON satisfaction_ratings USING btree (workspace_id, closing_id);
CREATE INDEX satisfaction_ratings_conversation ON satisfaction_ratings USING btree (workspace_id, conversation_id, created_at);
CREATE INDEX satisfaction_ratings_created ON satisfaction_ratings USING btree (workspace_id, created_at);
CREATE INDEX satisfaction_ratings_next ON satisfaction_ratings USING btree (workspace_id, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX satisfaction_ratings_rated ON satisfaction_ratings USING btree (workspace_id, id) WHERE (status = 'rated'::text);

create table satisfaction_settings (
  workspace_id uuid not null,
  is_enabled boolean not null,
  settings jsonb not null,
  "position" uuid not null,
  updated_at timestamp(3) with time zone not null,
  constraint satisfaction_settings_pkey PRIMARY KEY (workspace_id)
);

CREATE INDEX satisfaction_settings_enabled ON satisfaction_settings USING btree (workspace_id) WHERE is_enabled;

create table saved_filter_orders (
  workspace_id uuid not null,
  user_id uuid not null,
  page text not null,
  filter_ids uuid[] not null,
  constraint saved_filter_orders_page_check CHECK ((page = ANY (ARRAY['inbox'::text, 'leads'::text, 'reports'::text]))) NOT VALID,
  constraint saved_filter_orders_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint saved_filter_orders_pkey PRIMARY KEY (workspace_id, user_id, page)
);

create table saved_filters (
  workspace_id uuid not null,
  id uuid not null,
  user_id uuid,
  page text not null,
  content bytea not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint saved_filters_page_check CHECK ((page = ANY (ARRAY['inbox'::text, 'leads'::text, 'reports'::text]))) NOT VALID,
  constraint saved_filters_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint saved_filters_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX saved_filters_user ON saved_filters USING btree (workspace_id, user_id);

create table scenario_results (
  workspace_id uuid not null,
  run_id uuid not null,
  "position" integer not null,
  name text not null,
  verdict text not null,
  ms integer not null default 0,
  content bytea,
  constraint scenario_results_verdict_check CHECK ((verdict = ANY (ARRAY['waiting'::text, 'running'::text, 'passed'::text, 'failed'::text, 'error'::text, 'skipped'::text]))),
  constraint scenario_results_pkey PRIMARY KEY (workspace_id, run_id, "position")
);

create table scenario_runs (
  workspace_id uuid not null,
  id uuid not null,
  agent text not null,
  status text not null,
  has_instructions boolean not null,
  cancel_requested boolean not null default false,
  created_at timestamp(3) with time zone not null,
  renewed_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  actor_type text not null,
  actor_id uuid not null,
  constraint scenario_runs_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text]))),
  constraint scenario_runs_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'running'::text, 'finished'::text, 'cancelled'::text, 'interrupted'::text]))),
  constraint scenario_runs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint scenario_runs_pkey PRIMARY KEY (workspace_id, id)
);

create table scenarios (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  content bytea not null,
  version integer not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint scenarios_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint scenarios_pkey PRIMARY KEY (workspace_id, id),
  constraint scenarios_workspace_id_name_key UNIQUE (workspace_id, name)
);

create table scheduled_messages (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  sender_type text not null,
  sender_id uuid not null,
  status text not null,
  content bytea not null,
  due_at timestamp(3) with time zone not null,
  next_at timestamp(3) with time zone,
  cancel_if_customer_writes boolean not null,
  inbound_id uuid,
  reason text,
  message_id uuid,
  created_at timestamp(3) with time zone not null,
  closed_at timestamp(3) with time zone,
  constraint scheduled_messages_sender_type_check CHECK ((sender_type = ANY (ARRAY['user'::text, 'token'::text, 'agent'::text]))),
  constraint scheduled_messages_status_check CHECK ((status = ANY (ARRAY['scheduled'::text, 'sending'::text, 'sent'::text, 'drafted'::text, 'held'::text, 'failed'::text, 'cancelled'::text]))),
  constraint scheduled_messages_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX scheduled_messages_closed ON scheduled_messages USING btree (workspace_id, closed_at);
CREATE INDEX scheduled_messages_conversation ON scheduled_messages USING btree (workspace_id, conversation_id, created_at);
CREATE INDEX scheduled_messages_next ON scheduled_messages USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX scheduled_messages_open ON scheduled_messages USING btree (workspace_id) WHERE (status = 'scheduled'::text);

create table scim_groups (
  id uuid not null,
  provider_id uuid not null,
  display_name text not null,
  external_id text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint scim_groups_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES sso_providers(id),
  constraint scim_groups_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX scim_groups_name ON scim_groups USING btree (provider_id, lower(display_name));

create table scim_members (
  group_id uuid not null,
  member_id uuid not null,
  constraint scim_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES scim_groups(id),
  constraint scim_members_member_id_fkey FOREIGN KEY (member_id) REFERENCES scim_users(id),
  constraint scim_members_pkey PRIMARY KEY (group_id, member_id)
);

CREATE INDEX scim_members_member ON scim_members USING btree (member_id);

create table scim_users (
  id uuid not null,
  provider_id uuid not null,
  user_id uuid not null,
  resource bytea not null,
  user_name_index bytea not null,
  external_id_index bytea,
  index_version integer not null,
  is_active boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint scim_users_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES sso_providers(id),
  constraint scim_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint scim_users_pkey PRIMARY KEY (id)
);

CREATE INDEX scim_users_external ON scim_users USING btree (provider_id, external_id_index);
CREATE INDEX scim_users_name ON scim_users USING btree (provider_id, user_name_index);
CREATE UNIQUE INDEX scim_users_user ON scim_users USING btree (provider_id, user_id);

create table secrets (
  scope_id uuid not null,
  purpose text not null,
  version integer not null,
  master_key_id text not null,
  wrapped bytea not null,
  current boolean not null,
  created_at timestamp(3) with time zone not null,
  retired_at timestamp(3) with time zone,
  constraint secrets_purpose_check CHECK ((purpose = ANY (ARRAY['data'::text, 'index'::text, 'stable'::text]))),
  constraint secrets_version_check CHECK ((version > 0)),
  constraint secrets_pkey PRIMARY KEY (scope_id, purpose, version)
);

CREATE UNIQUE INDEX secrets_current_key ON secrets USING btree (scope_id, purpose) WHERE current;

create unlogged table send_paces (
  workspace_id uuid not null,
  id uuid not null,
  next_at timestamp(3) with time zone not null,
  constraint send_paces_pkey PRIMARY KEY (workspace_id, id)
);

create table sends (
  workspace_id uuid not null,
  sender_id uuid not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  conversation_id uuid not null,
  message_id uuid not null,
  answer_status integer,
  answer_body text,
  created_at timestamp(3) with time zone not null,
  constraint sends_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES messages(workspace_id, id) ON DELETE CASCADE,
  constraint sends_pkey PRIMARY KEY (workspace_id, sender_id, idempotency_key)
);

CREATE INDEX sends_message ON sends USING btree (workspace_id, message_id);

create table sequence_run_steps (
  workspace_id uuid not null,
  run_id uuid not null,
  step smallint not null,
  sequence_id uuid not null,
  version integer not null,
  state text not null,
  code text,
  message_id uuid,
  created_at timestamp(3) with time zone not null,
  constraint sequence_run_steps_state_check CHECK ((state = ANY (ARRAY['sending'::text, 'sent'::text, 'failed'::text, 'skipped'::text]))),
  constraint sequence_run_steps_workspace_id_run_id_fkey FOREIGN KEY (workspace_id, run_id) REFERENCES sequence_runs(workspace_id, id) ON DELETE CASCADE,
  constraint sequence_run_steps_pkey PRIMARY KEY (workspace_id, run_id, step)
);

CREATE INDEX sequence_run_steps_counts ON sequence_run_steps USING btree (workspace_id, sequence_id, version, step, state);

create table sequence_runs (
  workspace_id uuid not null,
  id uuid not null,
  sequence_id uuid not null,
  version integer not null,
  lead_id uuid not null,
  conversation_id uuid,
  state text not null,
  reason text,
  stopping text,
  step smallint not null,
  due_at timestamp(3) with time zone,
  held_by text,
  next_at timestamp(3) with time zone,
  message_id uuid,
  entry text not null,
  bulk_change_id uuid,
  actor_type text not null,
  actor_id uuid,
  created_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  constraint sequence_runs_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text, 'agent'::text, 'form'::text, 'system'::text]))),
  constraint sequence_runs_check CHECK (((state = 'active'::text) = (next_at IS NOT NULL))),
  constraint sequence_runs_check1 CHECK (((state = 'ended'::text) = (reason IS NOT NULL))),
  constraint sequence_runs_entry_check CHECK ((entry = ANY (ARRAY['person'::text, 'bulk'::text, 'form'::text, 'label'::text, 'rule'::text, 'agent'::text]))),
  constraint sequence_runs_state_check CHECK ((state = ANY (ARRAY['active'::text, 'ended'::text]))),
  constraint sequence_runs_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint sequence_runs_workspace_id_sequence_id_fkey FOREIGN KEY (workspace_id, sequence_id) REFERENCES sequences(workspace_id, id) ON DELETE CASCADE,
  constraint sequence_runs_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX sequence_runs_active ON sequence_runs USING btree (workspace_id, sequence_id, lead_id) WHERE (state = 'active'::text);
CREATE INDEX sequence_runs_conversation ON sequence_runs USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX sequence_runs_ended ON sequence_runs USING btree (workspace_id, ended_at);
CREATE INDEX sequence_runs_lead ON sequence_runs USING btree (workspace_id, lead_id, id);
CREATE INDEX sequence_runs_log ON sequence_runs USING btree (workspace_id, sequence_id, id);
CREATE INDEX sequence_runs_next ON sequence_runs USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX sequence_runs_open ON sequence_runs USING btree (workspace_id) WHERE (state = 'active'::text);

create table sequence_versions (
  workspace_id uuid not null,
  sequence_id uuid not null,
  version integer not null,
  connection_id uuid not null,
  steps jsonb not null,
  created_at timestamp(3) with time zone not null,
  constraint sequence_versions_workspace_id_sequence_id_fkey FOREIGN KEY (workspace_id, sequence_id) REFERENCES sequences(workspace_id, id) ON DELETE CASCADE,
  constraint sequence_versions_pkey PRIMARY KEY (workspace_id, sequence_id, version)
);

create table sequences (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  enabled boolean not null,
  version integer not null,
  end_statuses text[] not null,
  form_ids uuid[] not null,
  label_ids uuid[] not null,
  for_agents boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  removed_at timestamp(3) with time zone,
  constraint sequences_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint sequences_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX sequences_removed ON sequences USING btree (workspace_id, removed_at);

create table session_keys (
  workspace_id uuid not null,
  connection_id uuid not null,
  type text not null,
  digest text not null,
  value bytea not null,
  constraint session_keys_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_sessions(workspace_id, connection_id) ON DELETE CASCADE,
  constraint session_keys_pkey PRIMARY KEY (workspace_id, connection_id, type, digest)
) with (fillfactor=80);

create table session_sends (
  workspace_id uuid not null,
  connection_id uuid not null,
  id text not null,
  kind text not null,
  correlator text,
  content bytea not null,
  deadline timestamp with time zone not null,
  state text not null,
  fence bigint,
  error_code text,
  created_at timestamp(3) with time zone not null,
  constraint session_sends_kind_check CHECK ((kind = ANY (ARRAY['message'::text, 'read'::text, 'file'::text]))),
  constraint session_sends_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'claimed'::text, 'sent'::text, 'accepted'::text, 'refused'::text, 'cancelled'::text]))),
  constraint session_sends_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES channel_sessions(workspace_id, connection_id) ON DELETE CASCADE,
  constraint session_sends_pkey PRIMARY KEY (workspace_id, connection_id, id)
);

CREATE INDEX session_sends_created ON session_sends USING btree (created_at);
CREATE INDEX session_sends_waiting ON session_sends USING btree (workspace_id, connection_id, created_at) WHERE (state = 'waiting'::text);

create table sessions (
  id uuid not null,
  user_id uuid not null,
  token_hash bytea not null,
  signed_in_by text not null,
  device text not null,
  created_at timestamp(3) with time zone not null,
  last_seen_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  sso_provider_id uuid,
  sso_sid bytea,
  constraint sessions_signed_in_by_check CHECK ((signed_in_by = ANY (ARRAY['password'::text, 'link'::text, 'invitation'::text, 'sso'::text]))) NOT VALID,
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_hash_key UNIQUE (token_hash)
);

CREATE INDEX sessions_expiry ON sessions USING btree (expires_at);
CREATE INDEX sessions_sso ON sessions USING btree (sso_provider_id, sso_sid) WHERE (sso_provider_id IS NOT NULL);
CREATE INDEX sessions_user ON sessions USING btree (user_id, created_at);

create table sign_in_challenges (
  token_hash bytea not null,
  user_id uuid not null,
  signed_in_by text not null,
  expires_at timestamp(3) with time zone not null,
  constraint sign_in_challenges_signed_in_by_check CHECK ((signed_in_by = ANY (ARRAY['password'::text, 'link'::text]))),
  constraint sign_in_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint sign_in_challenges_pkey PRIMARY KEY (token_hash)
);

create table sign_in_links (
  token_hash bytea not null,
  user_id uuid not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  constraint sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint sign_in_links_pkey PRIMARY KEY (token_hash)
);

create table silence_reminders (
  workspace_id uuid not null,
  conversation_id uuid not null,
  user_id uuid not null,
  remind_at timestamp(3) with time zone not null,
  inbound_id uuid,
  created_at timestamp(3) with time zone not null,
  constraint silence_reminders_pkey PRIMARY KEY (workspace_id, conversation_id)
);

CREATE INDEX silence_reminders_due ON silence_reminders USING btree (remind_at);

create table sso_identities (
  provider_id uuid not null,
  subject bytea not null,
  user_id uuid not null,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone not null,
  constraint sso_identities_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES sso_providers(id),
  constraint sso_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint sso_identities_pkey PRIMARY KEY (provider_id, subject)
);

CREATE UNIQUE INDEX sso_identities_user ON sso_identities USING btree (user_id, provider_id);

create table sso_logouts (
  provider_id uuid not null,
  jti bytea not null,
  expires_at timestamp(3) with time zone not null,
  constraint sso_logouts_pkey PRIMARY KEY (provider_id, jti)
);

create table sso_providers (
  id uuid not null,
  settings bytea not null,
  test bytea,
  is_enabled boolean not null,
  is_forced boolean not null default false,
  scim_token_hash bytea,
  scim_token_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint sso_providers_pkey PRIMARY KEY (id),
  constraint sso_providers_scim_token_hash_key UNIQUE (scim_token_hash)
);

create table tasks (
  workspace_id uuid not null,
  id uuid not null,
  lead_id uuid,
  conversation_id uuid,
  title bytea not null,
  due_at timestamp(3) with time zone not null,
  remind_at timestamp(3) with time zone,
  assigned_to uuid,
  done_at timestamp(3) with time zone,
  actor_type text not null,
  actor_id uuid not null,
  created_at timestamp(3) with time zone not null,
  constraint tasks_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'token'::text, 'agent'::text]))),
  constraint tasks_workspace_id_lead_id_fkey FOREIGN KEY (workspace_id, lead_id) REFERENCES leads(workspace_id, id) ON DELETE CASCADE,
  constraint tasks_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX tasks_conversation ON tasks USING btree (workspace_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX tasks_done ON tasks USING btree (workspace_id, done_at);
CREATE INDEX tasks_lead ON tasks USING btree (workspace_id, lead_id, id) WHERE (lead_id IS NOT NULL);
CREATE INDEX tasks_open ON tasks USING btree (workspace_id, due_at, id) WHERE (done_at IS NULL);
CREATE INDEX tasks_remind ON tasks USING btree (remind_at) WHERE (remind_at IS NOT NULL);

create table team_members (
  workspace_id uuid not null,
  team_id uuid not null,
  user_id uuid not null,
  turn integer not null default 0,
  constraint team_members_workspace_id_team_id_fkey FOREIGN KEY (workspace_id, team_id) REFERENCES teams(workspace_id, id) ON DELETE CASCADE,
  constraint team_members_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members(workspace_id, user_id) ON DELETE CASCADE,
  constraint team_members_pkey PRIMARY KEY (workspace_id, team_id, user_id)
);

CREATE INDEX team_members_user ON team_members USING btree (workspace_id, user_id);

create table team_removals (
  workspace_id uuid not null,
  team_id uuid not null,
  cleared_to uuid not null,
  constraint team_removals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint team_removals_pkey PRIMARY KEY (workspace_id, team_id)
);

create table team_service_settings (
  workspace_id uuid not null,
  team_id uuid not null,
  hours jsonb,
  holidays jsonb,
  away_message jsonb,
  service_goals jsonb,
  updated_at timestamp(3) with time zone not null,
  constraint team_service_settings_workspace_id_team_id_fkey FOREIGN KEY (workspace_id, team_id) REFERENCES teams(workspace_id, id) ON DELETE CASCADE,
  constraint team_service_settings_pkey PRIMARY KEY (workspace_id, team_id)
);

create table team_tokens (
  id uuid not null,
  workspace_id uuid,
  name text not null,
  role text not null,
  token_hash bytea not null,
  last_four text not null,
  created_by uuid,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint team_tokens_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text]))),
  constraint team_tokens_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id),
  constraint team_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint team_tokens_pkey PRIMARY KEY (id),
  constraint team_tokens_token_hash_key UNIQUE (token_hash)
);

CREATE INDEX team_tokens_workspace ON team_tokens USING btree (workspace_id, created_at);

create table teams (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  assignment text not null,
  answer_minutes integer,
  max_reassignments smallint not null,
  created_at timestamp(3) with time zone not null,
  constraint teams_answer_minutes_check CHECK (((answer_minutes >= 1) AND (answer_minutes <= 1440))),
  constraint teams_assignment_check CHECK ((assignment = ANY (ARRAY['manual'::text, 'round_robin'::text, 'least_busy'::text]))),
  constraint teams_max_reassignments_check CHECK (((max_reassignments >= 1) AND (max_reassignments <= 10))),
  constraint teams_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint teams_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX teams_name_key ON teams USING btree (workspace_id, lower(name));

create table template_drafts (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  template_id uuid,
  content bytea not null,
  version integer not null,
  submitting_until timestamp(3) with time zone,
  is_tried boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint template_drafts_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES connections(workspace_id, id),
  constraint template_drafts_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX template_drafts_template_key ON template_drafts USING btree (workspace_id, template_id) WHERE (template_id IS NOT NULL);

create table templates (
  workspace_id uuid not null,
  connection_id uuid not null,
  id uuid not null,
  name text not null,
  language text not null,
  category text not null,
  status text not null,
  body text not null,
  parameter_names text[],
  parameter_count integer not null,
  body_only boolean not null,
  synced_at timestamp(3) with time zone not null,
  header text,
  external_id text,
  components jsonb,
  inputs jsonb,
  quality text,
  rejected_reason text,
  review_note text,
  edited_at timestamp(3) with time zone[] not null default '{}'::timestamp with time zone[],
  constraint templates_header_check CHECK ((header = ANY (ARRAY['image'::text, 'video'::text, 'document'::text]))),
  constraint templates_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES connections(workspace_id, id) ON DELETE CASCADE,
  constraint templates_pkey PRIMARY KEY (workspace_id, id)
);

CREATE UNIQUE INDEX templates_name_key ON templates USING btree (workspace_id, connection_id, name, language);

create table told_outages (
  workspace_id uuid not null,
  connection_id uuid not null,
  constraint told_outages_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES connections(workspace_id, id),
  constraint told_outages_pkey PRIMARY KEY (workspace_id, connection_id)
);

create table told_waits (
  workspace_id uuid not null,
  conversation_id uuid not null,
  since timestamp(3) with time zone not null,
  constraint told_waits_workspace_id_conversation_id_fkey FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations(workspace_id, id) ON DELETE CASCADE,
  constraint told_waits_pkey PRIMARY KEY (workspace_id, conversation_id)
);

create table users (
  id uuid not null,
  person bytea not null,
  email_index bytea not null,
  index_version integer not null,
  password_hash text,
  totp_secret bytea,
  totp_confirmed_at timestamp(3) with time zone,
  totp_last_step bigint,
  recovery_hashes text[] not null default '{}'::text[],
  is_operator boolean not null default false,
  created_at timestamp(3) with time zone not null,
  language text,
  disabled_at timestamp(3) with time zone,
  managed_by uuid,
  constraint users_language_check CHECK ((language = ANY (ARRAY['en'::text, 'es'::text, 'pt'::text]))),
  constraint users_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX users_email_key ON users USING btree (email_index);

create table volume_tiers (
  workspace_id uuid not null,
  connection_id uuid not null,
  market text not null,
  category text not null,
  month date not null,
  from_message bigint not null,
  reached_at timestamp(3) with time zone not null,
  constraint volume_tiers_from_message_check CHECK ((from_message >= 1)),
  constraint volume_tiers_pkey PRIMARY KEY (workspace_id, connection_id, market, category, month, from_message)
);

CREATE INDEX volume_tiers_time ON volume_tiers USING btree (workspace_id, reached_at);

create table webhook_attempts (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  "position" bigint not null,
  number integer not null,
  at timestamp(3) with time zone not null,
  status smallint,
  ms integer not null,
  error text,
  answer bytea,
  constraint webhook_attempts_workspace_id_endpoint_id_position_fkey FOREIGN KEY (workspace_id, endpoint_id, "position") REFERENCES webhook_deliveries(workspace_id, endpoint_id, "position") ON DELETE CASCADE,
  constraint webhook_attempts_pkey PRIMARY KEY (workspace_id, endpoint_id, "position", number)
);

create table webhook_deliveries (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  "position" bigint not null,
  event_id uuid not null,
  event_name text not null,
  subject_id uuid not null,
  occurred_at timestamp(3) with time zone not null,
  masked boolean not null,
  state text not null,
  generation integer not null,
  round integer not null default 0,
  round_attempts smallint not null,
  attempts integer not null,
  due_at timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone,
  delivered_status smallint,
  delivered_ms integer,
  delivered_answer bytea,
  constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint webhook_deliveries_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES webhook_endpoints(workspace_id, id) ON DELETE CASCADE,
  constraint webhook_deliveries_pkey PRIMARY KEY (workspace_id, endpoint_id, "position")
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (workspace_id, endpoint_id, generation, due_at, "position") WHERE (state = 'pending'::text);
CREATE INDEX webhook_deliveries_lane ON webhook_deliveries USING btree (workspace_id, endpoint_id, generation, subject_id, "position") WHERE (state = 'pending'::text);
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries USING btree (workspace_id, endpoint_id, state, "position") WHERE (state <> 'delivered'::text);

create table webhook_endpoints (
  workspace_id uuid not null,
  id uuid not null,
  description text,
  events text[] not null,
  phone_visibility text not null,
  settings bytea not null,
  state text not null,
  state_reason text,
  state_changed_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  removed_at timestamp(3) with time zone,
  created_by uuid,
  constraint webhook_endpoints_phone_visibility_check CHECK ((phone_visibility = ANY (ARRAY['full'::text, 'masked'::text]))),
  constraint webhook_endpoints_state_check CHECK ((state = ANY (ARRAY['active'::text, 'disabled'::text]))),
  constraint webhook_endpoints_state_reason_check CHECK ((state_reason = ANY (ARRAY['member'::text, 'gone'::text, 'failing'::text]))),
  constraint webhook_endpoints_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint webhook_endpoints_pkey PRIMARY KEY (workspace_id, id)
);

create table webhook_queues (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  cursor bigint not null,
  generation integer not null default 1,
  retry_at timestamp(3) with time zone,
  paused_until timestamp(3) with time zone,
  failing_since timestamp(3) with time zone,
  failures_in_a_row integer not null default 0,
  last_success_at timestamp(3) with time zone,
  lease_owner uuid,
  lease_until timestamp with time zone,
  lease_session text,
  constraint webhook_queues_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES webhook_endpoints(workspace_id, id) ON DELETE CASCADE,
  constraint webhook_queues_pkey PRIMARY KEY (workspace_id, endpoint_id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.01);

create table webhook_replays (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  id uuid not null,
  from_at timestamp(3) with time zone not null,
  to_at timestamp(3) with time zone not null,
  scope text not null,
  reached uuid,
  queued integer not null default 0,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  constraint webhook_replays_scope_check CHECK ((scope = ANY (ARRAY['undelivered'::text, 'all'::text]))),
  constraint webhook_replays_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES webhook_endpoints(workspace_id, id) ON DELETE CASCADE,
  constraint webhook_replays_pkey PRIMARY KEY (workspace_id, endpoint_id, id)
);

CREATE INDEX webhook_replays_open ON webhook_replays USING btree (workspace_id, endpoint_id, id) WHERE (finished_at IS NULL);

create table website_files (
  workspace_id uuid not null,
  id uuid not null,
  visitor_id uuid not null,
  bytes bytea not null,
  size_bytes integer not null,
  created_at timestamp(3) with time zone not null,
  constraint website_files_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX website_files_time ON website_files USING btree (workspace_id, created_at);
CREATE INDEX website_files_visitor ON website_files USING btree (workspace_id, visitor_id);

create table website_messages (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  visitor_id uuid not null,
  seq integer not null,
  direction text not null,
  status text not null,
  content bytea not null,
  file_id uuid,
  created_at timestamp(3) with time zone not null,
  constraint website_messages_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  constraint website_messages_status_check CHECK ((status = ANY (ARRAY['sent'::text, 'delivered'::text, 'read'::text]))),
  constraint website_messages_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX website_messages_open ON website_messages USING btree (workspace_id, visitor_id, seq) WHERE ((direction = 'outbound'::text) AND (status <> 'read'::text));
CREATE UNIQUE INDEX website_messages_seq ON website_messages USING btree (workspace_id, visitor_id, seq);
CREATE INDEX website_messages_time ON website_messages USING btree (workspace_id, created_at);

create table website_sessions (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  visitor_id uuid not null,
  token_hash bytea not null,
  nonce uuid,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  constraint website_sessions_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX website_sessions_expiry ON website_sessions USING btree (workspace_id, expires_at);
CREATE UNIQUE INDEX website_sessions_nonce ON website_sessions USING btree (workspace_id, nonce) WHERE (nonce IS NOT NULL);
CREATE UNIQUE INDEX website_sessions_token ON website_sessions USING btree (workspace_id, token_hash);
CREATE INDEX website_sessions_visitor ON website_sessions USING btree (workspace_id, visitor_id);

create table website_visitors (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  identity_index bytea,
  index_version integer not null,
  profile bytea not null,
  last_seq integer not null default 0,
  read_seq integer not null default 0,
  typing_until timestamp(3) with time zone,
  version integer not null default 0,
  created_at timestamp(3) with time zone not null,
  last_seen_at timestamp(3) with time zone not null,
  constraint website_visitors_pkey PRIMARY KEY (workspace_id, id)
);

CREATE INDEX website_visitors_identity ON website_visitors USING btree (workspace_id, connection_id, identity_index) WHERE (identity_index IS NOT NULL);
CREATE INDEX website_visitors_seen ON website_visitors USING btree (workspace_id, last_seen_at);

create table workspaces (
  id uuid not null,
  name text not null,
  default_country text,
  daily_lead_quota integer not null default 100000,
  leads_enabled boolean not null default true,
  inbox_enabled boolean not null default true,
  inbox_available boolean not null default true,
  lead_statuses text[] not null default ARRAY['new'::text, 'contacted'::text, 'qualified'::text, 'proposal'::text, 'won'::text, 'lost'::text, 'unqualified'::text],
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  agent_watchdog_minutes integer,
  agents_stopped boolean not null default false,
  leads_from_chat boolean not null default false,
  demo_is_filled boolean,
  daily_lead_quota_ceiling integer not null default 100000,
  keep_conversations_days integer,
  keep_activities_days integer,
  keep_sends_days integer,
  keep_submissions_days integer,
  keep_audit_days integer default 730,
  keep_former_texts boolean not null default true,
  agents_may_take_back text not null default 'always'::text,
  hours jsonb,
  agent_word text,
  answer_goal_minutes integer default 15,
  currency text,
  opt_out_keywords text[] not null default '{STOP,"STOP PROMOTIONS",UNSUBSCRIBE,SAIR,PARAR,"CANCELAR INSCRIÇÃO",DESCADASTRAR,BAJA,DETENER,"CANCELAR SUSCRIPCIÓN"}'::text[],
  opt_in_keywords text[] not null default '{START,SUBSCRIBE,VOLTAR,INSCREVER,ALTA,SUSCRIBIR}'::text[],
  agent_max_parts smallint not null default 1,
  sandbox_until timestamp(3) with time zone,
  instructions_version integer not null default 0,
  is_routed boolean not null default false,
  holidays jsonb not null default '[]'::jsonb,
  away_message jsonb,
  service_goals jsonb,
  feed_events text[] not null default '{}'::text[],
  broadcast_approval boolean not null default false,
  constraint workspaces_agent_max_parts_check CHECK (((agent_max_parts >= 1) AND (agent_max_parts <= 10))),
  constraint workspaces_agent_watchdog_minutes_check CHECK (((agent_watchdog_minutes >= 1) AND (agent_watchdog_minutes <= 10080))),
  constraint workspaces_agents_may_take_back_check CHECK ((agents_may_take_back = ANY (ARRAY['always'::text, 'when_handed'::text]))),
  constraint workspaces_answer_goal_minutes_check CHECK (((answer_goal_minutes >= 1) AND (answer_goal_minutes <= 10080))),
  constraint workspaces_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint workspaces_daily_lead_quota_ceiling_check CHECK ((daily_lead_quota_ceiling >= 0)),
  constraint workspaces_daily_lead_quota_check CHECK ((daily_lead_quota >= 0)),
  constraint workspaces_default_country_check CHECK ((default_country ~ '^[A-Z]{2}$'::text)),
  constraint workspaces_keep_activities_days_check CHECK (((keep_activities_days >= 30) AND (keep_activities_days <= 3650))),
  constraint workspaces_keep_audit_days_check CHECK (((keep_audit_days >= 30) AND (keep_audit_days <= 3650))),
  constraint workspaces_keep_conversations_days_check CHECK (((keep_conversations_days >= 30) AND (keep_conversations_days <= 3650))),
  constraint workspaces_keep_sends_days_check CHECK (((keep_sends_days >= 30) AND (keep_sends_days <= 3650))),
  constraint workspaces_keep_submissions_days_check CHECK (((keep_submissions_days >= 30) AND (keep_submissions_days <= 3650))),
  constraint workspaces_pkey PRIMARY KEY (id)
);

CREATE INDEX workspaces_sandbox ON workspaces USING btree (sandbox_until) WHERE (sandbox_until IS NOT NULL);
