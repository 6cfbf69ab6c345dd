import { type KeyboardEvent, memo } from 'react'
import type { Lead } from '../../data/leads.ts'
import { leadValue } from '../../data/leads-cache.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Chip } from '../../ui/Chip.tsx'
import { formatAmount } from '../../ui/format/amount.ts'
import { formatShortTime } from '../../ui/format/time.ts'
import { formatOptionalPhone, nameOf } from '../fields/lead.ts'
import { priorityTone } from '../fields/status-color.ts'
import { LabelChips } from '../labels/LabelChips.tsx'
import styles from './Board.module.css'

interface CardProps {
  lead: Lead
  people: People
  currency: string | null
  isOpen: boolean
  open(lead: Lead): void
  step(lead: Lead, by: number): void
}

export const cardType = 'application/x-parley-lead'

export const Card = memo(function Card({ lead, people, currency, isOpen, open, step }: CardProps) {
  const name = nameOf(lead)
  const assignee = people.nameOf(lead.assignedTo)
  const isPressing = lead.priority === 'high' || lead.priority === 'urgent'
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (event.shiftKey && across !== undefined) step(lead, across)
    else if (across !== undefined) columnBeside(event.currentTarget, across)?.focus()
    else if (event.key === 'ArrowDown') cardBeside(event.currentTarget, 1)?.focus()
    else if (event.key === 'ArrowUp') cardBeside(event.currentTarget, -1)?.focus()
    else return
    event.preventDefault()
  }
  return (
    <li className={styles.item}>
      <button
        type="button"
        id={`card-${lead.id}`}
        className={styles.card}
        data-open={isOpen || undefined}
        draggable
        onDragStart={(event) => {
          event.dataTransfer.effectAllowed = 'move'
          event.dataTransfer.setData(cardType, JSON.stringify(lead))
        }}
        onClick={() => open(lead)}
        onKeyDown={onKeyDown}
      >
        <span className={styles.line}>
          <strong dir="auto">{name}</strong>
          <CardValue lead={lead} currency={currency} />
        </span>
        <span className={styles.meta}>
          <span className={styles.text}>
            {lead.phone === null ? (lead.email ?? '') : formatOptionalPhone(lead.phone)}
          </span>
          {isPressing && <Chip tone={priorityTone(lead.priority)}>{t.lead.priorities[lead.priority]}</Chip>}
        </span>
        <span className={styles.meta}>
          <span className={styles.text}>{t.lead.sources[lead.source]}</span>
          <span>{formatShortTime(lead.updatedAt)}</span>
          <LabelChips ids={lead.labelIds ?? []} isSmall />
          {assignee !== null && (
            <span title={assignee}>
              <Avatar name={assignee} size={18} />
            </span>
          )}
        </span>
      </button>
    </li>
  )
})

const cardsIn = (column: Element | null | undefined) => [
  ...(column?.querySelectorAll<HTMLElement>(`.${styles.card}`) ?? []),
]

function cardBeside(card: HTMLElement, by: number): HTMLElement | undefined {
  const all = cardsIn(card.closest(`.${styles.column}`))
  return all[all.indexOf(card) + by]
}

// Returns the nearest column with cards.
function columnBeside(card: HTMLElement, by: number): HTMLElement | undefined {
  const own = card.closest(`.${styles.column}`)
  const row = cardsIn(own).indexOf(card)
  for (let next = sibling(own, by); next !== null; next = sibling(next, by)) {
    const cards = cardsIn(next)
    if (cards.length > 0) return cards[Math.min(row, cards.length - 1)]
  }
  return undefined
}

const sibling = (element: Element | null, by: number): Element | null =>
  (by > 0 ? element?.nextElementSibling : element?.previousElementSibling) ?? null

/** Value that counts for the column total; the tooltip says which one it is. */
function CardValue({ lead, currency }: Pick<CardProps, 'lead' | 'currency'>) {
  const value = leadValue(lead)
  if (value === null) return null
  const { actualValue, estimatedValue } = t.leads.fields
  return (
    <span className={styles.value} title={lead.actualValue === null ? estimatedValue : actualValue}>
      {formatAmount(value, currency)}
    </span>
  )
}
