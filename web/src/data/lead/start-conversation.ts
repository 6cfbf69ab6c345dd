import { api, unwrap } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations'

export interface NewConversation {
  connectionId: string
  phone: string
  template: { name: string; language: string; parameters: string[] }
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
      body: {
        connection_id: connectionId,
        phone,
        template: { name: template.name, language: template.language, body_params: template.parameters },
        ...(isOverBudget && { over_budget: true }),
      },
    }),
  )
