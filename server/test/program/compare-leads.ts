import { systemClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/db.ts'
import { openKeyStore } from '../../src/base/encryption/key-store.ts'
import { parseMasterKey } from '../../src/base/encryption/secrets.ts'
import type { LeadHistory } from './lead-writer.ts'

/** Returns the first five leads whose stored values or events differ from what their writers know. */
export async function compareLeads(
  db: Db,
  masterKey: string,
  workspaceId: string,
  leads: readonly LeadHistory[],
): Promise<string[]> {
  const keyring = await openKeyStore(db, { current: parseMasterKey(masterKey) }, systemClock).keyring(workspaceId)
  const events = await db.sql<{ id: string; subject_id: string; name: string; payload: Buffer }[]>`
    select id, subject_id, name, payload
    from events
    where workspace_id = ${workspaceId}
      and name like 'lead.%'
    order by id`
  const told = Map.groupBy(events, ({ subject_id }) => subject_id)
  const namesOf = (id: string) =>
    (told.get(id) ?? []).map((event) => {
      const place = { table: 'events', row: event.id, column: 'payload' }
      return `${event.name} ${JSON.parse(keyring.decryptText(place, event.payload)).estimatedValue}`
    })
  const rows = await db.sql<{ id: string; value: number; deleted: boolean }[]>`
    select id, estimated_value as value, deleted_at is not null as deleted
    from leads
    where workspace_id = ${workspaceId}`
  const stored = new Map(rows.map((row) => [row.id, wordsOf({ ...row, events: namesOf(row.id) })]))
  const known = new Map(leads.map((lead) => [lead.id, wordsOf(lead)]))
  return [...new Set([...stored.keys(), ...known.keys(), ...told.keys()])]
    .filter((id) => stored.get(id) !== known.get(id))
    .slice(0, 5)
    .map((id) => `${id} is ${stored.get(id)} and should be ${known.get(id)}`)
}

const wordsOf = ({ value, deleted, events }: LeadHistory) => `${value} ${deleted}: ${events.join(', ')}`
