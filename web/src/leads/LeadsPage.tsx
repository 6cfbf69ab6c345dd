import { useCallback, useMemo, useState } from 'react'
import { t } from '../text/index.ts'
import { useKeys } from '../ui/keys.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { activeFilters, filterNames, queryOf, savedQuery, without } from './address.ts'
import { BulkBar } from './BulkBar.tsx'
import { Board } from './board/Board.tsx'
import { useLeadVerbs } from './change.ts'
import type { ColumnChoice } from './column-choice.ts'
import { FilterBar } from './filters/FilterBar.tsx'
import { LeadsHeader } from './LeadsHeader.tsx'
import styles from './LeadsPage.module.css'
import { LeadTable } from './LeadTable.tsx'
import type { Lead } from './lead.ts'
import { useLeadsLive } from './live.ts'
import { NewLeadPanel } from './NewLeadPanel.tsx'
import { LeadPanel } from './panel/LeadPanel.tsx'
import { usePeople, useStatuses } from './people.ts'
import { Trash } from './Trash.tsx'
import { useLeadAddress } from './use-address.ts'
import { useColumns } from './use-columns.ts'
import { useSelection } from './use-selection.ts'

const phoneColumns: ColumnChoice = { shown: ['name', 'status'], widths: { name: 218, status: 130 } }

/** Everyone who asked or may buy: as a table, as a board, and what was thrown away. */
export function LeadsPage() {
  const workspaceId = useWorkspaceId()
  const [address, goTo] = useLeadAddress()
  const verbs = useLeadVerbs(workspaceId)
  const people = usePeople(workspaceId)
  const statuses = useStatuses(workspaceId)
  const context = useMemo(() => ({ people, statuses }), [people, statuses])
  const columns = useColumns(workspaceId)
  const isPhone = useIsPhone()
  const selection = useSelection()
  const [total, setTotal] = useState<number | undefined>(undefined)
  const [isMaking, setMaking] = useState(false)
  const [known, setKnown] = useState<Lead | undefined>(undefined)
  useLeadsLive(workspaceId)

  // Which lead is open changes nothing of the list.
  const asked = savedQuery(address)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` is all of the address that the query is made of
  const query = useMemo(() => queryOf(address), [asked])
  const open = useCallback(
    (lead: Lead | null) => {
      setKnown(lead ?? undefined)
      goTo(({ lead: before, ...rest }) => (lead === null ? rest : { ...rest, lead: lead.id }), {
        replace: lead === null || address.lead !== undefined,
      })
    },
    [goTo, address.lead],
  )
  const close = useCallback(() => open(null), [open])
  const create = useCallback(() => setMaking(true), [])
  const clearFilters = () => goTo(({ q: _, ...before }) => without(before, filterNames))
  const isFiltered = address.q !== undefined || activeFilters(address).length > 0
  usePageKeys({ create, goTo, close, clear: selection.clear })

  const view = address.view ?? 'table'
  return (
    <>
      <LeadsHeader
        workspaceId={workspaceId}
        address={address}
        goTo={goTo}
        columns={view === 'table' && !isPhone ? columns : null}
        create={create}
      />
      {view !== 'trash' && <FilterBar address={address} goTo={goTo} context={context} total={total} />}
      <div className={styles.body}>
        {view === 'table' && (
          <LeadTable
            workspaceId={workspaceId}
            query={query}
            context={context}
            columns={isPhone ? { ...columns, choice: phoneColumns } : columns}
            selection={selection}
            verbs={verbs}
            openId={address.lead}
            open={open}
            told={setTotal}
            sort={{ now: address.sort ?? '-createdAt', to: (sort) => goTo((before) => ({ ...before, sort })) }}
            isFiltered={isFiltered}
            clearFilters={clearFilters}
            create={create}
          />
        )}
        {view === 'board' && (
          <Board
            workspaceId={workspaceId}
            query={query}
            people={people}
            verbs={verbs}
            openId={address.lead}
            open={open}
            told={setTotal}
          />
        )}
        {view === 'trash' && <Trash workspaceId={workspaceId} verbs={verbs} />}
        {address.lead !== undefined && view !== 'trash' && (
          <LeadPanel
            key={address.lead}
            workspaceId={workspaceId}
            id={address.lead}
            known={known?.id === address.lead ? known : undefined}
            context={context}
            verbs={verbs}
            open={open}
            close={close}
          />
        )}
        {view === 'table' && selection.ids.size > 0 && (
          <BulkBar selection={selection} context={context} verbs={verbs} />
        )}
      </div>
      {isMaking && (
        <NewLeadPanel
          workspaceId={workspaceId}
          context={context}
          close={() => setMaking(false)}
          open={(lead) => {
            setMaking(false)
            open(lead)
          }}
        />
      )}
    </>
  )
}

interface PageKeys {
  create(): void
  goTo: ReturnType<typeof useLeadAddress>[1]
  close(): void
  clear(): void
}

function usePageKeys({ create, goTo, close, clear }: PageKeys): void {
  const keys = t.leads.keys
  useKeys(
    keys.group,
    useMemo(
      () => [
        { keys: 'c', label: keys.create, run: create },
        { keys: '/', label: keys.search, run: () => document.getElementById('lead-search')?.focus() },
        {
          keys: 'b',
          label: keys.board,
          run: () => goTo(({ view, ...before }) => (view === 'board' ? before : { ...before, view: 'board' as const })),
        },
        {
          keys: 'Escape',
          label: keys.close,
          run: () => {
            clear()
            close()
          },
        },
      ],
      [create, goTo, close, clear, keys],
    ),
  )
}
