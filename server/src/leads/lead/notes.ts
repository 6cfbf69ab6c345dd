import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { TeamActor } from '../../team/member.ts'
import { announceLead } from '../../team/team-news.ts'
import { leadNotFound } from './errors.ts'
import type { LeadDeps } from './lead.ts'
import { lockLead } from './queries.ts'

const leadNotePlace = (id: string) => ({ table: 'lead_notes', row: id, column: 'text' })

export const openLeadNote = (keyring: Keyring, id: string, text: Buffer): string =>
  keyring.openText(leadNotePlace(id), text)

export interface NewLeadNote {
  leadId: string
  text: string
  /** Under one key its author adds one note, however often it is tried. */
  key: string | null
}

/** Adds a note to a lead that is there; returns its id, that of the first when the key was used before. */
export async function addLeadNote(
  { db, vault, clock }: LeadDeps,
  workspaceId: string,
  actor: TeamActor,
  { leadId, text, key }: NewLeadNote,
): Promise<string> {
  return vault.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      if ((await lockLead(tx, workspaceId, leadId)) === undefined) throw leadNotFound()
      const now = clock.now()
      const id = newId(now)
      const [added] = await tx<{ id: string }[]>`
        insert into lead_notes (
          workspace_id, id, lead_id, text, actor_type, actor_id, idempotency_key, created_at
        )
        values (
          ${workspaceId}, ${id}, ${leadId}, ${keyring.seal(leadNotePlace(id), text)}, ${actor.type}, ${actor.id}, ${key},
          ${now}
        )
        on conflict (workspace_id, actor_id, idempotency_key) where idempotency_key is not null do nothing
        returning id`
      if (added === undefined) return earlierNote(tx, workspaceId, actor.id, key)
      announceLead(tx, workspaceId, leadId)
      return id
    }),
  )
}

async function earlierNote(tx: Tx, workspaceId: string, actorId: string, key: string | null): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    select id
    from lead_notes
    where workspace_id = ${workspaceId}
      and actor_id = ${actorId}
      and idempotency_key = ${key}`
  if (row === undefined) throw leadNotFound()
  return row.id
}
