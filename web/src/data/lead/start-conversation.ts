import { api, unwrap } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations'

type TemplateToStart = paths[typeof path]['post']['requestBody']['content']['application/json']['template']

export interface NewConversation {
  connectionId: string
  phone: string
  template: TemplateToStart
  /** Sends although a budget is used up. */
  isOverBudget?: boolean
}

/** Sends a template to a number that may never have written. The key makes retries safe. */
export const startConversation = (
  workspaceId: string,
  { connectionId, phone, template, isOverBudget = false }: NewConversation,
  key: string,
) =>
  unwrap(
    api.POST(path, {
      params: { path: { workspaceId }, header: { 'idempotency-key': key } },
      body: { connection_id: connectionId, phone, template, ...(isOverBudget && { over_budget: true }) },
    }),
  )
