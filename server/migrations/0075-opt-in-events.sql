-- Events that are recorded only for workspaces that ask for them, which the event feed of this one has; see
-- workspaces/opt-in-events.ts. Webhook endpoints name theirs in webhook_endpoints.events.
alter table workspaces add column feed_events text[] not null default '{}';
