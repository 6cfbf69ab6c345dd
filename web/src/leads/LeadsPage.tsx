import { ActionIcon, Button } from '@mantine/core'
import { IconColumns3, IconDots, IconLayoutKanban, IconPlus, IconTable, IconTrash } from '@tabler/icons-react'
import { Suspense, useCallback, useMemo, useState } from 'react'
import type { Lead } from '../data/leads.ts'
import { useLiveLeads } from '../data/leads-live.ts'
import { DropdownButton } from '../shared/DropdownButton.tsx'
import { isFiltered, type LeadAddress, queryOf, savedQuery, withoutFilters } from '../shared/lead-view/address.ts'
import { language, t, withTexts } from '../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../ui/overlay/dropdown.tsx'
import { prefetchedComponent, useIsPageReady } from '../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../ui/overlay/shortcuts-blocked.ts'
import { Tip } from '../ui/overlay/Tip.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useCreate } from '../ui/use-create.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { useLeadActions } from './fields/change.ts'
import type { ColumnChoice } from './fields/column-choice.ts'
import type { FieldContext } from './fields/columns.tsx'
import { withFieldColumns } from './fields/field-columns.ts'
import { type GoTo, useLeadAddress } from './fields/use-address.ts'
import { useFieldContext } from './fields/use-field-context.ts'
import { FilterBar } from './filters/FilterBar.tsx'
import styles from './LeadsPage.module.css'
import { LeadTable } from './table/LeadTable.tsx'
import { type Columns, useColumns } from './table/use-columns.ts'
import { type Selection, useSelection } from './table/use-selection.ts'
import { ViewTabs } from './views/ViewTabs.tsx'

const LeadPanel = prefetchedComponent(() => withTexts(() => import('./panel/LeadPanel.tsx')))
const BulkBar = prefetchedComponent(() => withTexts(() => import('./BulkBar.tsx')))
const Board = prefetchedComponent(() => withTexts(() => import('./board/Board.tsx')))
const Trash = prefetchedComponent(() => withTexts(() => import('./Trash.tsx')))
const NewLeadPanel = prefetchedComponent(() => withTexts(() => import('./NewLeadPanel.tsx')))
const BulkStrip = prefetchedComponent(() => withTexts(() => import('./bulk/BulkStrip.tsx')))

const phoneColumns: ColumnChoice = { shown: ['name', 'status'], widths: { name: 218, status: 130 } }

/** Leads as a table or board, and the trash. */
export function LeadsPage() {
  const workspaceId = useWorkspaceId()
  const isPageReady = useIsPageReady()
  const location = useLeadsLocation()
  const { address, goTo, open } = location
  const context = useFieldContext()
  const { people, fields } = context
  const chosen = useColumns(workspaceId, address, goTo)
  const columns = { ...chosen, choice: useMemo(() => withFieldColumns(chosen.choice, fields), [chosen.choice, fields]) }
  const isPhone = useIsPhone()
  const selection = useSelection()
  const [total, setTotal] = useState<number>()
  const [isCreating, setCreating] = useCreate()
  const create = useCallback(() => setCreating(true), [setCreating])
  useLiveLeads(workspaceId)
  usePageKeys(location, create, selection.clear)

  const view = address.view ?? 'table'
  return (
    <>
      <LeadsHeader
        address={address}
        goTo={goTo}
        columns={view === 'table' && !isPhone ? columns : null}
        create={create}
      />
      {view !== 'trash' && <ViewTabs address={address} goTo={goTo} choice={columns.choice} />}
      {view !== 'trash' && <FilterBar address={address} goTo={goTo} context={context} total={total} />}
      {isPageReady && (
        <Suspense>
          <BulkStrip people={people} />
        </Suspense>
      )}
      <LeadsBody
        {...{ location, context, selection, create }}
        columns={isPhone ? { ...columns, choice: phoneColumns } : columns}
        onTotal={setTotal}
      />
      <Suspense fallback={<ShortcutsBlocked />}>
        {isCreating && (
          <NewLeadPanel
            context={context}
            close={() => setCreating(false)}
            open={(lead) => {
              setCreating(false)
              open(lead)
            }}
          />
        )}
      </Suspense>
    </>
  )
}

function usePageKeys({ goTo, close }: LeadsLocation, create: () => void, clear: () => void): void {
  const keys = t.leads.keys
  useShortcuts(
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

interface BodyProps {
  location: LeadsLocation
  context: FieldContext
  columns: Columns
  selection: Selection
  onTotal(total: number | undefined): void
  create(): void
}

/** The list in the chosen view, with the open lead beside it. */
function LeadsBody({ location, context, columns, selection, onTotal, create }: BodyProps) {
  const { address, goTo, query, open } = location
  const actions = useLeadActions(useWorkspaceId())
  const view = address.view ?? 'table'
  const list = { query, actions, openId: address.lead, open, onTotal }
  return (
    <div className={styles.body}>
      {view === 'table' && (
        <LeadTable
          {...list}
          {...{ context, columns, selection, create }}
          sort={{ now: address.sort ?? '-createdAt', to: (sort) => goTo((before) => ({ ...before, sort })) }}
          isFiltered={isFiltered(address)}
          clearFilters={() => goTo(withoutFilters)}
        />
      )}
      <Suspense>
        {view === 'board' && <Board {...list} people={context.people} />}
        {view === 'trash' && <Trash actions={actions} />}
      </Suspense>
      <Suspense>
        {address.lead !== undefined && view !== 'trash' && (
          <LeadPanel
            key={address.lead}
            id={address.lead}
            known={location.known}
            close={location.close}
            {...{ context, actions, open }}
          />
        )}
      </Suspense>
      <Suspense>
        {view === 'table' && selection.ids.size > 0 && <BulkBar {...{ selection, context, actions, open }} />}
      </Suspense>
    </div>
  )
}

type LeadsLocation = ReturnType<typeof useLeadsLocation>

/** Returns the list and the open lead of the address. */
function useLeadsLocation() {
  const [address, goTo] = useLeadAddress()
  // The open lead as in the list when it was opened.
  const [known, setKnown] = useState<Lead>()
  // The open lead and the columns do not affect the query, which is the same object until another part changes.
  const { cols: _, ...listed } = address
  const listQuery = savedQuery(listed)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `listQuery` stands for the address
  const query = useMemo(() => queryOf(address, language), [listQuery])
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
  return { address, goTo, query, known: known?.id === address.lead ? known : undefined, open, close }
}

const ColumnsMenu = prefetchedComponent(() => withTexts(() => import('./table/ColumnsMenu.tsx')))
const TransferMenu = prefetchedComponent(() => withTexts(() => import('./TransferMenu.tsx')))

interface LeadsHeaderProps {
  address: LeadAddress
  goTo: GoTo
  /** Null in views without columns. */
  columns: Columns | null
  create(): void
}

const views = [
  { value: 'table', icon: IconTable, label: () => t.leads.table },
  { value: 'board', icon: IconLayoutKanban, label: () => t.leads.board },
  { value: 'trash', icon: IconTrash, label: () => t.leads.trash },
] as const

function LeadsHeader({ address, goTo, columns, create }: LeadsHeaderProps) {
  return (
    <PageHeader
      title={t.leads.title}
      action={
        <>
          <Button leftSection={<IconPlus size={16} />} onClick={create} className={styles.wide}>
            {t.leads.create}
          </Button>
          <ActionIcon size={34} onClick={create} aria-label={t.leads.create} className={styles.narrow}>
            <IconPlus size={18} />
          </ActionIcon>
        </>
      }
    >
      <Segments
        label={t.leads.view}
        value={address.view ?? 'table'}
        onChange={(chosen) =>
          goTo(({ view: _, ...before }) =>
            chosen === 'board' || chosen === 'trash' ? { ...before, view: chosen } : before,
          )
        }
        data={views.map(({ value, icon: Icon, label }) => ({
          value,
          label: (
            <Tip label={label()}>
              <span className={styles.switch} style={{ display: 'flex' }}>
                <Icon size={16} aria-label={label()} role="img" />
              </span>
            </Tip>
          ),
        }))}
      />
      {columns !== null && (
        <DropdownButton
          popup="dialog"
          content={(dropdown) => <ColumnsMenu dropdown={dropdown} columns={columns} />}
          leftSection={<IconColumns3 size={16} />}
        >
          {t.leads.columns}
        </DropdownButton>
      )}
      <TransferButton address={address} />
    </PageHeader>
  )
}

function TransferButton({ address }: { address: LeadAddress }) {
  const dropdown = useDropdown(...useState(false))
  return (
    <>
      <ActionIcon
        {...dropdownButtonProps(dropdown, 'menu')}
        variant="subtle"
        color="gray"
        size={30}
        aria-label={t.leads.importAndExport}
      >
        <IconDots size={18} />
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>
        <TransferMenu dropdown={dropdown} address={address} />
      </DropdownContent>
    </>
  )
}
