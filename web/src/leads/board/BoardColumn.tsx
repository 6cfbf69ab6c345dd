import { useInfiniteQuery } from '@tanstack/react-query'
import { type DragEvent, useMemo, useRef, useState } from 'react'
import { type BoardHead, cardsOptions, type Lead, type LeadQuery } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { useCurrency } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatAmount, formatAmountShort } from '../../ui/format/amount.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import { statusTone } from '../fields/status-color.ts'
import styles from './Board.module.css'
import { Card, cardType } from './Card.tsx'

interface BoardColumnProps {
  head: BoardHead
  query: LeadQuery
  people: People
  actions: LeadActions
  openId: string | undefined
  open(lead: Lead): void
  step(lead: Lead, by: number): void
}

const prefetchPx = 600

/** Leads with one status, last changed first. */
export function BoardColumn({ head, query, people, actions, openId, open, step }: BoardColumnProps) {
  const workspaceId = useWorkspaceId()
  const currency = useCurrency(workspaceId)
  const { status } = head
  const requested = useMemo(
    () => ({ ...query, status, sortBy: 'updatedAt' as const, sortOrder: 'desc' as const }),
    [query, status],
  )
  const cards = useInfiniteQuery(cardsOptions(workspaceId, requested))
  const [isOver, setOver] = useState(false)
  const depth = useRef(0)
  const leads = cards.data?.pages.flatMap((page) => page.leads) ?? []
  const count = query.search === undefined ? head.count : cards.data?.pages[0]?.total
  const { value } = head
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
