import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { enterSends, isTouch, useStoredToggle } from '../../ui/stored-toggles.ts'
import styles from './Composer.module.css'
import { optionId, type Suggestion, Suggestions } from './Suggestions.tsx'
import { findTypeahead, insertSuggestion, isTypeaheadOpen, type TypeaheadQuery } from './typeahead.ts'

/** Suggestions for a character such as `/` or `@`. */
export interface TypeaheadSource {
  sign: TypeaheadQuery['sign']
  label: string
  empty: string
  /** Where to create one, for people with permission. */
  create?: { label: string; to: string }
  find(term: string): Suggestion[]
}

interface ComposeFieldProps {
  fieldRef: RefObject<HTMLTextAreaElement | null>
  label: string
  placeholder: string
  value: string
  change(text: string): void
  submit(): void
  /** Handles pasted files; undefined if files cannot be sent. */
  paste?(files: readonly File[]): void
  sources: TypeaheadSource
}

/** Text field: grows to eight lines, suggests on `/` or `@`, sends with Enter. */
export function ComposeField(props: ComposeFieldProps) {
  const { fieldRef, label, placeholder, value, change, submit, paste, sources } = props
  const listId = useId()
  const isSendingByEnter = useStoredToggle(enterSends)
  const typeahead = useTypeahead(fieldRef, value, change, sources)
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
      {isOpen && (
        <Suggestions id={listId} label={sources.label} empty={sources.empty} create={sources.create} {...typeahead} />
      )}
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

/** Returns the suggestions for the word at the caret, with keyboard selection. */
function useTypeahead(
  fieldRef: ComposeFieldProps['fieldRef'],
  value: string,
  change: (text: string) => void,
  offers: TypeaheadSource,
) {
  const [query, setQuery] = useState<TypeaheadQuery | null>(null)
  const [chosen, highlight] = useState(0)
  const options = query === null ? [] : offers.find(query.term)
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
      const next = findTypeahead(field.value, field.selectionStart, offers.sign)
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

function useHeight(fieldRef: ComposeFieldProps['fieldRef'], value: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height depends on the text
  useLayoutEffect(() => {
    const field = fieldRef.current
    if (field === null || supportsFieldSizing) return
    field.style.height = 'auto'
    field.style.height = `${field.scrollHeight}px`
  }, [value, fieldRef])
}
