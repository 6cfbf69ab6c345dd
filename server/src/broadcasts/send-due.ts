import pLimit from 'p-limit'
import type { Sql } from '../base/db.ts'
import { ApiError } from '../base/errors.ts'
import type { RunStep } from '../base/run-step.ts'
import { findTemplate } from '../channels/templates/templates.ts'
import { findOrCreateConversation } from '../inbox/assignment/find-or-create-conversation.ts'
import { type ChangeTx, type Conversation, inWorkspace } from '../inbox/conversation/conversation.ts'
import { sendMessage } from '../inbox/send/send.ts'
import { templateCommandOf } from '../inbox/send/send-command.ts'
import { decryptLead } from '../leads/lead/encrypted-lead.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { findLeadsByIds } from '../leads/lead/queries.ts'
import { ecosystemPauseMs, phoneKeyOf, readCategories, takeNumber } from './audience.ts'
import { type Broadcast, type BroadcastDeps, findBroadcast, lockBroadcast, pauseItself, senderOf } from './broadcast.ts'
import type { Recipient } from './claim-recipients.ts'
import type { PauseReason } from './pacing.ts'
import { fillVariant, type Variant, variantProblem } from './variables.ts'

/** Steps of the work on broadcasts, besides those of sends, after each of which a process can die. */
export const broadcastSteps = ['freeze', 'claim', 'open', 'skip', 'settle', 'refresh'] as const
export type BroadcastStep = (typeof broadcastSteps)[number]

export interface SendBroadcastDeps extends BroadcastDeps {
  step: RunStep<BroadcastStep>
}

const sendsAtOnce = 8

/** Thrown by the check under the lock: leaves the recipient for later, or to who has it. */
class NotTheirTurn extends Error {}

/** Thrown by the check under the lock: they get nothing. */
class Skipped extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

/** Sends to claimed recipients, each by the ordinary send, which judges consent and everything else at that moment. */
export async function sendBatch(
  deps: SendBroadcastDeps,
  broadcast: Broadcast,
  recipients: readonly Recipient[],
): Promise<void> {
  const { sends, step } = deps
  const { workspaceId } = broadcast
  const [leads, categories] = await step('open', async () => [
    await readLeads(deps, broadcast, recipients),
    await readCategories(sends.db.sql, broadcast),
  ])
  const limit = pLimit(sendsAtOnce)
  const isMarketing = ({ variant }: Recipient) => categories[variant] === 'MARKETING'
  await Promise.all(
    recipients.map((one) =>
      limit(async () => {
        try {
          await sendTo(deps, broadcast, one, { ...leads.get(one.leadId), isMarketing: isMarketing(one) })
        } catch (error) {
          // The claim ends, and the next process tries again.
          sends.log.warn('failed to send to a recipient of a broadcast; retrying in 2 min', { workspaceId }, error)
        }
      }),
    ),
  )
}

async function readLeads(
  { sends }: BroadcastDeps,
  { workspaceId, id: broadcastId }: Broadcast,
  recipients: readonly Recipient[],
) {
  const ids = recipients.map(({ leadId }) => leadId)
  const rows = await findLeadsByIds(sends.db.sql, workspaceId, ids)
  return sends.keyStore.withKeyring(
    workspaceId,
    async (keyring) =>
      new Map(
        rows.map((row) => {
          const lead = decryptLead(keyring, row)
          return [row.id, { lead, phoneKey: lead.phone === null ? null : phoneKeyOf(keyring, broadcastId, lead.phone) }]
        }),
      ),
  )
}

async function sendTo(
  deps: SendBroadcastDeps,
  broadcast: Broadcast,
  recipient: Recipient,
  { lead, phoneKey = null, isMarketing }: { lead?: Lead; phoneKey?: string | null; isMarketing: boolean },
): Promise<void> {
  const { sends, step } = deps
  const skip = (reason: string) => step('skip', () => skipRecipient(deps, broadcast, recipient.id, reason))
  const variant = broadcast.variants[recipient.variant]
  if (lead === undefined || variant === undefined) return skip('lead_deleted')
  if (lead.phone === null || phoneKey === null) return skip('no_number')
  if (phoneKey !== recipient.phoneKey && !(await takeNumber(sends.db, broadcast, recipient.id, phoneKey))) {
    return skip('duplicate')
  }
  const template = fillVariant(variant, lead)
  if (template === null) return skip('missing_value')
  const sender = senderOf(broadcast)
  try {
    const { connectionId } = broadcast
    const start = { connectionId, phone: lead.phone, template: templateCommandOf(template) }
    const { conversation } = await findOrCreateConversation(sends, sender, start)
    await sendMessage(sends, sender, {
      conversationId: conversation.id,
      idempotencyKey: keyOf(broadcast, recipient),
      body: { kind: 'template', template },
      syntax: 'whole',
      // The lead may have changed since the first attempt.
      identity: { recipient: recipient.id },
      check: (work, locked) => checkTurn(work, broadcast, recipient, locked, isMarketing),
      reserved: (work, message) => markSending(work, recipient, message),
    })
  } catch (error) {
    if (error instanceof NotTheirTurn) return
    if (error instanceof Skipped) return skip(error.reason)
    if (!(error instanceof ApiError)) throw error
    const code = String(error.data?.code ?? `HTTP_${error.statusCode}`)
    // The message has the result, or will have it.
    if (code === 'NOT_RETRYABLE' || code === 'DELIVERY_FAILED') return
    if (error.statusCode >= 500 || code === 'HTTP_429') throw error
    const isOutdated = code === 'INVALID_MESSAGE' && (await hasProblem(deps, broadcast, variant))
    const pauses = isOutdated ? 'template' : (pausing[code] ?? (code === 'HTTP_404' ? 'connection' : undefined))
    if (pauses === undefined) return skip(skippedAs[code] ?? code)
    await step('skip', () => pauseFor(deps, broadcast, recipient.id, pauses))
  }
}

