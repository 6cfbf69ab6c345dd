import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useState } from 'react'
import styles from './Composer.module.css'
import { isTouch, useEnterSends } from './preferences.ts'
import { optionId, type Suggestion, Suggestions } from './Suggestions.tsx'
import { type Asked, askedAt, putInPlace } from './typeahead.ts'

/** What a sign in the text offers. */
export interface Offers {
  sign: Asked['sign']
  label: string
  empty: string
  find(term: string): Suggestion[]
}

interface ComposeFieldProps {
  fieldRef: RefObject<HTMLTextAreaElement | null>
  label: string
  placeholder: string
  value: string
  change(text: string): void
  submit(): void
  offers: Offers
}

/** The field for words: grows to eight lines, offers what `/` or `@` asks for, and sends by Enter. */
export function ComposeField({ fieldRef, label, placeholder, value, change, submit, offers }: ComposeFieldProps) {
  const listId = useId()
  const enterSends = useEnterSends()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [chosen, setChosen] = useState(0)
  const options = asked === null ? [] : offers.find(asked.term)
  // A sign that finds nothing is just a sign, as in 24/7, once something is typed behind it.
  const isOpen = asked !== null && (options.length > 0 || asked.term === '')

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is that of the text
  useLayoutEffect(() => {
    const field = fieldRef.current
    if (field === null) return
    field.style.height = 'auto'
    field.style.height = `${field.scrollHeight}px`
  }, [value, fieldRef])

  const look = (field: HTMLTextAreaElement) => {
    const next = askedAt(field.value, field.selectionStart, offers.sign)
    if (next?.term !== asked?.term) setChosen(0)
    setAsked(next)
  }
  const choose = (n: number) => {
    const option = options[n]
    const field = fieldRef.current
    if (option === undefined || asked === null || field === null) return
    const next = putInPlace(value, field.selectionStart, asked, option.words)
    change(next.text)
    setAsked(null)
    field.focus()
    // After React has drawn the text, which would put the caret at its end.
    requestAnimationFrame(() => field.setSelectionRange(next.caret, next.caret))
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    if (isOpen && walk(event)) {
      event.preventDefault()
      event.stopPropagation()
      return
    }
    if (event.key === 'Escape') event.currentTarget.blur()
    if (event.key !== 'Enter' || event.shiftKey || event.altKey) return
    const isOrdered = event.ctrlKey || event.metaKey
    if (!isOrdered && (!enterSends || isTouch())) return
    event.preventDefault()
    submit()
  }
  const walk = ({ key }: KeyboardEvent): boolean => {
    if (key === 'Escape') setAsked(null)
    else if (options.length === 0) return false
    else if (key === 'ArrowDown') setChosen((chosen + 1) % options.length)
    else if (key === 'ArrowUp') setChosen((chosen + options.length - 1) % options.length)
    else if (key === 'Enter' || key === 'Tab') choose(chosen)
    else return false
    return true
  }

  return (
    <div className={styles.fieldBox}>
      {isOpen && (
        <Suggestions
          id={listId}
          label={offers.label}
          empty={offers.empty}
          options={options}
          chosen={chosen}
          choose={choose}
          point={setChosen}
        />
      )}
      <textarea
        ref={fieldRef}
        className={styles.field}
        aria-label={label}
        aria-autocomplete="list"
        {...(isOpen && options.length > 0
          ? { 'aria-controls': listId, 'aria-activedescendant': optionId(listId, chosen) }
          : {})}
        placeholder={placeholder}
        rows={1}
        dir="auto"
        value={value}
        onChange={(event) => {
          change(event.currentTarget.value)
          look(event.currentTarget)
        }}
        onSelect={(event) => look(event.currentTarget)}
        onBlur={() => setAsked(null)}
        onKeyDown={onKeyDown}
      />
    </div>
  )
}
