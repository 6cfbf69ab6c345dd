import { IconUsers } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { View, Views } from './use-views.ts'
import { ViewMenu } from './ViewMenu.tsx'
import { addressOfView } from './view-rules.ts'
import styles from './views.module.css'

const dragType = 'application/x-parley-view'

interface TabProps {
  /** Undefined: all leads. */
  view: View | undefined
  views: Views
  /** Whether it fits; otherwise it is hidden but still measured. */
  isShown: boolean
}

/** Tab of a view, which is a link. Reorder with the mouse, or with Shift and an arrow key. */
export function Tab({ view, views, isShown }: TabProps) {
  const workspaceId = useWorkspaceId()
  const [isOver, setOver] = useState(false)
  const isOpen = view?.id === views.open?.id
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (!event.shiftKey) tabBeside(event.currentTarget, step)?.focus()
    else if (view !== undefined) void views.move(view, step)
  }
  return (
    <li
      className={styles.tab}
      style={isShown ? undefined : { visibility: 'hidden' }}
      data-open={isOpen || undefined}
      data-over={isOver || undefined}
      draggable={view !== undefined}
      onDragStart={(event) => view !== undefined && event.dataTransfer.setData(dragType, view.id)}
      onDragOver={(event) => {
        if (view === undefined || !event.dataTransfer.types.includes(dragType)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false)
        if (view !== undefined) void views.moveTo(event.dataTransfer.getData(dragType), view.id)
      }}
    >
      <Link
        to="/w/$workspaceId/leads"
        params={{ workspaceId }}
        search={view === undefined ? {} : addressOfView(view)}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isOpen ? 'page' : undefined}
        draggable={false}
        onKeyDown={onKeyDown}
      >
        {view?.shared && <IconUsers size={13} aria-label={t.views.shared} role="img" />}
        <span className={styles.name}>{view?.name ?? t.views.all}</span>
        {isOpen && views.isChanged && <span className={styles.dot} role="img" aria-label={t.views.changed} />}
      </Link>
      {isOpen && view !== undefined && isShown && <ViewMenu view={view} views={views} />}
    </li>
  )
}

function tabBeside(link: HTMLElement, by: number): HTMLElement | null {
  const item = link.closest('li')
  const beside = by > 0 ? item?.nextElementSibling : item?.previousElementSibling
  return beside?.querySelector('a') ?? null
}
