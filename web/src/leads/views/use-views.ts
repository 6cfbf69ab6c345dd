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

/** Saved views of leads, and actions on them. */
export interface Views {
  all: readonly View[]
  /** Undefined: all leads. */
  open: View | undefined
  isChanged: boolean
  mayShare: boolean
  mayChange(view: View): boolean
  /** Opens a view as saved. */
  show(view: View | undefined): void
  /** Opens the view `by` positions further; all leads come first. */
  step(by: number): void
  save(view: View): Promise<void>
  /** Rejects with the error of the server. */
  saveAs(view: NewView): Promise<void>
  rename(view: View, name: string): Promise<void>
  share(view: View, shared: boolean): Promise<void>
  duplicate(view: View): Promise<void>
  remove(view: View): Promise<void>
  move(view: View, by: number): Promise<void>
  moveTo(id: string, at: string): Promise<void>
}

export function useViews(address: LeadAddress, goTo: GoTo, choice: ColumnChoice): Views {
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
    open,
    isChanged: isChanged(open, address),
    mayShare,
    mayChange: ({ shared }) => !shared || mayShare,
    show,
    step,
    ...useViewActions(workspaceId, all, show, kept),
  }
}

const addressFor = (view: View | undefined): LeadAddress => (view === undefined ? {} : addressOfView(view))

function viewAt(all: readonly View[], from: View | undefined, by: number): View | undefined {
  const order = [undefined, ...all]
  return order[(order.indexOf(from) + by + order.length) % order.length]
}

type ViewActions = Pick<Views, 'save' | 'saveAs' | 'rename' | 'share' | 'duplicate' | 'remove' | 'move' | 'moveTo'>

function useViewActions(
  workspaceId: string,
  all: readonly View[],
  show: Views['show'],
  kept: () => string,
): ViewActions {
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
    save: async (view) => {
      show(await change(view, { query: kept() }))
      showToast(t.leads.viewSaved({ name: view.name }))
    },
    saveAs: async ({ name, shared }) => {
      show(await make({ name, shared, query: kept() }))
      showToast(t.leads.viewSaved({ name }))
    },
    rename: async (view, name) => void (await change(view, { name })),
    share: async (view, shared) => {
      await change(view, { shared })
      showToast(shared ? t.views.nowShared({ name: view.name }) : t.views.nowPrivate({ name: view.name }))
    },
    duplicate: async ({ name, query }) => {
      const usedNames = all.map((one) => one.name)
      show(await make({ name: nameOfCopy(name, usedNames), query, shared: false }))
    },
    remove: async (view) => {
      await deleteFilter(workspaceId, view.id)
      show(undefined)
      await refetchViews()
      showUndoToast(t.leads.viewDeleted({ name: view.name }), () => void make(view).then(show, showError))
    },
    move: (view, by) => order(moveIdBy(ids, view.id, by)),
    moveTo: (id, at) => order(moveIdTo(ids, id, at)),
  }
}
