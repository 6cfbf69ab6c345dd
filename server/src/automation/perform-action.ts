import type { Tx } from '../base/db.ts'
import { ApiError, conflict, InvalidInput, notFound } from '../base/errors.ts'
import { defaultLeadSettings } from '../base/lead-settings.ts'
import { updateConversation } from '../inbox/assignment/update-conversation.ts'
import type { ChangeTx, Conversation } from '../inbox/conversation/conversation.ts'
import { agent, human } from '../inbox/conversation/owner.ts'
import { loadConversation } from '../inbox/conversation/queries.ts'
import { addTeamNote } from '../inbox/notes/notes.ts'
import { resolveContact } from '../inbox/read/names.ts'
import { sendMessage } from '../inbox/send/send.ts'
import type { LockedCheck, SendDeps, Sender } from '../inbox/send/send-deps.ts'
import { parseSendOutcome } from '../inbox/send/settle-parts.ts'
import { withAgentRules } from '../leads/fields/lead-fields.ts'
import { parseLeadPatch } from '../leads/lead/input.ts'
import { type LeadUser, leadNotFound } from '../leads/lead/lead.ts'
import type { LeadChanges } from '../leads/lead/schema.ts'
import { type LeadCheck, updateLead } from '../leads/write/update.ts'
import { startRuns } from '../sequences/start-runs.ts'
import { requireEndpoint } from '../webhooks/endpoint/endpoint.ts'
import { queueEvent } from '../webhooks/endpoint/replay.ts'
import { requireEvent } from '../webhooks/manage/change-endpoint.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import { fillText, type TextValues } from './fill-text.ts'
import type { Action } from './rule-schema.ts'

/** By whom and on what actions are done. */
export interface ActionContext {
  workspaceId: string
  /** A person, or a rule. */
  actor: Sender['actor']
  /** Who runs a macro; null for a rule. */
  authorName: string | null
  conversationId: string | null
  /** Null: the lead of the conversation, if it has one. */
  leadId: string | null
  /** The event of the feed. */
  eventId: string | null
  /** Identifies the action: a send or note with it happens once. */
  key: string
  checks?: ActionChecks
}

/** Checks in the transaction of an action, under the lock of what it changes. */
export interface ActionChecks {
  change: LockedCheck
  /** May run for a send that is refused after it, and for a request, also about no conversation. */
  send: (work: Pick<ChangeTx, 'tx' | 'keyring' | 'now'>, conversation: Conversation | null) => Promise<void>
  lead: LeadCheck
  /** For an action that changes neither. */
  other: (tx: Tx) => Promise<void>
}

/** A message that the platform refused; its conversation shows why. */
export class NotDelivered extends Error {}

/**
 * Does one action, by the operation that a person's click runs. Throws what that throws: 404, 403, 409, 422 and, for
 * values that are no longer valid, 400; `NotDelivered`; and what the checks throw.
 */
export async function act(deps: SendDeps, context: ActionContext, action: Action): Promise<void> {
  switch (action.kind) {
    case 'reply':
    case 'send_template':
      return send(deps, context, action)
    case 'set_lead_field':
      return setLeadField(deps, context, action)
    case 'send_webhook':
      return sendWebhook(deps, context, action)
    case 'start_sequence':
      return startSequence(deps, context, action)
    case 'add_note':
      return addNote(deps, context, action.text ?? '')
    case 'wait':
      return
    default:
      return change(deps, context, action)
  }
}

const conversationOf = ({ conversationId }: ActionContext): string => {
  if (conversationId === null) throw conflict('The lead has no conversation', { code: 'NO_CONVERSATION' })
  return conversationId
}

const scopeOf = ({ workspaceId }: ActionContext) => ({ workspaceId, connectionIds: [] })

async function change(deps: SendDeps, context: ActionContext, action: Action): Promise<void> {
  const { actor, checks } = context
  const patch = patchOf(action, deps.clock.now())
  await updateConversation(deps, scopeOf(context), actor, conversationOf(context), patch, checks?.change)
}

function patchOf(action: Action, now: Date): Parameters<typeof updateConversation>[4] {
  const { labelIds = [], userId = null, teamId = null, keyId = '', status = 'open', minutes, priority = null } = action
  const ids = labelIds.map((id) => id.toLowerCase())
  switch (action.kind) {
    case 'add_labels':
      return { labels: { add: ids, remove: [] } }
    case 'remove_labels':
      return { labels: { add: [], remove: ids } }
    case 'assign':
      return { assignedTo: userId?.toLowerCase() ?? null }
    case 'assign_team':
      return { teamId: teamId?.toLowerCase() ?? null }
    case 'to_people':
      return { owner: human }
    case 'to_agent':
      return { owner: agent(keyId.toLowerCase()) }
    case 'set_status':
      return { status, snoozedUntil: minutes === undefined ? null : new Date(now.getTime() + minutes * 60_000) }
    case 'set_priority':
      return { priority }
    default:
      throw new TypeError(`${action.kind} changes no conversation`)
  }
}

/** A rule's note is written with its check; a person's repeated request finds the first by its key. */
async function addNote(deps: SendDeps, context: ActionContext, text: string): Promise<void> {
  const { actor, checks, key } = context
  const conversationId = conversationOf(context)
  if (checks !== undefined) {
    await updateConversation(deps, scopeOf(context), actor, conversationId, { note: text }, checks.change)
  } else await addTeamNote(deps, scopeOf(context), actor, { conversationId, text, mentions: [], key })
}

