import { Button } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { type RefObject, Suspense, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { LeadAddress } from '../../shared/lead-view/address.ts'
import { t, withTexts } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import type { ColumnChoice } from '../fields/column-choice.ts'
import type { GoTo } from '../fields/use-address.ts'
import { Tab } from './Tab.tsx'
import { useViews, type View, type Views } from './use-views.ts'
import { ViewMenu } from './ViewMenu.tsx'
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
  const dropdown = useDropdown(...useState(false))
  return (
    <>
      <Button
        {...dropdownButtonProps(dropdown, 'menu')}
        variant="subtle"
        color={isOpen ? undefined : 'gray'}
        size="compact-sm"
        rightSection={<IconChevronDown size={14} />}
        className={styles.more}
      >
        {label}
      </Button>
      <DropdownContent dropdown={dropdown}>
        <ViewList dropdown={dropdown} views={views} shown={shown} />
      </DropdownContent>
    </>
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
