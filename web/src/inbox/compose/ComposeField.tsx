import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useLayoutEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { useCannedReplies } from '../../data/canned-replies.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useMemberList } from '../../data/team/members.ts'
import { currentSession, currentUser, hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { dialablePhone } from '../../ui/format/phone.ts'
import { enterSends, isTouch, useStoredToggle } from '../../ui/stored-toggles.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Composer.module.css'
import type { Mode } from './drafts.ts'
import popup from './Suggestions.module.css'
import {
  findMembers,
  findReplies,
  findTypeahead,
  insertSuggestion,
  isTypeaheadOpen,
  renderReply,
  type TypeaheadQuery,
} from './typeahead.ts'
import type { ComposerState } from './use-composer.ts'

interface Suggestion {
  id: string
  title: string
  detail: string
  /** Replaces the typed word. */
  insertText: string
}

/** Suggestions for a character such as `/` or `@`. */
interface TypeaheadSource {
  sign: TypeaheadQuery['sign']
  label: string
  /** Shown if nothing matches. */
  empty: string
  /** Where to create one, for people with permission. */
  create?: { label: string; to: string }
  find(term: string): Suggestion[]
}

interface ComposeFieldProps {
  conversation: Conversation
  composer: ComposerState
  label: string
  placeholder: string
  /** Handles pasted files; undefined if files cannot be sent. */
  paste?(files: readonly File[]): void
}

/** Text field: grows to eight lines, suggests on `/` or `@`, sends with Enter. */
export function ComposeField({ conversation, composer, label, placeholder, paste }: ComposeFieldProps) {
  const { fieldRef, value, change, submit } = composer
  const listId = useId()
  const isSendingByEnter = useStoredToggle(enterSends)
  const source = useSuggestions(conversation, composer.draft.mode)
  const typeahead = useTypeahead(composer, source)
  const { isOpen, options, chosen } = typeahead
  useHeight(fieldRef, value)

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    if (typeahead.walk(event.key)) {
      event.preventDefault()
      event.stopPropagation()
      return
    }
    if (event.key === 'Escape') event.currentTarget.blur()
    if (event.key !== 'Enter' || event.shiftKey || event.altKey) return
    const isOrdered = event.ctrlKey || event.metaKey
    if (!isOrdered && (!isSendingByEnter || isTouch())) return
    event.preventDefault()
    submit()
  }
  const points = isOpen && options.length > 0
  return (
    <div className={styles.fieldBox}>
      {isOpen && <Suggestions id={listId} source={source} typeahead={typeahead} />}
      <textarea
        ref={fieldRef}
        className={styles.field}
        aria-label={label}
        aria-autocomplete="list"
        {...(points && { 'aria-controls': listId, 'aria-activedescendant': optionId(listId, chosen) })}
        placeholder={placeholder}
        rows={1}
        dir="auto"
        value={value}
        onChange={(event) => {
          change(event.currentTarget.value)
          typeahead.look(event.currentTarget)
        }}
        onSelect={(event) => typeahead.look(event.currentTarget)}
        onBlur={typeahead.close}
        onPaste={(event) => {
          const { files, types } = event.clipboardData
          // Spreadsheets and pages copy text with an image of it: paste the text.
          if (paste === undefined || files.length === 0 || types.includes('text/plain')) return
          event.preventDefault()
          paste([...files])
        }}
        onKeyDown={onKeyDown}
      />
    </div>
  )
}

/** Returns the suggestions of the field: saved replies in a reply, colleagues in a note. */
function useSuggestions({ contact }: Conversation, mode: Mode): TypeaheadSource {
  const workspaceId = useWorkspaceId()
  const { data: replies } = useCannedReplies(workspaceId)
  const members = useMemberList(workspaceId)
  return useMemo(() => {
    if (mode === 'note') {
      return {
        sign: '@',
        label: t.compose.colleagues,
        empty: t.common.none,
        find: (term) =>
          findMembers(members, term).map(({ userId, name }) => ({
            id: userId,
            title: name,
            detail: userId === currentUser().id ? t.common.me : '',
            insertText: `@${name} `,
          })),
      }
    }
    const workspace = currentSession().workspaces.find(({ id }) => id === workspaceId)?.name ?? ''
    // The number must be in a form that can be dialed.
    const phone = contact.phone === null ? null : dialablePhone(contact.phone)
    const facts = { contact: { name: contact.name, phone }, me: currentUser().name, workspace }
    return {
      sign: '/',
      label: t.compose.canned,
      empty: t.compose.noCanned,
      create: hasRole(workspaceId, 'admin')
        ? { label: t.compose.createCanned, to: `/w/${workspaceId}/settings/replies` }
        : undefined,
      find: (term) =>
        findReplies(replies ?? [], term).map(({ id, shortcut, text }) => {
          const insertText = renderReply(text, facts)
          return { id, title: `/${shortcut}`, detail: insertText, insertText }
        }),
    }
  }, [mode, members, replies, contact.name, contact.phone, workspaceId])
}

