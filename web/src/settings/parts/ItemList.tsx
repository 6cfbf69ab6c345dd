import { Button } from '@mantine/core'
import { IconPlus, type TablerIcon } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import styles from '../List.module.css'

interface AddButtonProps {
  label: string
  icon?: TablerIcon
  run(): void
}

/** Button that opens the form of a new item. */
export const AddButton = ({ label, icon: Icon = IconPlus, run }: AddButtonProps) => (
  <Button leftSection={<Icon size={16} />} onClick={run}>
    {label}
  </Button>
)

/** The button above a list. */
export const AddBar = (props: AddButtonProps) => (
  <div className={styles.bar}>
    <AddButton {...props} />
  </div>
)

interface ItemListProps<T> {
  query: UseQueryResult<T[]>
  /** Label of the button that makes a new item; null for those who may not. */
  create: string | null
  empty: string
  emptyHelp?: string
  /** Shows the items, of which there is at least one. */
  children(items: T[], open: (item: T) => void): ReactNode
  /** The panel that edits an item, or makes a new one for null. */
  panel(item: T | null, close: () => void): ReactNode
}

/** A list of items that open in a panel, where new ones are made too. */
export function ItemList<T>({ query, create, empty, emptyHelp, children, panel }: ItemListProps<T>) {
  const [open, setOpen] = useState<{ item: T | null } | null>(null)
  const add = () => setOpen({ item: null })
  return (
    <>
      {create !== null && <AddBar label={create} run={add} />}
      <QueryBoundary query={query}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState
              title={empty}
              help={emptyHelp}
              {...(create !== null && { action: { label: create, run: add } })}
            />
          ) : (
            children(items, (item) => setOpen({ item }))
          )
        }
      </QueryBoundary>
      {open !== null && panel(open.item, () => setOpen(null))}
    </>
  )
}
