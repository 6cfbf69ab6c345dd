import { api, type Schemas } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations'

export interface NewConversation {
  connectionId: string
  phone: string
  template: Schemas['TemplateToStart']
  /** Sends although a budget is used up. */
  isOverBudget?: boolean
}

/** Sends a template to a number that may never have written. The key makes retries safe. */
export const startConversation = (
  workspaceId: string,
  { connectionId, phone, template, isOverBudget = false }: NewConversation,
  key: string,
) =>
  api.POST(path, {
    workspaceId,
    headers: { 'idempotency-key': key },
    body: { connection_id: connectionId, phone, template, ...(isOverBudget && { over_budget: true }) },
  })
