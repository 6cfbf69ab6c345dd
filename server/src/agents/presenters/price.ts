import { type Static, Type } from 'typebox'
import { nullable } from '../../base/route.ts'
import { count } from '../../base/schema-types.ts'
import { isOfficial } from '../../channels/connection/connection.ts'
import { countParts } from '../../inbox/conversation/message-queries.ts'
import { isInFreeWindow } from '../../inbox/costs/free-messages.ts'
import type { SendResponse } from '../../inbox/send/send-deps.ts'
import type { AgentCaller, AgentDeps } from '../define-tool.ts'

/** What a send costs, as far as it is known when it is sent. */
export const priceFields = {
  parts: count('Platform messages that it became, each charged by itself: a long text is split.'),
  billable: nullable(
    Type.Boolean({
      description:
        'Whether the platform charges for them. Null: not known yet, as for replies, of which some are free each month.',
    }),
  ),
}

const priceSchema = Type.Object(priceFields)
type Price = Static<typeof priceSchema>

/**
 * Returns what is known of the price of a send. Only the official platform charges. Templates are charged, except within a
 * free entry point. Which replies are among the free ones of the month, the platform says after the delivery.
 */
export async function priceOfSend(
  { inbox: { db, clock } }: AgentDeps,
  { workspaceId }: AgentCaller,
  conversationId: string,
  messageId: string,
  { parts: sent, channel, isTemplate = false }: SendResponse,
): Promise<Price> {
  const parts = sent ?? (await countParts(db.sql, workspaceId, messageId))
  if (channel === undefined) return { parts, billable: null }
  if (!isOfficial(channel)) return { parts, billable: false }
  if (!isTemplate) return { parts, billable: null }
  return { parts, billable: !(await isInFreeWindow(db.sql, workspaceId, conversationId, clock.now())) }
}
