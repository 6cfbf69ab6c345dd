import type { FastifyInstance } from 'fastify'
import type { Db } from '../../server/src/base/db.ts'
import type { Run } from './baseline-db.ts'

interface PlainEvent {
  name: string
  payload: object
}

export async function makeFeedBaseline(db: Db): Promise<void> {
  await db.sql.unsafe(`
      create table floor_feed (
        workspace_id integer not null,
        position bigint not null,
        id uuid not null,
        name text not null,
        occurred_at timestamptz(3) not null,
        payload text not null,
        primary key (workspace_id, position)
      );
    `)
}

export async function fillFeedBaseline(db: Db, events: readonly PlainEvent[]): Promise<void> {
  await db.sql`
    insert into floor_feed
    select 1, e.place, gen_random_uuid(), e.name, now(), e.payload
    from unnest(
      ${events.map(({ name }) => name)}::text[],
      ${events.map(({ payload }) => JSON.stringify(payload))}::text[]
    ) with ordinality as e (name, payload, place)`
}

/** Registers the baseline of a page of the feed: payloads are text and sent unchanged. */
export function serveFeedBaseline(app: FastifyInstance, read: Run): void {
  app.get<{ Querystring: { after: string } }>('/events', async (request, reply) => {
    const rows = await read<{ position: string; id: string; name: string; occurred_at: Date; payload: string }>(
      `select position, id, name, occurred_at, payload
      from floor_feed where workspace_id = 1 and position > $1
      order by position limit 51`,
      [request.query.after],
    )
    const shown = rows.slice(0, 50)
    const events = shown.map(
      ({ id, name, occurred_at, payload }) =>
        `{"id":"${id}","event":"${name}","occurred_at":"${occurred_at.toISOString()}","payload":${payload}}`,
    )
    reply.type('application/json; charset=utf-8')
    return `{"events":[${events}],"next_cursor":"${shown.at(-1)?.position}","has_more":${rows.length > 50}}`
  })
}
