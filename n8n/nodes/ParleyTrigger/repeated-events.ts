import type { IWebhookFunctions } from 'n8n-workflow'

// Those that this process has taken, the oldest first. What n8n stores with a workflow is overwritten by executions that began before.
const seenEvents = new Set<string>()
const maxSeen = 10_000

/**
 * Whether this event has started the workflow already: what Parley was not sure of having told, it tells again. An event that n8n does
 * not answer with success has not been taken.
 */
export function isDuplicate(context: IWebhookFunctions, eventId: string): boolean {
  const key = JSON.stringify([context.getWorkflow().id, context.getNode().id, eventId])
  if (seenEvents.has(key)) return true
  for (const oldest of seenEvents) {
    if (seenEvents.size < maxSeen) break
    seenEvents.delete(oldest)
  }
  seenEvents.add(key)
  const response = context.getResponseObject()
  response.once('close', () => {
    if (!response.writableFinished || response.statusCode >= 300) seenEvents.delete(key)
  })
  return false
}
