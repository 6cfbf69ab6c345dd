import { announce, type Tx } from '../base/db.ts'
import { newId } from '../base/id.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import { type NewEvent, recordedTopic } from './record.ts'

/** Records an event that is for one webhook endpoint alone; answers its id. */
export async function recordTestEvent(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  endpointId: string,
  event: NewEvent,
  at: Date,
): Promise<string> {
  const id = newId(at)
  const payload = keyring.seal({ table: 'events', row: id, column: 'payload' }, JSON.stringify(event.payload))
  await tx`
    insert into events (
      workspace_id, id, name, subject_id, connection_id, payload, occurred_at, test_endpoint_id
    )
    values (
      ${workspaceId}, ${id}, ${event.name}, ${event.subjectId}, ${event.connectionId}, ${payload}, ${at},
      ${endpointId}
    )`
  announce(tx, recordedTopic, workspaceId)
  return id
}