/** Returns the suggestions for the word at the caret, with keyboard selection. */
function useTypeahead({ fieldRef, value, change }: ComposerState, source: TypeaheadSource) {
  const [query, setQuery] = useState<TypeaheadQuery | null>(null)
  const [chosen, highlight] = useState(0)
  const options = query === null ? [] : source.find(query.term)
  const isOpen = query !== null && isTypeaheadOpen(value, query, options.length)
  const close = () => setQuery(null)
  const choose = (n: number) => {
    const option = options[n]
    const field = fieldRef.current
    if (option === undefined || query === null || field === null) return
    const next = insertSuggestion(value, field.selectionStart, query, option.insertText)
    // Renders synchronously: rendering moves the caret to the end, before the next letter is inserted.
    flushSync(() => {
      change(next.text)
      close()
    })
    field.focus()
    field.setSelectionRange(next.caret, next.caret)
  }
  return {
    isOpen,
    options,
    chosen,
    choose,
    highlight,
    close,
    look: (field: HTMLTextAreaElement) => {
      const next = findTypeahead(field.value, field.selectionStart, source.sign)
      if (next?.term !== query?.term) highlight(0)
      setQuery(next)
    },
    /** Returns whether the list handled the key. */
    walk: (key: string): boolean => {
      if (!isOpen) return false
      if (key === 'Escape') close()
      else if (options.length === 0) return key === 'Enter'
      else if (key === 'ArrowDown') highlight((chosen + 1) % options.length)
      else if (key === 'ArrowUp') highlight((chosen + options.length - 1) % options.length)
      else if (key === 'Enter' || key === 'Tab') choose(chosen)
      else return false
      return true
    },
  }
}

// If the browser sizes the field, typing does not cause a second layout of the thread.
const supportsFieldSizing = CSS.supports('field-sizing', 'content')

function useHeight(fieldRef: ComposerState['fieldRef'], value: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height depends on the text
  useLayoutEffect(() => {
    const field = fieldRef.current
    if (field === null || supportsFieldSizing) return
    field.style.height = 'auto'
    field.style.height = `${field.scrollHeight}px`
  }, [value, fieldRef])
}

const optionId = (listId: string, n: number): string => `${listId}-${n}`

interface SuggestionsProps {
  id: string
  source: TypeaheadSource
  typeahead: ReturnType<typeof useTypeahead>
}

/** Suggestions above the field for a word after `/` or `@`. The field keeps the focus. */
function Suggestions({ id, source, typeahead }: SuggestionsProps) {
  const { label, empty, create } = source
  const { options, chosen, choose, highlight } = typeahead
  return (
    <div className={popup.popup}>
      <div className={popup.label} aria-hidden="true">
        {label}
      </div>
      {options.length === 0 && (
        <div className={popup.empty}>
          {empty}
          {create !== undefined && (
            <Link to={create.to} className={popup.make} onMouseDown={(event) => event.preventDefault()}>
              {create.label}
            </Link>
          )}
        </div>
      )}
      <div id={id} role="listbox" aria-label={label} className={popup.list}>
        {options.map((option, n) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and references the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys
          <div
            key={option.id}
            id={optionId(id, n)}
            role="option"
            aria-selected={n === chosen}
            className={popup.option}
            ref={n === chosen ? scrollIntoViewIfNeeded : undefined}
            onMouseDown={(event) => event.preventDefault()}
            onMouseMove={() => highlight(n)}
            onClick={() => choose(n)}
          >
            <strong>{option.title}</strong>
            <span>{option.detail}</span>
          </div>
        ))}
      </div>
    </div>
  )
}

const scrollIntoViewIfNeeded = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })
