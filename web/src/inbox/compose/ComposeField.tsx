import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { enterSends, isTouch, useKeptChoice } from '../../ui/kept-choices.ts'
import styles from './Composer.module.css'
import { optionId, type Suggestion, Suggestions } from './Suggestions.tsx'
import { type Asked, askedAt, isOffered, putInPlace } from './typeahead.ts'

/** What a sign in the text offers. */
export interface Offers {
  sign: Asked['sign']
  label: string
  empty: string
  /** Where a new one is made, for those who may. */
  make?: { label: string; to: string }
  find(term: string): Suggestion[]
}

interface ComposeFieldProps {
  fieldRef: RefObject<HTMLTextAreaElement | null>
  label: string
  placeholder: string
  value: string
  change(text: string): void
  submit(): void
  /** Files that are pasted; undefined where none can be sent. */
  paste?(files: readonly File[]): void
  offers: Offers
}

/** The field for words: grows to eight lines, offers what `/` or `@` asks for, and sends by Enter. */
export function ComposeField(props: ComposeFieldProps) {
  const { fieldRef, label, placeholder, value, change, submit, paste, offers } = props
  const listId = useId()
  const isSendingByEnter = useKeptChoice(enterSends)
  const offered = useOffered(fieldRef, value, change, offers)
  const { isOpen, options, chosen } = offered
  useHeight(fieldRef, value)

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    if (offered.walk(event.key)) {
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
      {isOpen && <Suggestions id={listId} label={offers.label} empty={offers.empty} make={offers.make} {...offered} />}
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
          offered.look(event.currentTarget)
        }}
        onSelect={(event) => offered.look(event.currentTarget)}
        onBlur={offered.close}
        onPaste={(event) => {
          const { files, types } = event.clipboardData
          // What is copied from a table or a page is words and a picture of them: the words are meant.
          if (paste === undefined || files.length === 0 || types.includes('text/plain')) return
          event.preventDefault()
          paste([...files])
        }}
        onKeyDown={onKeyDown}
      />
    </div>
  )
}

/** What is offered for the word at the caret, and the keys that choose of it. */
function useOffered(
  fieldRef: ComposeFieldProps['fieldRef'],
  value: string,
  change: (text: string) => void,
  offers: Offers,
) {
  const [asked, setAsked] = useState<Asked | null>(null)
  const [chosen, point] = useState(0)
  const options = asked === null ? [] : offers.find(asked.term)
  const isOpen = asked !== null && isOffered(value, asked, options.length)
  const close = () => setAsked(null)
  const choose = (n: number) => {
    const option = options[n]
    const field = fieldRef.current
    if (option === undefined || asked === null || field === null) return
    const next = putInPlace(value, field.selectionStart, asked, option.words)
    // Drawn at once, as drawing puts the caret at the end and the next letter must find it in its place.
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
    point,
    close,
    look: (field: HTMLTextAreaElement) => {
      const next = askedAt(field.value, field.selectionStart, offers.sign)
      if (next?.term !== asked?.term) point(0)
      setAsked(next)
    },
    /** Returns whether the key was for the list. */
    walk: (key: string): boolean => {
      if (!isOpen) return false
      if (key === 'Escape') close()
      else if (options.length === 0) return key === 'Enter'
      else if (key === 'ArrowDown') point((chosen + 1) % options.length)
      else if (key === 'ArrowUp') point((chosen + options.length - 1) % options.length)
      else if (key === 'Enter' || key === 'Tab') choose(chosen)
      else return false
      return true
    },
  }
}

// Where the browser does it by itself, no letter makes the thread above be laid out twice.
const growsByItself = CSS.supports('field-sizing', 'content')

function useHeight(fieldRef: ComposeFieldProps['fieldRef'], value: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is that of the text
  useLayoutEffect(() => {
    const field = fieldRef.current
    if (field === null || growsByItself) return
    field.style.height = 'auto'
    field.style.height = `${field.scrollHeight}px`
  }, [value, fieldRef])
}
