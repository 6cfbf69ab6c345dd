import type { Tx } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { conflict } from '../base/errors.ts'
import type { Outgoing } from '../base/outgoing/guarded-fetch.ts'
import { version } from '../base/version.ts'
import { presentConversation } from '../inbox/api/present.ts'
import type { Conversation } from '../inbox/conversation/conversation.ts'
import { decryptConversation } from '../inbox/conversation/encrypted-conversation.ts'
import { findConversation } from '../inbox/conversation/queries.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { presentDetail } from '../leads/lead/present.ts'
import { decryptEndpoint, requireEndpoint } from '../webhooks/endpoint/endpoint.ts'
import { signatures } from '../webhooks/endpoint/signing.ts'
import { leadOfConversation, readLeads } from './facts.ts'
import type { Rule } from './judge.ts'
import type { Action } from './rule-schema.ts'
import type { Run } from './runs.ts'

const timeoutMs = 10_000
const leftAloneMs = 30_000
const maxUnreachable = 1000
/** A response is never used beyond its status. */
const maxAnswerBytes = 1
const eventName = 'automation.action'

/** The address did not take the request, which is tried again. The code is for the rule's log. */
export class RequestFailed extends Error {
  readonly code: string

  constructor(code: string) {
    super(`The request of a rule failed: ${code}`)
    this.code = code
  }
}

export interface RequestDeps {
  sends: SendDeps
  outgoing: Outgoing
}

/** Judges, in the transaction that reads what the request says, whether the run still goes on. */
type Check = (work: { tx: Tx; keyring: Keyring; now: Date }, conversation: Conversation | null) => Promise<void>

/**
 * Sends what a rule acts on to the address of a webhook endpoint, signed as its webhooks are. The same `webhook-id` is sent
 * again until the address answers 2xx, so that it can leave out repeats. Throws `RequestFailed`, 404 and 409 for an
 * endpoint that is gone or disabled, and what the check throws. `unreachable` has until when, in ms, endpoints that did not
 * answer a moment ago are left alone: they would only keep the other rules waiting.
 */
export async function sendRequest(
  { sends, outgoing }: RequestDeps,
  { run, rule, action }: { run: Run; rule: Rule; action: Action },
  check: Check,
  unreachable: Map<string, number>,
): Promise<void> {
  const { endpoint, body } = await prepare(sends, run, rule, action.endpointId ?? '', check)
  const now = sends.clock.now()
  if ((unreachable.get(endpoint.id) ?? 0) > now.getTime()) throw new RequestFailed('REQUEST_WAITS')
  const { url, headers, secrets } = endpoint.settings
  const message = { id: `${run.id}-${run.step}`, timestamp: Math.floor(now.getTime() / 1000), body }
  const answer = await outgoing.call({
    method: 'POST',
    url,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'user-agent': `Parley/${version}`,
      'webhook-id': message.id,
      'webhook-timestamp': String(message.timestamp),
      'webhook-signature': signatures(secrets, message, now),
      'webhook-event': eventName,
    },
    body,
    ...{ timeoutMs, maxAnswerBytes, canRepeat: true },
  })
  if (answer.outcome === 'failed') {
    if (unreachable.size >= maxUnreachable) unreachable.clear()
    unreachable.set(endpoint.id, now.getTime() + leftAloneMs)
    throw new RequestFailed(`REQUEST_${answer.error.toUpperCase()}`)
  }
  if (answer.status < 200 || answer.status > 299) throw new RequestFailed(`ANSWER_${answer.status}`)
}

function prepare({ db, keyStore, clock }: SendDeps, run: Run, rule: Rule, endpointId: string, check: Check) {
  const { workspaceId, conversationId, leadId } = run
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const row = await requireEndpoint(tx, { workspaceId, id: endpointId })
      if (row.state === 'disabled') throw conflict('The endpoint is disabled; enable it first')
      const now = clock.now()
      const found =
        conversationId === null
          ? undefined
          : await findConversation(tx, { workspaceId, connectionIds: [] }, conversationId)
      const conversation = found === undefined ? null : decryptConversation(keyring, found)
      await check({ tx, keyring, now }, conversation)
      const endpoint = decryptEndpoint(keyring, row)
      const lead = await findLead({ sql: tx, keyring, workspaceId }, conversation, leadId)
      const view = { keyring, masked: endpoint.phoneVisibility === 'masked', now }
      const payload = {
        rule: { id: rule.id, name: rule.name },
        trigger: rule.trigger,
        event_id: run.eventId,
        at: run.createdAt.toISOString(),
        conversation: conversation && presentConversation(conversation, view),
        lead: lead && presentDetail(lead, view.masked),
      }
      return { endpoint, body: JSON.stringify({ event: eventName, payload }) }
    }),
  )
}

async function findLead(
  reader: Parameters<typeof readLeads>[0],
  conversation: Conversation | null,
  leadId: string | null,
): Promise<Lead | null> {
  if (leadId !== null) return (await readLeads(reader, [leadId]))[0] ?? null
  return conversation === null ? null : leadOfConversation(reader, conversation)
}
