import type { Db } from '../../server/src/base/db.ts'

/** Returns the id of the baseline's n-th conversation. */
export const baselineConversation = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** Creates the baseline's tables: the same conversations and messages in plain columns, with indexes for its lists. */
export async function makeInboxBaseline(db: Db): Promise<void> {
  await db.sql.unsafe(`
      create table floor_conversations (
        workspace_id integer not null,
        id uuid not null,
        connection_id uuid not null,
        channel text not null,
        owner text not null,
        status text not null,
        assigned_to uuid,
        label_ids uuid[] not null,
        unread_count integer not null,
        window_expires_at timestamptz(3),
        snoozed_until timestamptz(3),
        last_message_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        name text,
        phone text,
        primary key (workspace_id, id)
      );
      create index on floor_conversations (workspace_id, updated_at desc, id desc);
      create table floor_messages (
        workspace_id integer not null,
        id uuid not null,
        conversation_id uuid not null,
        external_id text,
        direction text not null,
        kind text not null,
        text text not null,
        status text not null,
        occurred_at timestamptz(3) not null,
        primary key (workspace_id, id)
      );
      create unique index on floor_messages (workspace_id, external_id);
      create index on floor_messages (workspace_id, conversation_id, occurred_at);
      create table floor_events (id uuid primary key, body bytea not null);
    `)
}

export async function fillInboxBaseline(
  db: Db,
  conversations: number,
  withMessages: number,
  each: number,
): Promise<void> {
  await db.sql`
    insert into floor_conversations
    select 1, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, gen_random_uuid(), 'waba', 'human', 'open',
      null, '{}', 0, now(), null, now(), now() - n * interval '1 minute', 'Ana ' || n, '5511900000000'
    from generate_series(0, ${conversations}::integer - 1) n`
  await db.sql`
    insert into floor_messages
    select 1, gen_random_uuid(), ('00000000-0000-4000-8000-' || lpad(c::text, 12, '0'))::uuid,
      'wamid.' || gen_random_uuid(), 'inbound', 'text',
      'Message ' || n || ' of a conversation of some length, as people write them.', 'delivered',
      now() - n * interval '1 minute'
    from generate_series(0, ${withMessages}::integer - 1) c
    cross join generate_series(1, ${each}::integer) n`
}

/** Adds sent messages by their platform ids. */
export async function fillSentBaseline(db: Db, externalIds: readonly string[]): Promise<void> {
  await db.sql`
    insert into floor_messages
    select 1, gen_random_uuid(), gen_random_uuid(), external_id, 'outbound', 'text',
      'Good morning! It is still there, and we are open until six.', 'sent', now()
    from unnest(${[...externalIds]}::text[]) with ordinality as s (external_id, place)
    order by place`
}