/** Whether the template was changed since the start, so that nobody can get it with these variables. */
async function hasProblem(
  { sends }: BroadcastDeps,
  { workspaceId, connectionId }: Broadcast,
  variant: Variant,
): Promise<boolean> {
  const { name, language } = variant.template
  return variantProblem(variant, await findTemplate(sends.db.sql, workspaceId, connectionId, name, language)) !== null
}

const keyOf = ({ id }: Broadcast, recipient: Recipient): string => `broadcast:${id}:${recipient.id}`

/** Refusals that are not about the recipient: everyone else would be refused too. */
const pausing: Readonly<Record<string, PauseReason>> = {
  CONNECTION_UNAVAILABLE: 'connection',
  ACKNOWLEDGEMENT_REQUIRED: 'connection',
  TEMPLATE_NOT_APPROVED: 'template',
  BUDGET_REACHED: 'budget',
}

const skippedAs: Readonly<Record<string, string>> = {
  OPTED_OUT: 'opted_out',
  ON_STANDBY: 'other_app',
  INVALID_MESSAGE: 'invalid',
}

/**
 * Judges under the locks of conversation, broadcast and recipient: a broadcast that was paused or cancelled reserves
 * nothing more.
 */
async function checkTurn(
  { tx, workspaceId, now }: ChangeTx,
  { id }: Broadcast,
  recipient: Recipient,
  conversation: Conversation,
  isMarketing: boolean,
): Promise<void> {
  const running = await tx`
    select id
    from broadcasts
    where workspace_id = ${workspaceId}
      and id = ${id}
      and state = 'running'
    for share`
  const pending = await tx`
    select id
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and id = ${recipient.id}
      and status = 'pending'
    for update`
  if (running.length === 0 || pending.length === 0) throw new NotTheirTurn()
  if (isMarketing && (await wasRefused(tx, workspaceId, conversation.id, now))) throw new Skipped('recently_refused')
}

/** Returns whether the platform has refused a message to this customer for its ecosystem: not again for 24 hours. */
async function wasRefused(sql: Sql, workspaceId: string, conversationId: string, now: Date): Promise<boolean> {
  const rows = await sql`
    select id
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
      and occurred_at > ${new Date(now.getTime() - ecosystemPauseMs)}
      and error_code = '131049'
    limit 1`
  return rows.length > 0
}

/** In the transaction that reserves the send: from then on the message tells what became of it. */
async function markSending(
  { tx, workspaceId, now }: ChangeTx,
  { id }: Recipient,
  message: { id: string; conversationId: string },
): Promise<void> {
  const { count } = await tx`
    update broadcast_recipients
    set status = 'sending',
      message_id = ${message.id},
      conversation_id = ${message.conversationId},
      sent_at = ${now},
      claimed_until = null
    where workspace_id = ${workspaceId}
      and id = ${id}
      and status = 'pending'`
  if (count !== 1) throw new NotTheirTurn()
}

async function skipRecipient(
  { sends }: BroadcastDeps,
  broadcast: Broadcast,
  id: string,
  reason: string,
): Promise<void> {
  await sends.db.tx(
    (tx) => tx`
      update broadcast_recipients
      set status = 'skipped',
        reason = ${reason.slice(0, 100)},
        claimed_at = null,
        claimed_until = null
      where workspace_id = ${broadcast.workspaceId}
        and id = ${id}
        and status = 'pending'`,
  )
}

/** Pauses it and gives the recipient back, who is first when people resume it. */
function pauseFor({ sends }: BroadcastDeps, broadcast: Broadcast, id: string, reason: PauseReason): Promise<void> {
  const { workspaceId } = broadcast
  return inWorkspace(sends, workspaceId, async (work) => {
    const current = await lockBroadcast(work, broadcast.id)
    await pauseItself(work, current, reason)
    await work.tx`
      update broadcast_recipients
      set claimed_at = null,
        claimed_until = null
      where workspace_id = ${workspaceId}
        and id = ${id}
        and status = 'pending'`
  })
}

/** Reads a broadcast again. */
export const reread = ({ sends }: BroadcastDeps, { workspaceId, id }: Broadcast): Promise<Broadcast> =>
  sends.keyStore.withKeyring(workspaceId, (keyring) => findBroadcast(sends.db.sql, keyring, workspaceId, id))
