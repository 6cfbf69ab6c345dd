import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import {
  cacheFilterOrder,
  changeFilter,
  createFilter,
  deleteFilter,
  orderFilters,
  type SavedFilter,
  savedFiltersKey,
  useSavedFiltersOf,
} from '../../data/saved-filters.ts'
import { hasRole } from '../../session/session.ts'
import { type LeadAddress, savedQuery } from '../../shared/lead-view/address.ts'
import { t } from '../../text/index.ts'
import { showError, showToast, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type ColumnChoice, columnsText } from '../fields/column-choice.ts'
import type { GoTo } from '../fields/use-address.ts'
import { addressOfView, isChanged, moveIdBy, moveIdTo, nameOfCopy, openView } from './view-rules.ts'

export type View = SavedFilter
export type NewView = Pick<SavedFilter, 'name' | 'shared'>

export type Views = ReturnType<typeof useViews>

/** Returns the saved views of leads, and actions on them. */
export function useViews(address: LeadAddress, goTo: GoTo, choice: ColumnChoice) {
  const workspaceId = useWorkspaceId()
  const all = useSavedFiltersOf('leads', workspaceId)
  const open = openView(all, address)
  const mayShare = hasRole(workspaceId, 'admin')
  const show = useCallback((view: View | undefined) => goTo(() => addressFor(view)), [goTo])
  const step = useCallback(
    (by: number) => goTo((before) => addressFor(viewAt(all, openView(all, before), by))),
    [all, goTo],
  )
  // Saved with explicit columns, so that a view does not depend on its reader's choice.
  const kept = () => savedQuery({ ...address, cols: columnsText(choice) })
  return {
    all,
    /** Undefined: all leads. */
    open,
    isChanged: isChanged(open, address),
    mayShare,
    mayChange: ({ shared }: View) => !shared || mayShare,
    /** Opens a view as saved. */
    show,
    /** Opens the view `by` positions further; all leads come first. */
    step,
    ...useViewActions(workspaceId, all, show, kept),
  }
}

const addressFor = (view: View | undefined): LeadAddress => (view === undefined ? {} : addressOfView(view))

function viewAt(all: readonly View[], from: View | undefined, by: number): View | undefined {
  const order = [undefined, ...all]
  return order[(order.indexOf(from) + by + order.length) % order.length]
}

/** Each rejects with the error of the server. */
function useViewActions(
  workspaceId: string,
  all: readonly View[],
  show: (view: View | undefined) => void,
  kept: () => string,
) {
  const queries = useQueryClient()
  const refetchViews = () => queries.invalidateQueries({ queryKey: savedFiltersKey(workspaceId) })
  const make = async (view: Pick<View, 'name' | 'query' | 'shared'>) => {
    const { savedFilter } = await createFilter(workspaceId, { page: 'leads', ...view })
    await refetchViews()
    return savedFilter
  }
  const change = async (view: View, changes: Partial<View>) => {
    const { savedFilter } = await changeFilter(workspaceId, view.id, changes)
    await refetchViews()
    return savedFilter
  }
  const ordering = useRef<Promise<void>>(Promise.resolve())
  const order = async (ids: string[]) => {
    cacheFilterOrder(queries, workspaceId, ids)
    // One request at a time: of two concurrent ones the earlier may win, and a refetch between them is outdated.
    const mine = ordering.current.then(() => orderFilters(workspaceId, 'leads', ids)).then(() => {}, showError)
    ordering.current = mine
    await mine
    if (ordering.current === mine) await refetchViews()
  }
  const ids = all.map(({ id }) => id)
  return {
    save: async (view: View) => {
      show(await change(view, { query: kept() }))
      showToast(t.leads.viewSaved({ name: view.name }))
    },
    saveAs: async ({ name, shared }: NewView) => {
      show(await make({ name, shared, query: kept() }))
      showToast(t.leads.viewSaved({ name }))
    },
    rename: async (view: View, name: string) => void (await change(view, { name })),
    share: async (view: View, shared: boolean) => {
      await change(view, { shared })
      showToast(shared ? t.views.nowShared({ name: view.name }) : t.views.nowPrivate({ name: view.name }))
    },
    duplicate: async ({ name, query }: View) => {
      const usedNames = all.map((one) => one.name)
      show(await make({ name: nameOfCopy(name, usedNames), query, shared: false }))
    },
    remove: async (view: View) => {
      await deleteFilter(workspaceId, view.id)
      show(undefined)
      await refetchViews()
      showUndoToast(t.leads.viewDeleted({ name: view.name }), () => void make(view).then(show, showError))
    },
    move: (view: View, by: number) => order(moveIdBy(ids, view.id, by)),
    moveTo: (id: string, at: string) => order(moveIdTo(ids, id, at)),
  }
}
