import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { changeLead } from '../../data/change-lead.ts'
import { type BulkAction, bulkChange, type Lead, type LeadChanges, leadsOf } from '../../data/leads.ts'
import { hideLeads } from '../../data/leads-cache.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-words.ts'
import { number } from '../../ui/format/time.ts'
import { complain, say, sayWithUndo } from '../../ui/overlay/notices.tsx'
import { nameOf } from './lead.ts'

const bulkMost = 500

export interface LeadVerbs {
  /** Changes a lead at once; answers what the service said against it, after taking it back. */
  change(lead: Lead, changes: LeadChanges): Promise<unknown>
  move(lead: Lead, status: string): Promise<void>
  remove(leads: readonly { id: string; name: string }[]): Promise<void>
  restore(ids: readonly string[]): Promise<boolean>
}

/** What is done to leads here: seen at once, and taken back when it failed. */
export function useLeadVerbs(workspaceId: string): LeadVerbs {
  const queries = useQueryClient()
  return useMemo(() => verbsOf(queries, workspaceId), [queries, workspaceId])
}

function verbsOf(queries: QueryClient, workspaceId: string): LeadVerbs {
  const refresh = () => queries.invalidateQueries({ queryKey: leadsOf(workspaceId) })
  const bulkAll = async (ids: readonly string[], action: BulkAction): Promise<void> => {
    let failed = 0
    for (let at = 0; at < ids.length; at += bulkMost) {
      failed += (await bulkChange(workspaceId, { ...action, ids: ids.slice(at, at + bulkMost) })).failed
    }
    if (failed > 0) say(t.leads.bulk.failed({ leads: t.leads.count({ n: failed }) }))
  }
  const attempt = async (run: () => Promise<void>): Promise<boolean> => {
    try {
      await run()
      return true
    } catch (error) {
      complain(error)
      return false
    } finally {
      void refresh()
    }
  }
  const change = (lead: Lead, changes: LeadChanges) => changeLead(queries, workspaceId, lead, changes)
  const restore = (ids: readonly string[]) => attempt(() => bulkAll(ids, { restore: true }))
  return {
    change,
    restore,
    move: async (lead, status) => {
      if (lead.status === status) return
      await queries.cancelQueries({ queryKey: leadsOf(workspaceId) })
      const isDone = await attempt(async () => {
        const error = await change(lead, { status })
        if (error !== null) throw error
      })
      if (isDone) say(t.leads.moved({ name: nameOf(lead), status: statusName(status) }))
    },
    remove: async (leads) => {
      const ids = leads.map(({ id }) => id)
      hideLeads(queries, workspaceId, new Set(ids))
      const isDone = await attempt(() => bulkAll(ids, { delete: true }))
      const [only] = leads
      if (!isDone || only === undefined) return
      const words =
        leads.length === 1 ? t.leads.deleted({ name: only.name }) : t.leads.deletedMany({ n: number(leads.length) })
      sayWithUndo(words, () => void restore(ids))
    },
  }
}
