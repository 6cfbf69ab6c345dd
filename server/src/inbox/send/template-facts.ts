import { isActive } from '../../channels/health/holds.ts'
import { findTemplate, type Template } from '../../channels/templates/templates.ts'
import { type ConsentCustomer, type Decisions, noDecisions } from '../../consents/consent.ts'
import { findConsents } from '../../consents/store.ts'
import type { ChangeTx } from '../conversation/conversation.ts'
import { isInFreeWindow } from '../costs/free-messages.ts'
import type { ConnectionReadiness } from './send-checks.ts'

/** What decides about sending a template, besides the conversation. */
export interface TemplateFacts {
  template: Template | null
  consents: Decisions
  isFree: boolean
}

/**
 * Reads what decides about a template to a customer, under the lock of the conversation; its id is null before there
 * is one. Only asks whether it is free while charged messages are on hold.
 */
export async function findTemplateFacts(
  { tx, keyring, workspaceId, now }: ChangeTx,
  { name, language }: { name: string; language: string },
  recipient: { connectionId: string; conversationId: string | null; customer: ConsentCustomer },
  { holds }: Pick<ConnectionReadiness, 'holds'>,
): Promise<TemplateFacts> {
  const { connectionId, conversationId, customer } = recipient
  const isHeld = holds.some((one) => one.stops === 'billable' && isActive(one, now))
  const [template = null, [consents = noDecisions], isFree] = await Promise.all([
    findTemplate(tx, workspaceId, connectionId, name, language),
    findConsents(tx, keyring, workspaceId, [customer]),
    // Nothing has opened a free entry point before there is a conversation.
    isHeld ? conversationId !== null && isInFreeWindow(tx, workspaceId, conversationId, now) : true,
  ])
  return { template, consents, isFree }
}
