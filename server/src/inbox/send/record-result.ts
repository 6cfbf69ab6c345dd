import { andWorkspace } from '../../base/citus/distributed-sql.ts'
import { pipelineCommit, type Tx } from '../../base/db.ts'
import { storeActivity } from '../../channels/health/activity.ts'
import { type DispatchKey, recordVerdict, type Verdict } from '../conversation/dispatches.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import { encryptExternalId, outcomeUnknown } from '../conversation/message.ts'
import type { ReservedSend } from './reserve.ts'
import type { PartOutcome, SendDeps } from './send-deps.ts'
import { retryWrite } from './send-deps.ts'

export function recordResult(deps: SendDeps, reserved: ReservedSend, part: number, result: PartOutcome): Promise<void> {
  return retryWrite(() => recordOnce(deps, reserved, part, result))
}

async function recordOnce(deps: SendDeps, reserved: ReservedSend, part: number, result: PartOutcome): Promise<void> {
  const keyring = await deps.keyStore.keyring(reserved.workspaceId)
  const externalId = result.outcome === 'accepted' ? result.externalId : null
  const { connection } = reserved
  const now = deps.clock.now()
  await deps.db.tx((tx) =>
    pipelineCommit(tx, () =>
      Promise.all([
        recordPart(tx, reserved, part, {
          verdict: verdicts[result.outcome],
          errorCode: errorCodeOf(result),
          externalIndex: externalId === null ? null : externalIndex(keyring, connection.id, externalId),
          externalId: externalId === null ? null : encryptExternalId(keyring, reserved.messageId, externalId),
        }),
        externalId === null ? null : storeActivity(tx, connection, 'out', now),
      ]),
    ),
  )
}

const verdicts: Record<PartOutcome['outcome'], Verdict> = {
  accepted: 'accepted',
  refused: 'refused',
  unreachable: 'undelivered',
  unknown: 'undelivered',
  stopped: 'stopped',
}

// Unknown results always get this code, which a later status can replace, whatever the connector calls them.
function errorCodeOf(result: PartOutcome): string | null {
  if (result.outcome === 'accepted') return null
  return result.outcome === 'unknown' ? outcomeUnknown : result.errorCode
}

interface PartResult {
  verdict: Verdict
  errorCode: string | null
  /** Digest of the part's platform id, and the encrypted id for messages/external_id. */
  externalIndex: Buffer | null
  externalId: Buffer | null
}

/**
 * Records the result of one part as soon as it is known, and that no call is about to start. Takes no lock of the
 * conversation, since a change of owner that holds it may be waiting for this write. Keeps a status that arrived before
 * the platform's response.
 */
export async function recordPart(tx: Tx, dispatch: DispatchKey, part: number, result: PartResult): Promise<void> {
  const { workspaceId, messageId } = dispatch
  const status = result.verdict === 'accepted' ? 'sent' : 'failed'
  await Promise.all([
    tx`
    update message_parts p
    set status = case when p.status = 'pending' then ${status} else p.status end,
      error_code = case when p.status = 'pending' then ${result.errorCode} else p.error_code end,
      external_index = coalesce(p.external_index, (
        select ${result.externalIndex}::bytea
        where not exists (
          select 1
          from message_parts other
          where other.workspace_id = p.workspace_id
            and other.connection_id = p.connection_id
            and other.external_index = ${result.externalIndex}::bytea
            ${andWorkspace(tx, workspaceId, 'other')}
        )
        and not exists (
          select 1
          from messages other
          where other.workspace_id = p.workspace_id
            and other.connection_id = p.connection_id
            and other.external_index = ${result.externalIndex}::bytea
            and other.origin = 'live'
            and other.id <> p.message_id
            ${andWorkspace(tx, workspaceId, 'other')}
        )
      ))
    where p.workspace_id = ${workspaceId}
      and p.message_id = ${messageId}
      and p.part = ${part}`.execute(),
    recordVerdict(tx, dispatch, result.verdict, result.externalId),
  ])
}
