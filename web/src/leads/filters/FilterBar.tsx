import { Button, CloseButton, Menu, Popover, TextInput } from '@mantine/core'
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useLabelsById } from '../../data/labels.ts'
import { t } from '../../text/index.ts'
import { number } from '../../ui/format/time.ts'
import { useKeys } from '../../ui/keys.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { activeFilters, type FilterName, filterNames, type LeadAddress, without } from '../fields/address.ts'
import type { FieldContext } from '../fields/columns.tsx'
import type { GoTo } from '../fields/use-address.ts'
import styles from '../LeadsPage.module.css'
import { FilterChoice } from './FilterChoice.tsx'
import { sentenceOf, titleOf } from './sentence.ts'

interface FilterBarProps {
  address: LeadAddress
  goTo: GoTo
  context: FieldContext
  total: number | undefined
}

/** Which leads are shown, said in sentences, and how many they are. */
export function FilterBar({ address, goTo, context, total }: FilterBarProps) {
  const [opened, setOpened] = useState<FilterName | null>(null)
  const [isAdding, setAdding] = useState(false)
  useKeys(
    t.leads.keys.group,
    useMemo(() => [{ keys: 'f', label: t.leads.keys.filter, run: () => setAdding(true) }], []),
  )
  const labels = useLabelsById(useWorkspaceId())
  const active = activeFilters(address)
  const shown = opened !== null && !active.includes(opened) ? [...active, opened] : active
  const remove = (name: FilterName) => {
    setOpened(null)
    goTo((before) => without(before, [name]))
  }
  return (
    <search className={styles.bar} aria-label={t.leads.filter}>
      <Search address={address} goTo={goTo} />
      {shown.map((name) => {
        const isActive = active.includes(name)
        const sentence = isActive ? sentenceOf(name, address, context.people, labels) : titleOf(name)
        return (
          <Popover
            key={name}
            opened={opened === name}
            onChange={(isOpen) => !isOpen && setOpened(null)}
            position="bottom-start"
            shadow="md"
            trapFocus
            returnFocus
          >
            <span className={styles.filter}>
              <Popover.Target>
                <button type="button" onClick={() => setOpened(opened === name ? null : name)}>
                  {sentence}
                </button>
              </Popover.Target>
              <button type="button" aria-label={t.leads.filters.remove(sentence)} onClick={() => remove(name)}>
                <IconX size={12} />
              </button>
            </span>
            <Popover.Dropdown aria-label={titleOf(name)}>
              <FilterChoice
                name={name}
                address={address}
                context={context}
                set={(changes) => goTo((before) => ({ ...before, ...changes }), { replace: isActive })}
              />
            </Popover.Dropdown>
          </Popover>
        )
      })}
      {/* Without keys: the one that opens the menu is outside of it, and would close it where nothing moves. */}
      <Menu position="bottom-start" opened={isAdding} onChange={setAdding} clickOutsideEvents={pointing}>
        <Menu.Target>
          <Button variant="subtle" color="gray" size="compact-sm" leftSection={<IconFilter size={16} />}>
            {t.leads.filter}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {choosable.map((name) => (
            <Menu.Item key={name} onClick={() => setTimeout(() => setOpened(name))}>
              {titleOf(name)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <span className={styles.count} role="status">
        {total === undefined ? '' : total === 1 ? t.leads.one : t.leads.count(number(total))}
      </span>
    </search>
  )
}

const pointing = ['mousedown', 'touchstart']

/** An import is chosen where it is: by the link on its page. */
const choosable = filterNames.filter((name) => name !== 'import')

const typedMs = 120

function Search({ address, goTo }: Pick<FilterBarProps, 'address' | 'goTo'>) {
  const q = address.q ?? ''
  const [text, setText] = useState(q)
  const sent = useRef(q)
  useEffect(() => {
    if (q === sent.current) return
    sent.current = q
    setText(q)
  }, [q])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      goTo(({ q: _, ...before }) => (text.trim() === '' ? before : { ...before, q: text }), { replace: true })
    }, typedMs)
    return () => clearTimeout(timer)
  }, [text, goTo])
  return (
    <TextInput
      id="lead-search"
      className={styles.search}
      size="xs"
      type="search"
      aria-label={t.leads.keys.search}
      placeholder={t.leads.searchHelp}
      leftSection={<IconSearch size={14} />}
      rightSection={
        text !== '' && <CloseButton size="sm" aria-label={t.leads.clearSearch} onClick={() => setText('')} />
      }
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' && event.key !== 'Enter') return
        if (event.key === 'Escape') setText('')
        event.currentTarget.blur()
      }}
    />
  )
}
