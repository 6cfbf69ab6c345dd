import { Button, Input, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { digitsOf, isSameNumber, type RecipientMatch } from '../../data/inbox/recipient-rules.ts'
import { minTerm, useRecipientSearch } from '../../data/inbox/recipients.ts'
import { StartPanel } from '../../shared/start/StartPanel.tsx'
import type { Recipient } from '../../shared/start/use-start.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { dialablePhone, formatPhone } from '../../ui/format/phone.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { phoneLabel } from '../parts/inbox-texts.ts'
import styles from './NewConversation.module.css'

interface NewConversationProps {
  open(conversationId: string): void
  close(): void
}

/** Starts a conversation with a contact found by name, number or e-mail, or with a new number. */
export default function NewConversation({ open, close }: NewConversationProps) {
  const [recipient, setRecipient] = useState<Recipient | null>(null)
  // Keeps the typed text for changes to the recipient.
  const [typed, setTyped] = useState('')
  const field = (problem: string | null) =>
    recipient === null ? (
      <RecipientField typed={typed} setTyped={setTyped} pick={setRecipient} problem={problem} />
    ) : (
      <Input.Wrapper label={t.start.recipient} labelElement="div" error={problem}>
        <div className={styles.chosen}>
          <Avatar name={recipient.name} size={28} />
          <span className={styles.who}>
            <strong dir="auto">{recipient.name}</strong>
            {phoneLabel(recipient.phone) !== recipient.name && (
              <span className={styles.hint}>{phoneLabel(recipient.phone)}</span>
            )}
          </span>
          <Button variant="subtle" size="compact-sm" onClick={() => setRecipient(null)}>
            {t.start.change}
          </Button>
        </div>
      </Input.Wrapper>
    )
  return <StartPanel title={t.inbox.start} recipient={recipient} recipientField={field} open={open} close={close} />
}

interface RecipientFieldProps {
  typed: string
  setTyped(typed: string): void
  pick(recipient: Recipient): void
  problem: string | null
}

interface Choice {
  key: string
  label: string
  hint: string
  /** Null: this contact cannot be written to. */
  recipient: Recipient | null
}

const debounceMs = 150

/** Finds a recipient while typing, usable by keyboard alone; a complete number can be used directly. */
function RecipientField({ typed, setTyped, pick, problem }: RecipientFieldProps) {
  const { requestedTerm, choices, isFound, isKnown, error, again } = useChoices(typed)
  const [at, setAt] = useState(0)
  const listId = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const active = choices[Math.min(at, choices.length - 1)]
  // Enter pressed before there are results is applied when they arrive.
  const [entered, setEntered] = useState<string | null>(null)
  const isSubmitted = entered === requestedTerm && isKnown
  useEffect(() => {
    if (!isSubmitted) return
    setEntered(null)
    if (active?.recipient != null) pick(active.recipient)
  }, [isSubmitted, active, pick])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && choices.length > 0)
      setAt((Math.min(at, choices.length - 1) + step + choices.length) % choices.length)
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing && requestedTerm !== '') setEntered(requestedTerm)
    else return
    event.preventDefault()
  }
  return (
    <div>
      <TextInput
        ref={field}
        label={t.start.recipient}
        placeholder={t.start.recipientPlaceholder}
        value={typed}
        maxLength={64}
        error={choices.length === 0 && problem}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
        role="combobox"
        aria-expanded={choices.length > 0}
        aria-controls={choices.length > 0 ? listId : undefined}
        aria-activedescendant={active && `${listId}-${active.key}`}
        autoComplete="off"
        data-autofocus
      />
      {error !== null && <ErrorState error={error} retry={again} />}
      {isFound && choices.length === 0 && (
        <p className={styles.nobody} role="status">
          {t.start.nobody}
        </p>
      )}
      {choices.length > 0 && (
        <div className={styles.list} id={listId} role="listbox" aria-label={t.start.recipient}>
          {choices.map((choice, n) => (
            <Option
              key={choice.key}
              id={`${listId}-${choice.key}`}
              choice={choice}
              isActive={choice === active}
              highlight={() => setAt(n)}
              pick={pick}
            />
          ))}
        </div>
      )}
    </div>
  )
}

interface OptionProps {
  id: string
  choice: Choice
  isActive: boolean
  highlight(): void
  pick(recipient: Recipient): void
}

function Option({ id, choice: { label, hint, recipient }, isActive, highlight, pick }: OptionProps) {
  const take = () => recipient !== null && pick(recipient)
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      className={styles.choice}
      aria-selected={isActive}
      aria-disabled={recipient === null}
      onMouseMove={highlight}
      onClick={take}
      onKeyDown={({ key }) => key === 'Enter' && take()}
    >
      <Avatar name={label} size={28} />
      <span className={styles.who}>
        <span className={styles.name} dir="auto">
          {label}
        </span>
        {hint !== '' && <span className={styles.hint}>{hint}</span>}
      </span>
    </div>
  )
}

/** Returns the choices for the typed text, as far as they are loaded. */
function useChoices(typed: string) {
  const workspaceId = useWorkspaceId()
  const requestedTerm = typed.trim()
  const [term] = useDebouncedValue(requestedTerm, debounceMs)
  const { data, error, refetch } = useRecipientSearch(workspaceId, term)
  // Ignores results of an earlier term.
  const isFound = data?.term === requestedTerm && requestedTerm.length >= minTerm
  const people = isFound ? data.people : []
  const isKnownNumber = people.some(({ phone }) => phone !== null && isSameNumber(phone, requestedTerm))
  return {
    requestedTerm,
    choices: [...people.map(choiceOf), ...(isKnownNumber ? [] : numberIn(requestedTerm))],
    isFound,
    isKnown: isFound || requestedTerm.length < minTerm || (error !== null && term === requestedTerm),
    error,
    again: () => void refetch(),
  }
}

function choiceOf({ name, firstName, phone, email }: RecipientMatch, n: number): Choice {
  const label = name === '' && phone !== null ? formatPhone(phone) : name
  const number = phone === null ? t.start.withoutPhone : formatPhone(phone)
  return {
    key: `person-${n}`,
    label,
    hint: [number === label ? null : number, email].filter(Boolean).join(' · '),
    recipient: phone === null ? null : { name: label, firstName, phone: dialablePhone(phone) },
  }
}

/** Offers the typed number unchanged: the server may be able to add a missing country code. */
function numberIn(typed: string): Choice[] {
  const digits = digitsOf(typed)
  if (digits === null) return []
  const name = typed.startsWith('+') ? formatPhone(`+${digits}`) : typed
  const recipient = { name, firstName: '', phone: typed }
  return [{ key: 'number', label: t.start.writeTo({ number: name }), hint: '', recipient }]
}
