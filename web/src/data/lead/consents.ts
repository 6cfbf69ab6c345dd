import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { leadKey } from '../leads.ts'

export type Consent = Pick<Schemas['LeadConsent'], 'decision' | 'source' | 'at'>
export type ConsentDecision = Consent['decision']
export type ConsentPurpose = Schemas['LeadConsent']['purpose']

const path = '/api/team/v1/workspaces/{workspaceId}/leads/{identifier}/marketing-consent'

// Phones are part of the key: another phone may belong to another person.
const consentKey = (workspaceId: string, id: string) => [...leadKey(workspaceId, id), 'consent'] as const

/** Returns what the person with a lead's phones has decided. */
export function useLeadConsent(workspaceId: string, id: string, phone: string | null) {
  return useQuery(
    queryOptions({
      queryKey: [...consentKey(workspaceId, id), phone],
      queryFn: () => api.GET(path, { workspaceId, identifier: id }),
      enabled: phone !== null,
    }),
  )
}

/** Records a decision, or takes back the member's last one. Resolves to whether it succeeded. */
export async function setLeadConsent(
  queries: QueryClient,
  workspaceId: string,
  id: string,
  decision: ConsentDecision | 'undo',
  purpose: ConsentPurpose,
): Promise<boolean> {
  try {
    if (decision === 'undo') await api.DELETE(path, { workspaceId, identifier: id, query: { purpose } })
    else await api.PUT(path, { workspaceId, identifier: id, body: { decision, purpose } })
  } catch (error) {
    showError(error)
    return false
  }
  await queries.invalidateQueries({ queryKey: consentKey(workspaceId, id) })
  return true
}
