import { ActionIcon, Button } from '@mantine/core'
import { IconChevronDown, IconDots, IconUsers } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, type RefObject, Suspense, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { DropdownButton } from '../../shared/DropdownButton.tsx'
import type { LeadAddress } from '../../shared/lead-view/address.ts'
import { t, withTexts } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { ColumnChoice } from '../fields/column-choice.ts'
import type { GoTo } from '../fields/use-address.ts'
import { useViews, type View, type Views } from './use-views.ts'
import { addressOfView } from './view-rules.ts'
import styles from './views.module.css'

const NameView = prefetchedComponent(() => withTexts(() => import('./NameView.tsx')))
const ViewList = prefetchedComponent(() => withTexts(() => import('./ViewList.tsx')))

interface ViewTabsProps {
  address: LeadAddress
  goTo: GoTo
  choice: ColumnChoice
}

/** Tabs: all leads, then saved views. */
export function ViewTabs({ address, goTo, choice }: ViewTabsProps) {
  const views = useViews(address, goTo, choice)
  const { step } = views
  const isPhone = useIsPhone()
  useShortcuts(
    t.leads.keys.group,
    useMemo(
      () => [
        { keys: '.', label: t.views.next, run: () => step(1) },
        { keys: ',', label: t.views.previous, run: () => step(-1) },
      ],
      [step],
    ),
  )
  return (
    <div className={styles.row}>
      {isPhone ? <PhonePicker views={views} /> : <Tabs views={views} />}
      {views.isChanged && <UnsavedChanges views={views} />}
    </div>
  )
}

function Tabs({ views }: { views: Views }) {
  const { all, open } = views
  const { list, fits } = useFit([t.views.all, ...all.map(({ name }) => name)].join('\n'), open?.id)
  const hidden = all.slice(Math.max(0, fits - 1))
  const isHidden = open !== undefined && hidden.includes(open)
  return (
    <nav aria-label={t.leads.views} className={styles.nav}>
      <ul ref={list} className={styles.tabs}>
        <Tab view={undefined} views={views} isShown />
        {all.map((view) => (
          <Tab key={view.id} view={view} views={views} isShown={!hidden.includes(view)} />
        ))}
      </ul>
      {hidden.length > 0 && (
        <ListButton
          views={views}
          shown={hidden}
          label={isHidden ? open.name : t.views.more({ n: hidden.length })}
          isOpen={isHidden}
        />
      )}
      {isHidden && <ViewMenu view={open} views={views} />}
    </nav>
  )
}

/** Returns how many items fit into the first line; measured again when its size or content changes. */
function useFit(words: string, openId: string | undefined): { list: RefObject<HTMLUListElement | null>; fits: number } {
  const list = useRef<HTMLUListElement>(null)
  const [fits, setFits] = useState(Number.POSITIVE_INFINITY)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the width depends on the texts and on which tab is open
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    const measure = () => {
      const items = [...element.children] as HTMLElement[]
      setFits(items.filter(({ offsetTop }) => offsetTop === items[0]?.offsetTop).length)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [words, openId])
  return { list, fits }
}

function PhonePicker({ views }: { views: Views }) {
  const { all, open } = views
  return (
    <nav aria-label={t.leads.views} className={styles.nav}>
      <ListButton views={views} shown={[undefined, ...all]} label={open?.name ?? t.views.all} isOpen />
      {open !== undefined && <ViewMenu view={open} views={views} />}
    </nav>
  )
}

interface ListButtonProps {
  views: Views
  shown: readonly (View | undefined)[]
  label: string
  isOpen: boolean
}

function ListButton({ views, shown, label, isOpen }: ListButtonProps) {
  return (
    <DropdownButton
      popup="menu"
      content={(dropdown) => <ViewList dropdown={dropdown} views={views} shown={shown} />}
      color={isOpen ? undefined : 'gray'}
      rightSection={<IconChevronDown size={14} />}
      className={styles.more}
    >
      {label}
    </DropdownButton>
  )
}

/** Saves changes of a view, saves them as a new view, or discards them. */
function UnsavedChanges({ views }: { views: Views }) {
  const { open } = views
  const [isNaming, setNaming] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const save = async (view: View) => {
    setSaving(true)
    await views.save(view).catch(showError)
    setSaving(false)
  }
  return (
    <div className={styles.changed}>
      {open !== undefined && views.mayChange(open) && (
        <Button size="compact-sm" variant="light" loading={isSaving} onClick={() => void save(open)}>
          {t.common.save}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={() => setNaming(true)}>
        {open === undefined ? t.leads.saveView : t.views.saveAs}
      </Button>
      <Button size="compact-sm" variant="subtle" color="gray" onClick={() => views.show(open)}>
        {t.views.reset}
      </Button>
      {isNaming && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <NameView
            title={open === undefined ? t.leads.saveView : t.views.saveAs}
            name=""
            mayShare={views.mayShare}
            save={views.saveAs}
            close={() => setNaming(false)}
          />
        </Suspense>
      )}
    </div>
  )
}

const dragType = 'application/x-parley-view'

interface TabProps {
  /** Undefined: all leads. */
  view: View | undefined
  views: Views
  /** Whether it fits; otherwise it is hidden but still measured. */
  isShown: boolean
}

/** Tab of a view, which is a link. Reorder with the mouse, or with Shift and an arrow key. */
function Tab({ view, views, isShown }: TabProps) {
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

const ViewMenuItems = prefetchedComponent(() => withTexts(() => import('./ViewMenuItems.tsx')))

/** Menu of the open view. */
function ViewMenu({ view, views }: { view: View; views: Views }) {
  const [isNaming, setNaming] = useState(false)
  const dropdown = useDropdown(...useState(false))
  return (
    <>
      <ActionIcon
        {...dropdownButtonProps(dropdown, 'menu')}
        variant="subtle"
        color="gray"
        size={22}
        aria-label={t.views.menu({ name: view.name })}
      >
        <IconDots size={14} />
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>
        <ViewMenuItems {...{ dropdown, view, views }} name={() => setNaming(true)} />
      </DropdownContent>
      {isNaming && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <NameView
            title={t.views.rename}
            name={view.name}
            mayShare={false}
            save={({ name }) => views.rename(view, name)}
            close={() => setNaming(false)}
          />
        </Suspense>
      )}
    </>
  )
}
