import type { FastifyRequest } from 'fastify'
import { invalid, type RequestPart } from '../../base/errors.ts'
import { readIsoTime } from '../../base/time.ts'
import { type Member, memberOf } from '../../team/member.ts'
import { openEndpoint, selectEndpoint } from '../endpoint/endpoint.ts'
import { endpointNotFound } from '../endpoint/errors.ts'
import { presentEndpoint } from '../endpoint/present.ts'
import { selectEndpointStatuses } from '../endpoint/queue-status.ts'
import type { WebhookDeps } from './deps.ts'

/** What the routes of this room share. */

export const webhooksPath = '/api/team/v1/workspaces/:workspaceId/webhooks'
export const endpointPath = `${webhooksPath}/:endpointId`

const countUpTo = 10_000

/** Returns one endpoint as the member sees it. */
export async function readEndpoint(deps: WebhookDeps, member: Member, id: string) {
  const { workspaceId } = member
  const row = await selectEndpoint(deps.db.sql, workspaceId, id)
  if (row === undefined) throw endpointNotFound()
  const statuses = await selectEndpointStatuses(deps.db.sql, workspaceId, [id], countUpTo)
  return deps.vault.withKeyring(workspaceId, (keyring) =>
    presentEndpoint(openEndpoint(keyring, row), statuses.get(id), seesAddress(member), deps.clock.now()),
  )
}

/** Returns the workspace of an endpoint; throws 404 when there is none. */
export async function workspaceOfEndpoint(
  { db }: WebhookDeps,
  request: FastifyRequest,
  endpointId: string,
): Promise<string> {
  const { workspaceId } = memberOf(request)
  if ((await selectEndpoint(db.sql, workspaceId, endpointId)) === undefined) throw endpointNotFound()
  return workspaceId
}

export const seesAddress = (member: Member): boolean => member.role !== 'member'

export function readTime(field: string, text: string, part: RequestPart = 'body'): Date {
  const time = readIsoTime(text)
  if (time === null) throw invalid(field, 'must be an ISO 8601 time', part)
  return time
}
