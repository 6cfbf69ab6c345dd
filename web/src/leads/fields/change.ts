import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { changeLead } from '../../data/change-lead.ts'
import { type BulkAction, bulkChange, type Lead, type LeadChanges, leadsKey } from '../../data/leads.ts'
import { hideLeads } from '../../data/leads-cache.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { showError, showToast, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { nameOf } from './lead.ts'

const maxBulkSize = 500

export type LeadActions = ReturnType<typeof createLeadActions>

/** Returns actions on leads, all optimistic and reverted on failure. */
export function useLeadActions(workspaceId: string) {
  const queries = useQueryClient()
  return useMemo(() => createLeadActions(queries, workspaceId), [queries, workspaceId])
}

function createLeadActions(queries: QueryClient, workspaceId: string) {
  const refresh = () => queries.invalidateQueries({ queryKey: leadsKey(workspaceId) })
  const bulkAll = async (ids: readonly string[], action: BulkAction): Promise<void> => {
    let failed = 0
    for (let at = 0; at < ids.length; at += maxBulkSize) {
      failed += (await bulkChange(workspaceId, { ...action, ids: ids.slice(at, at + maxBulkSize) })).failed
    }
    if (failed > 0) showToast(t.leads.bulk.failed({ leads: t.leads.count({ n: failed }) }))
  }
  const attempt = async (run: () => Promise<void>): Promise<boolean> => {
    try {
      await run()
      return true
    } catch (error) {
      showError(error)
      return false
    } finally {
      void refresh()
    }
  }
  // Returns the error of the server after reverting.
  const change = (lead: Lead, changes: LeadChanges) => changeLead(queries, workspaceId, lead, changes)
  const restore = (ids: readonly string[]) => attempt(() => bulkAll(ids, { restore: true }))
  return {
    change,
    restore,
    move: async (lead: Lead, status: string) => {
      if (lead.status === status) return
      await queries.cancelQueries({ queryKey: leadsKey(workspaceId) })
      const isDone = await attempt(async () => {
        const error = await change(lead, { status })
        if (error !== null) throw error
      })
      if (isDone) showToast(t.leads.moved({ name: nameOf(lead), status: statusName(status) }))
    },
    remove: async (leads: readonly { id: string; name: string }[]) => {
      const ids = leads.map(({ id }) => id)
      hideLeads(queries, workspaceId, new Set(ids))
      const isDone = await attempt(() => bulkAll(ids, { delete: true }))
      const [only] = leads
      if (!isDone || only === undefined) return
      const words = leads.length === 1 ? t.leads.deleted({ name: only.name }) : t.leads.deletedMany({ n: leads.length })
      showUndoToast(words, () => void restore(ids))
    },
  }
}
