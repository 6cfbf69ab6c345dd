import { byteaArray, type Fragment, type Tx } from '../base/db.ts'
import { newId } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'

export interface NewEvent {
  name: EventName
  /** The lead or conversation that the event tells of. */
  subjectId: string
  payload: object
}

export type EventName =
  | 'lead.created'
  | 'lead.updated'
  | 'lead.deleted'
  | 'lead.restored'
  | 'inbox.message.received'
  | 'inbox.message.sent'
  | 'inbox.message.status'
  | 'inbox.conversation.owner_changed'

/** Records events in the transaction of the change they tell of, in the order given. */
export async function recordEvents(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  events: readonly NewEvent[],
  at: Date,
): Promise<void> {
  if (events.length > 0) await insertEvents(tx, keyring, workspaceId, events, at, tx`true`).execute()
}

/** The statement that records events where `condition` holds, alone or as a part of the change's own statement. */
export function insertEvents(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  events: readonly NewEvent[],
  at: Date,
  condition: Fragment,
) {
  const ids = events.map(() => newId(at))
  const payloads = events.map((event, n) =>
    keyring.seal({ table: 'events', row: ids[n] ?? '', column: 'payload' }, JSON.stringify(event.payload)),
  )
  return tx`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at)
    select ${workspaceId}::uuid, e.id, e.name, e.subject_id, e.payload, ${at}::timestamptz
    from unnest(
      ${ids}::uuid[],
      ${events.map((event) => event.name)}::text[],
      ${events.map((event) => event.subjectId)}::uuid[],
      ${byteaArray(tx, payloads)}::bytea[]
    ) as e (id, name, subject_id, payload)
    where ${condition}`
}
