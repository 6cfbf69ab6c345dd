-- What customers and people have decided about marketing; see consents/consent.ts. One row per decision, as a history.
create table consents (
  workspace_id uuid not null,
  id uuid not null,
  channel text not null check (channel in ('whatsapp')),
  purpose text not null check (purpose in ('marketing')),
  decision text not null check (decision in ('opted_in', 'opted_out')),
  source text not null check (source in ('platform', 'platform_error', 'keyword', 'form', 'member', 'agent')),
  -- The customer's phone and platform user id, encrypted, and their digests.
  customer bytea not null,
  phone_index bytea,
  user_index bytea,
  index_version integer not null,
  -- The connection on which the customer decided; null if it was elsewhere.
  connection_id uuid,
  actor_type text not null check (actor_type in ('agent', 'user', 'token', 'form', 'system')),
  actor_id uuid,
  -- The platform's time of the decision; null if it has none. Only compared with other times of the platform.
  reported_at timestamptz(3),
  -- Our time, by which decisions are ordered.
  decided_at timestamptz(3) not null,
  -- It arrived after a newer decision and never counted.
  is_late boolean not null,
  primary key (workspace_id, id)
);
create index consents_phone on consents (workspace_id, phone_index)
where phone_index is not null;
create index consents_user on consents (workspace_id, user_index)
where user_index is not null;

-- Messages that consist of one of these words opt the customer out of marketing, or in again.
alter table workspaces
  add column opt_out_keywords text[] not null default
    '{STOP,STOP PROMOTIONS,UNSUBSCRIBE,SAIR,PARAR,CANCELAR INSCRIÇÃO,DESCADASTRAR,BAJA,DETENER,CANCELAR SUSCRIPCIÓN}',
  add column opt_in_keywords text[] not null default '{START,SUBSCRIBE,VOLTAR,INSCREVER,ALTA,SUSCRIBIR}';

-- Not validated: a scan of all activities would lock the table for as long, and older rows have one of the kinds anyway.
alter table conversation_activities drop constraint conversation_activities_kind_check;
alter table conversation_activities
add constraint conversation_activities_kind_check check (kind in ('owner', 'status', 'assignee', 'labels', 'consent')) not valid;
