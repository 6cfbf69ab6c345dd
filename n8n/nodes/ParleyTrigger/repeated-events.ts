import type { IWebhookFunctions } from 'n8n-workflow'

// Those that this process has taken, the oldest first. What n8n stores with a workflow is overwritten by executions that began before.
const taken = new Set<string>()
const most = 10_000

/**
 * Whether this event has started the workflow already: what Parley was not sure of having told, it tells again. An event that n8n does
 * not answer with success has not been taken.
 */
export function isRepeated(context: IWebhookFunctions, eventId: string): boolean {
  const key = JSON.stringify([context.getWorkflow().id, context.getNode().id, eventId])
  if (taken.has(key)) return true
  for (const oldest of taken) {
    if (taken.size < most) break
    taken.delete(oldest)
  }
  taken.add(key)
  const response = context.getResponseObject()
  response.once('close', () => {
    if (!response.writableFinished || response.statusCode >= 300) taken.delete(key)
  })
  return false
}
