import { type KeyboardEvent, useDeferredValue, useId, useState } from 'react'
import { type FoundArticle, readArticle, useKnowledgeSearch } from '../../data/team/knowledge.ts'
import { markdownToMessage } from '../../shared/markdown/parse-markdown.ts'
import { safeUrl } from '../../shared/markup/link-rules.ts'
import { t } from '../../text/index.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './KnowledgeSearch.module.css'

/** Finds an article: Enter inserts its text, Shift+Enter its address. */
export default function KnowledgeSearch({ close, insert }: { close(): void; insert(text: string): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.articles.insert
  const listId = useId()
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const searched = useDeferredValue(words.trim())
  const { data, isFetching, isError } = useKnowledgeSearch(workspaceId, searched)
  const found = searched === '' ? [] : (data ?? [])
  const chosen = found[Math.min(at, found.length - 1)]
  const take = async (article: FoundArticle | undefined, isLink: boolean) => {
    if (article === undefined) return
    const address = addressOf(article)
    try {
      const text =
        isLink && address !== null
          ? `${article.title}: ${address}`
          : markdownToMessage((await readArticle(workspaceId, article.id)).article.body)
      close()
      insert(text)
    } catch (error) {
      showError(error)
    }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((Math.min(at, found.length - 1) + step + found.length) % Math.max(found.length, 1))
    else if (event.key === 'Enter') void take(chosen, event.shiftKey)
    else return
    event.preventDefault()
  }
  return (
    <Dialog close={close} title={t.articles.title} size={560} yOffset="12vh">
      <input
        className={styles.field}
        value={words}
        onChange={(event) => {
          setWords(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
        maxLength={500}
        placeholder={texts.placeholder}
        aria-label={texts.placeholder}
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={chosen && `${listId}-${chosen.id}`}
        data-autofocus
      />
      <div className={styles.list} id={listId} role="listbox" aria-label={t.articles.title}>
        {found.map((article, n) => (
          <div
            key={article.id}
            id={`${listId}-${article.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={article === chosen}
            className={styles.choice}
            ref={article === chosen ? scrollHere : undefined}
            onMouseMove={() => setAt(n)}
            onClick={(event) => void take(article, event.shiftKey)}
            onKeyDown={onKeyDown}
          >
            <strong dir="auto">{article.title}</strong>
            <span dir="auto">{article.snippet}</span>
          </div>
        ))}
      </div>
      <p className={styles.help} role="status">
        {isError ? t.common.failure.title : helpText(chosen, searched !== '' && !isFetching)}
      </p>
    </Dialog>
  )
}

function helpText(chosen: FoundArticle | undefined, isSearched: boolean): string {
  const { none, help, helpLink } = t.articles.insert
  if (chosen === undefined) return isSearched ? none : help
  return addressOf(chosen) === null ? help : helpLink
}

/** Only pages of a site have an address that a customer can open. */
const addressOf = ({ source, sourceAddress }: FoundArticle): string | null =>
  source === 'site' ? safeUrl(sourceAddress) : null

const scrollHere = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })
