import { Modal } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useMemo, useState } from 'react'
import { conversationSource } from '../inbox/palette-search.ts'
import { leadSource } from '../leads/palette-search.ts'
import { mayIn, session } from '../session/session.ts'
import { openSections } from '../settings/sections.ts'
import { t } from '../text/index.ts'
import { activeKeys, KeyHint } from '../ui/keys.ts'
import { paletteSearch } from '../ui/palette-sources.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Palette.module.css'
import { type Choice, useActions } from './palette-actions.ts'
import { rooms } from './rooms.ts'

paletteSearch.add(leadSource)
paletteSearch.add(conversationSource)

interface PaletteProps {
  close(): void
  showKeys(): void
}

/** Reaches every page, person and action: what the page's keys do, where the rail leads, and what rooms find by name. */
export default function Palette({ close, showKeys }: PaletteProps) {
  const workspaceId = useWorkspaceId()
  const [term, setTerm] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  const found: Choice[] = paletteSearch.use(workspaceId, term.trim())
  const fixed = useFixedChoices(workspaceId, showKeys)
  const actions = useActions(workspaceId).filter(({ label }) => fixed.every((one) => one.label !== label))
  const choices = useMemo<Choice[]>(
    () => [...fixed, ...(term.trim() === '' ? [] : actions)].filter((one) => fits(one, term)).concat(found),
    [fixed, actions, found, term],
  )
  const chosen = choices[Math.min(at, choices.length - 1)]
  const take = (choice: Choice | undefined) => {
    if (choice === undefined) return
    close()
    choice.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined)
      setAt((Math.min(at, choices.length - 1) + step + choices.length) % Math.max(choices.length, 1))
    else if (event.key === 'Enter') take(chosen)
    else return
    event.preventDefault()
  }

  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      attributes={{ content: { 'aria-label': t.common.palette.label } }}
    >
      <input
        className={styles.field}
        value={term}
        onChange={(event) => {
          setTerm(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
        placeholder={t.common.palette.placeholder}
        aria-label={t.common.palette.label}
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={chosen && `${listId}-${chosen.id}`}
        data-autofocus
      />
      <div className={styles.list} id={listId} role="listbox" aria-label={t.common.palette.label}>
        {choices.length === 0 && <p className={styles.empty}>{t.common.palette.empty}</p>}
        {choices.map((choice, n) => (
          <div key={choice.id} role="presentation">
            {choice.group !== choices[n - 1]?.group && <div className={styles.group}>{choice.group}</div>}
            <div
              id={`${listId}-${choice.id}`}
              role="option"
              tabIndex={-1}
              aria-selected={choice === chosen}
              className={styles.choice}
              ref={choice === chosen ? scrollHere : undefined}
              onMouseMove={() => setAt(n)}
              onClick={() => take(choice)}
              onKeyDown={onKeyDown}
            >
              <span className={styles.label}>{choice.label}</span>
              {choice.hint !== undefined && <span className={styles.hint}>{choice.hint}</span>}
              {choice.keys !== undefined && <KeyHint keys={choice.keys} />}
            </div>
          </div>
        ))}
      </div>
    </Modal>
  )
}

function useFixedChoices(workspaceId: string, showKeys: () => void): Choice[] {
  const navigate = useNavigate()
  const [actions] = useState(activeKeys)
  return useMemo(() => {
    const { palette, keys } = t.common
    const others = session().workspaces.filter(({ id }) => id !== workspaceId)
    return [
      ...actions
        .filter(({ group }) => group !== keys.everywhere)
        .map((one) => ({
          id: `action ${one.keys}`,
          group: palette.actions,
          label: one.label,
          keys: one.keys,
          run: one.run,
        })),
      ...rooms
        .filter(({ role }) => mayIn(workspaceId, role))
        .map(({ path, title, key }) => ({
          id: `page ${path}`,
          group: palette.pages,
          label: title(),
          keys: `g ${key}`,
          run: () => void navigate({ to: `/w/${workspaceId}/${path}` }),
        })),
      {
        id: 'page profile',
        group: palette.pages,
        label: t.common.pages.profile,
        run: () => void navigate({ to: '/w/$workspaceId/profile', params: { workspaceId } }),
      },
      { id: 'keys', group: palette.pages, label: keys.open, keys: '?', run: showKeys },
      ...openSections(workspaceId).map(({ name }) => ({
        id: `section ${name}`,
        group: t.settings.title,
        label: t.settings.sections[name].title,
        run: () => void navigate({ to: '/w/$workspaceId/settings/$section', params: { workspaceId, section: name } }),
      })),
      ...others.map(({ id, name }) => ({
        id: `workspace ${id}`,
        group: palette.workspaces,
        label: name,
        run: () => void navigate({ to: '/w/$workspaceId/home', params: { workspaceId: id } }),
      })),
    ]
  }, [workspaceId, navigate, showKeys, actions])
}

const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Each word that was typed is the beginning of one of a choice's. */
function fits({ label, words = '' }: Choice, term: string): boolean {
  const known = plain(`${label} ${words}`)
  return plain(term)
    .split(/\s+/)
    .every((word) => known.startsWith(word) || known.includes(` ${word}`))
}

const scrollHere = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })
