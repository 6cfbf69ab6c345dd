-- What of a connection the platform lets nobody send for now, and since when; see channels/health/holds.ts.
alter table connections add column holds jsonb not null default '[]';

-- Why a notice about a connection was given, where it is not that the connection is down.
alter table notices add column reason text;

-- Whether the account has the endpoint of its own for marketing templates.
alter table connections add column sends_marketing boolean not null default false;
