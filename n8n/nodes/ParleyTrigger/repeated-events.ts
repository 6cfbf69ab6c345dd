import type { IWebhookFunctions } from 'n8n-workflow'

// In memory, oldest first: n8n's static data of a workflow is overwritten by executions that started earlier.
const seenEvents = new Set<string>()
const maxSeen = 10_000

/**
 * Returns whether this event has started the workflow already, because Parley repeats events whose delivery was
 * uncertain. An event whose response is not a success does not count.
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
