-- Mails to people; see mail/mails.ts. Recorded in the transaction of their cause, and sent from here. Of the installation, not of a
-- workspace: a person who asks for a sign-in link has none yet.
create table mails (
  id uuid primary key,
  kind text not null check (kind in ('invitation', 'sign-in', 'reset', 'notifications', 'digest')),
  -- Deduplicates: one mail per person and cause.
  cause text not null,
  workspace_id uuid,
  user_id uuid,
  -- Mails that a person waits for (0) are sent before the others (1).
  priority smallint not null,
  status text not null check (status in ('waiting', 'sent', 'refused', 'expired')),
  -- Encrypted: address, subject and texts. Null as soon as the mail has ended.
  content bytea,
  -- Encrypted: the last answer of the mail server.
  answer bytea,
  attempts integer not null default 0,
  created_at timestamptz(3) not null,
  -- When it is given up.
  expires_at timestamptz(3) not null,
  -- When it is tried next; while a process sends it, when that lease expires. Null: ended.
  next_at timestamptz(3),
  -- The process that sends it; see base/lease-session.ts.
  lease_session text,
  finished_at timestamptz(3),
  check ((status = 'waiting') = (next_at is not null)),
  check ((status = 'waiting') = (content is not null))
);
create unique index mails_cause on mails (cause);
create index mails_due on mails (priority, next_at)
where next_at is not null;
create index mails_waiting on mails (workspace_id)
where next_at is not null;
create index mails_user on mails (user_id, finished_at desc)
where finished_at is not null;
create index mails_finished on mails (finished_at)
where finished_at is not null;

-- Language of the app, in which a person gets mail; null: English.
alter table users
  add column language text;
alter table users
add constraint users_language_check check (language in ('en', 'es', 'pt'));

-- When an unread notification is mailed; null: it is not, or was.
alter table notices
  add column mail_at timestamptz(3);
create index notices_mail on notices (mail_at)
where mail_at is not null;

-- The daily digest: its time and time zone, and when the next one is due; null: none.
alter table notice_settings
  add column digest jsonb,
  add column digest_at timestamptz(3);
create index notice_settings_digest on notice_settings (digest_at)
where digest_at is not null;
