import { newId } from '../../base/id.ts'
import { recordTestEvent } from '../../events/record.ts'
import type { Member } from '../../team/member.ts'
import { lockEndpoint } from '../endpoint/endpoint.ts'
import { endpointDisabled, eventNotFound } from '../endpoint/errors.ts'
import { queueOnce } from '../endpoint/replay.ts'
import { eventCatalogue, type KnownEvent } from '../event-catalogue.ts'
import { noteChange } from './change.ts'
import type { WebhookDeps } from './deps.ts'
import { findEvent } from './send-again.ts'

/**
 * Sends an endpoint an invented event, signed and shown as a true one, and returns its id. It does not wait behind the
 * endpoint's backlog, and nobody else sees it.
 */
export async function sendTest(deps: WebhookDeps, member: Member, id: string, name: KnownEvent): Promise<string> {
  const { workspaceId } = member
  const now = deps.clock.now()
  const keyring = await deps.vault.keyring(workspaceId)
  const event = eventCatalogue[name].sample(newId(now), now)
  const eventId = await deps.db.tx(async (tx) => {
    if ((await lockEndpoint(tx, workspaceId, id)).state === 'disabled') throw endpointDisabled()
    return recordTestEvent(tx, keyring, workspaceId, id, event, now)
  })
  // Places are given to what is committed.
  await deps.sequencer.place(workspaceId)
  await deps.db.tx(async (tx) => {
    const endpoint = await lockEndpoint(tx, workspaceId, id)
    const placed = await findEvent(tx, workspaceId, id, eventId)
    if (placed === undefined) throw eventNotFound()
    await queueOnce(tx, { workspaceId, id, phoneVisibility: endpoint.phone_visibility }, placed, now)
    await noteChange(tx, member, 'webhook.tested', id, now)
  })
  return eventId
}
