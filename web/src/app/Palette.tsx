import { type KeyboardEvent, useId, useState } from 'react'
import { useSavedFilters } from '../data/saved-filters.ts'
import { conversationSource } from '../inbox/palette-search.ts'
import { leadSource } from '../leads/palette-search.ts'
import { t } from '../text/index.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { paletteSearch } from '../ui/palette-sources.ts'
import { ShortcutHint } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Palette.module.css'
import { type Choice, useFixedChoices, usePeopleChoices } from './palette-choices.ts'
import { disambiguate, findMatches } from './palette-match.ts'

paletteSearch.add(conversationSource)
paletteSearch.add(leadSource)

interface PaletteProps {
  close(): void
  showKeys(): void
}

/** Command palette: finds pages, people and actions. */
export default function Palette({ close, showKeys }: PaletteProps) {
  const workspaceId = useWorkspaceId()
  const [term, setTerm] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  const { found, isSearching, hasFailed } = paletteSearch.use(workspaceId, term.trim())
  const fixed = useFixedChoices(workspaceId, useSavedFilters(workspaceId).data, showKeys)
  const people = usePeopleChoices(workspaceId, term.trim())
  const choices = inGroups(findMatches<Choice>([...fixed, ...people], term, disambiguate(found)))
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
    <Dialog
      close={close}
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
        {choices.length === 0 && !isSearching && !hasFailed && <p className={styles.empty}>{t.common.palette.empty}</p>}
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
              <span className={styles.label} dir="auto">
                {choice.label}
              </span>
              {choice.hint !== undefined && <span className={styles.hint}>{choice.hint}</span>}
              {choice.keys !== undefined && <ShortcutHint keys={choice.keys} />}
            </div>
          </div>
        ))}
      </div>
      <p className={styles.state} role="status">
        {isSearching ? t.common.palette.searching : hasFailed && t.common.palette.failed}
      </p>
    </Dialog>
  )
}

/** Lists each group once, at the position of its best match. */
const inGroups = (choices: readonly Choice[]): Choice[] =>
  [...Map.groupBy(choices, ({ group }) => group).values()].flat()

const scrollHere = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })
