import { useInfiniteQuery } from '@tanstack/react-query'
import {
  type DragEvent,
  type KeyboardEvent,
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react'
import { type BoardHead, cardsOptions, type Lead, type LeadQuery, useBoard } from '../../data/leads.ts'
import { leadValue } from '../../data/leads-cache.ts'
import type { People } from '../../data/people.ts'
import { useCurrency } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Chip } from '../../ui/Chip.tsx'
import { formatAmount, formatAmountShort } from '../../ui/format/amount.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { formatNumber, formatShortTime } from '../../ui/format/time.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import { formatOptionalPhone, nameOf, priorityTone, statusTone } from '../fields/lead.ts'
import { LabelChips } from '../labels/LabelChips.tsx'
import styles from './Board.module.css'

interface BoardProps {
  query: LeadQuery
  people: People
  actions: LeadActions
  openId: string | undefined
  open(lead: Lead): void
  onTotal(total: number | undefined): void
}

/** Leads by status. Move cards by dragging, or by Shift and an arrow key. */
export default function Board({ query, people, actions, openId, open, onTotal }: BoardProps) {
  const workspaceId = useWorkspaceId()
  const board = useBoard(workspaceId, query)
  const box = useRef<HTMLElement>(null)
  const isPhone = useIsPhone()
  const requested = query.status?.split(',')
  const heads = board.data?.filter(({ status }) => requested === undefined || requested.includes(status))
  // The server's counts support filters but not search.
  const total = query.search === undefined ? heads?.reduce((sum, { count }) => sum + count, 0) : undefined
  useEffect(() => onTotal(total), [onTotal, total])
  const statuses = heads?.map(({ status }) => status).join(',') ?? ''
  const step = useCallback(
    (lead: Lead, by: number) => {
      const all = statuses.split(',')
      const to = all[all.indexOf(lead.status) + by]
      if (to !== undefined) void actions.move(lead, to).then(() => focusCard(lead.id))
    },
    [statuses, actions],
  )
  return (
    <QueryBoundary query={board}>
      {() => (
        <div className={styles.stage}>
          {isPhone && heads !== undefined && <ColumnChooser heads={heads} board={box} />}
          <section ref={box} className={styles.board} aria-label={t.leads.board} aria-description={t.leads.boardHelp}>
            {heads?.map((head) => (
              <BoardColumn key={head.status} {...{ head, query, people, actions, openId, open, step }} />
            ))}
          </section>
        </div>
      )}
    </QueryBoundary>
  )
}

const focusCard = (id: string) => document.getElementById(`card-${id}`)?.focus()

interface ColumnChooserProps {
  heads: readonly BoardHead[]
  board: RefObject<HTMLElement | null>
}

/** Column names, for phones, which show one column at a time. */
function ColumnChooser({ heads, board }: ColumnChooserProps) {
  const at = useVisibleColumn(board)
  return (
    <nav className={styles.chooser} aria-label={t.leads.fields.status}>
      {heads.map(({ status, count }, n) => (
        <button
          key={status}
          type="button"
          aria-current={n === at}
          ref={n === at ? scrollHere : undefined}
          onClick={() =>
            columnsOf(board)[n]?.scrollIntoView({ inline: 'center', block: 'nearest', behavior: 'smooth' })
          }
        >
          {statusName(status)} <span>{formatNumber(count)}</span>
        </button>
      ))}
    </nav>
  )
}

const columnsOf = (board: RefObject<HTMLElement | null>) => [...(board.current?.children ?? [])] as HTMLElement[]
const scrollHere = (button: HTMLElement | null) => button?.scrollIntoView({ inline: 'center', block: 'nearest' })

/** Returns the index of the column closest to the center of the board. */
function useVisibleColumn(board: RefObject<HTMLElement | null>): number {
  const [at, setAt] = useState(0)
  useEffect(() => {
    const box = board.current
    if (box === null) return
    const updateColumn = () => {
      const middle = box.scrollLeft + box.clientWidth / 2
      const away = columnsOf(board).map(({ offsetLeft, offsetWidth }) =>
        Math.abs(offsetLeft + offsetWidth / 2 - middle),
      )
      setAt(Math.max(0, away.indexOf(Math.min(...away))))
    }
    updateColumn()
    box.addEventListener('scroll', updateColumn, { passive: true })
    return () => box.removeEventListener('scroll', updateColumn)
  }, [board])
  return at
}

interface BoardColumnProps extends Omit<BoardProps, 'onTotal'> {
  head: BoardHead
  step(lead: Lead, by: number): void
}

const prefetchPx = 600

/** Leads with one status, last changed first. */
function BoardColumn({ head, query, people, actions, openId, open, step }: BoardColumnProps) {
  const workspaceId = useWorkspaceId()
  const currency = useCurrency(workspaceId)
  const { status, value } = head
  const requested = { ...query, status, sortBy: 'updatedAt', sortOrder: 'desc' } as const
  const cards = useInfiniteQuery(cardsOptions(workspaceId, requested))
  const [isOver, setOver] = useState(false)
  const depth = useRef(0)
  const leads = cards.data?.pages.flatMap((page) => page.leads) ?? []
  const count = query.search === undefined ? head.count : cards.data?.pages[0]?.total
  const over = (by: number) => {
    depth.current += by
    setOver(depth.current > 0)
  }
  const drop = (event: DragEvent) => {
    depth.current = 0
    setOver(false)
    const lead = JSON.parse(event.dataTransfer.getData(cardType)) as Lead
    void actions.move(lead, status)
  }
  const name = statusName(status)
  return (
    <section
      className={styles.column}
      aria-label={t.leads.cards({ status: name })}
      data-over={isOver || undefined}
      onDragEnter={(event) => isCard(event) && over(1)}
      onDragLeave={(event) => isCard(event) && over(-1)}
      onDragOver={(event) => isCard(event) && event.preventDefault()}
      onDrop={drop}
    >
      <header className={styles.head}>
        <Chip tone={statusTone(status)}>{name}</Chip>
        <span className={styles.count}>{count === undefined ? '' : formatNumber(count)}</span>
        {query.search === undefined && value > 0 && (
          <span className={styles.sum} title={t.leads.sum({ value: formatAmount(value, currency) })}>
            {formatAmountShort(value, currency)}
          </span>
        )}
      </header>
      <ul
        className={styles.cards}
        tabIndex={leads.length === 0 ? -1 : 0}
        aria-label={t.leads.cards({ status: name })}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          const isNear = scrollTop + clientHeight > scrollHeight - prefetchPx
          if (isNear && cards.hasNextPage && !cards.isFetchingNextPage) void cards.fetchNextPage()
        }}
      >
        {cards.isError && leads.length === 0 && <ErrorState error={cards.error} retry={() => void cards.refetch()} />}
        {leads.map((lead) => (
          <Card key={lead.id} {...{ lead, people, currency, open, step }} isOpen={lead.id === openId} />
        ))}
      </ul>
    </section>
  )
}

const isCard = (event: DragEvent) => event.dataTransfer.types.includes(cardType)

interface CardProps extends Pick<BoardColumnProps, 'people' | 'open' | 'step'> {
  lead: Lead
  currency: string | null
  isOpen: boolean
}

const cardType = 'application/x-parley-lead'

const Card = memo(function Card({ lead, people, currency, isOpen, open, step }: CardProps) {
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
