import type { Keyring } from '../../server/src/base/encryption/keyring.ts'
import { newId } from '../../server/src/base/id.ts'
import type { NewEvent } from '../../server/src/events/record.ts'

/** Returns the row of an event with a position in the feed. */
export function eventRow(keyring: Keyring, workspaceId: string, event: NewEvent, at: Date, position: number) {
  const id = newId(at)
  return {
    workspace_id: workspaceId,
    id,
    name: event.name,
    subject_id: event.subjectId,
    connection_id: event.connectionId,
    payload: keyring.encrypt({ table: 'events', row: id, column: 'payload' }, JSON.stringify(event.payload)),
    occurred_at: at,
    position,
  }
}