async function send(deps: SendDeps, context: ActionContext, action: Action): Promise<void> {
  const { workspaceId, actor, key, checks } = context
  const conversationId = conversationOf(context)
  const body = await bodyOf(deps, context, conversationId, action)
  const sent = await sendMessage(
    deps,
    { workspaceId, actor, connectionIds: [] },
    {
      ...{ conversationId, idempotencyKey: key, body, syntax: 'whole' as const },
      // Values that fill the text may have changed since the first attempt.
      identity: { action: key },
      ...(action.isAnswer !== undefined && { isAnswer: action.isAnswer }),
      ...(checks !== undefined && { check: checks.send }),
    },
  )
  if (parseSendOutcome(sent).status === 'failed') throw new NotDelivered()
}

async function bodyOf(deps: SendDeps, context: ActionContext, conversationId: string, action: Action): Promise<object> {
  const values = await textValues(deps, context, conversationId)
  if (action.kind === 'send_template') {
    const { name = '', language = '', parameters = [] } = action.template ?? {}
    const body_params = parameters.map((parameter) => fillText(parameter, values))
    return { kind: 'template', template: { name, language, body_params } }
  }
  const text = action.text ?? (await readCannedReply(deps, context.workspaceId, action.cannedReplyId ?? ''))
  return { kind: 'text', text: fillText(text, values) }
}

async function textValues(deps: SendDeps, context: ActionContext, conversationId: string): Promise<TextValues> {
  const { workspaceId, authorName } = context
  const { contact } = await loadConversation(deps, scopeOf(context), conversationId)
  const lead = contact.phone === null ? null : await deps.findLead(workspaceId, contact.phone)
  const { name, phone } = resolveContact(contact, lead)
  const workspace = await findWorkspace(deps.db.sql, workspaceId)
  return { contactName: name, contactPhone: phone, workspaceName: workspace?.name ?? '', authorName }
}

async function readCannedReply({ db }: SendDeps, workspaceId: string, id: string): Promise<string> {
  const [reply] = await db.sql<{ text: string }[]>`
    select text
    from canned_replies
    where workspace_id = ${workspaceId}
      and id = ${id}`
  if (reply === undefined) throw notFound('Canned reply not found')
  return reply.text
}

async function setLeadField(deps: SendDeps, context: ActionContext, action: Action): Promise<void> {
  const { workspaceId, actor, checks } = context
  const leadId = context.leadId ?? (await leadIdOf(deps, context))
  const workspace = await findWorkspace(deps.db.sql, workspaceId)
  const { defaultCountry } = workspace ?? defaultLeadSettings
  const user: LeadUser = { defaultCountry, workspaceId, masked: false, actor }
  const { patch, issues } = parseLeadPatch(leadChangesOf(action), [], { ...user, at: '' })
  if (issues.length > 0) throw new InvalidInput(issues)
  const fitting = await withAgentRules(deps.db.sql, user, patch)
  await updateLead(deps, user, leadId, { patch: fitting, issues }, checks?.lead)
}

/** A lead that is in the sequence already stays in it. */
async function startSequence(deps: SendDeps, context: ActionContext, { sequenceId = '' }: Action): Promise<void> {
  const { workspaceId, actor, checks } = context
  const leadId = context.leadId ?? (await leadIdOf(deps, context))
  await deps.db.tx(async (tx) => {
    await checks?.other(tx)
    const by = actor.type === 'system' ? { entry: 'rule' as const } : { entry: 'person' as const }
    const start = { ...by, sequenceId: sequenceId.toLowerCase(), leadIds: [leadId], actor }
    const { refused } = await startRuns(tx, workspaceId, start, deps.clock.now())
    if (refused.length > 0) throw conflict('The lead cannot be added to the sequence', { code: 'LEAD_REFUSED' })
  })
}

async function leadIdOf(deps: SendDeps, context: ActionContext): Promise<string> {
  const { contact } = await loadConversation(deps, scopeOf(context), conversationOf(context))
  const lead = contact.phone === null ? null : await deps.findLead(context.workspaceId, contact.phone)
  if (lead === null) throw new ApiError(404, leadNotFound().message, { data: { code: 'NO_LEAD' } })
  return lead.id
}

function leadChangesOf({ field, key = '', value = null }: Action): LeadChanges {
  if (field === 'custom') return { customFieldValues: { [key]: value } }
  return { [field ?? 'status']: value } as LeadChanges
}

/** Queues the event for the endpoint, also if that is not subscribed to it; one that has a delivery gets no second. */
async function sendWebhook(deps: SendDeps, context: ActionContext, { endpointId = '' }: Action): Promise<void> {
  const { workspaceId, eventId, checks } = context
  const key = { workspaceId, id: endpointId }
  await deps.db.tx(async (tx) => {
    const endpoint = await requireEndpoint(tx, key, 'for update')
    if (endpoint.state === 'disabled') throw conflict('The endpoint is disabled; enable it first')
    await checks?.other(tx)
    await queueEvent(tx, endpoint, await requireEvent(tx, key, eventId ?? ''), 'once', deps.clock.now())
  })
}
